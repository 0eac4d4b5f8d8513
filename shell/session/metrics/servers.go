// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"context"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/history/records"
)

// Servers serve to Prometheus what recordings read. Several sessions may serve at one address: a server has what
// all of them read, each with the name of its subnet. The zero value is ready.
type Servers struct {
	mu sync.Mutex
	at map[string]*group // by the address that was asked for
}

type group struct {
	server  *Server
	address string
	busy    chan struct{} // has room for as many answers as are written at once
	mu      sync.Mutex
	sources []*Reader // by the names of their subnets
}

// Describe returns what there is of a subnet, without the readings of its recording.
type Describe func(context.Context) (*Snapshot, error)

// Reader is a recording whose readings are served. The nil Reader serves none.
type Reader struct {
	of      Describe
	subnet  string // its name among several, "" for one alone
	address string
	// errors and traffic are the last readings of each.
	errors, traffic atomic.Pointer[counters.Reading]
	leave           func() error
}

// Address is the address that words mean: PORT, :PORT and localhost are at this machine alone.
func Address(text string) (string, error) {
	if !strings.Contains(text, ":") {
		text = ":" + text
	}
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		return "", err
	}
	if n, err := net.LookupPort("tcp", port); err != nil || port == "" {
		return "", fmt.Errorf("%q is no port of TCP (%d)", port, n)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port), nil
}

// mostAnswers is how many questions are answered at once: each holds the session for a moment, and takes a processor
// for seconds.
const mostAnswers = 2

// Serve adds a recording to what is served at an address until it is closed. Of tells what there is in addition to its
// readings, and subnet is its name among several.
func (all *Servers) Serve(ctx context.Context, address string, of Describe, subnet string) (*Reader, error) {
	all.mu.Lock()
	defer all.mu.Unlock()
	m := all.at[address]
	if m == nil {
		l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
		if err != nil {
			return nil, fmt.Errorf("metrics: %w", err)
		}
		m = &group{address: l.Addr().String(), busy: make(chan struct{}, mostAnswers)}
		m.server = Serve(l, m.write)
		if all.at == nil {
			all.at = map[string]*group{}
		}
		all.at[address] = m
	}
	src := &Reader{of: of, subnet: subnet, address: m.address}
	src.leave = func() error {
		all.mu.Lock()
		defer all.mu.Unlock()
		m.mu.Lock()
		m.sources = slices.DeleteFunc(slices.Clone(m.sources), func(x *Reader) bool { return x == src })
		last := len(m.sources) == 0
		m.mu.Unlock()
		if !last {
			return nil
		}
		delete(all.at, address)
		return m.server.Close()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sources = append(slices.Clone(m.sources), src)
	slices.SortStableFunc(m.sources, func(a, b *Reader) int { return strings.Compare(a.subnet, b.subnet) })
	return src, nil
}

// Close stops at once where it is the last of its server; an answer that is under way is cut short then.
func (m *Reader) Close() error {
	if m == nil {
		return nil
	}
	return m.leave()
}

// Heard takes note of a reading that is whole.
func (m *Reader) Heard(r *counters.Reading) {
	if m == nil || len(r.Ports) == 0 {
		return
	}
	if what := r.Ports[0].Has; what&counters.Errors != 0 {
		m.errors.Store(r)
	}
	if r.Ports[0].Has&records.Traffic != 0 {
		m.traffic.Store(r)
	}
}

// write is the [Source] of the recordings.
func (m *group) write(ctx context.Context, open bool, begin func() io.Writer) error {
	select {
	case m.busy <- struct{}{}:
		defer func() { <-m.busy }()
	default:
		return ErrBusy
	}
	m.mu.Lock()
	sources := m.sources
	m.mu.Unlock()
	var all []*Snapshot
	for _, src := range sources {
		snapshot, err := src.snapshot(ctx)
		if err != nil {
			return err
		}
		all = append(all, snapshot)
	}
	return Write(begin(), all, open)
}

// Address returns the address that is served, "" for none.
func (m *Reader) Address() string {
	if m == nil {
		return ""
	}
	return m.address
}

func (m *Reader) snapshot(ctx context.Context) (*Snapshot, error) {
	s, err := m.of(ctx)
	if err == nil {
		s.Subnet, s.Errors, s.Traffic = m.subnet, m.errors.Load(), m.traffic.Load()
	}
	return s, err
}
