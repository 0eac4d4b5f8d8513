// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/history/records"
	"example.org/ibconsole/routing/checks/linkload"
	"example.org/ibconsole/shell/session/metrics"
)

// MetricsServers serve to Prometheus what recordings read. Several sessions may serve at one address: a server has what
// all of them read, each with the name of its subnet. The zero value is ready.
type MetricsServers struct {
	mu sync.Mutex
	at map[string]*metricsServer // by the address that was asked for
}

type metricsServer struct {
	server  *metrics.Server
	address string
	busy    chan struct{} // has room for as many answers as are written at once
	mu      sync.Mutex
	sources []*metricsSource // by the names of their subnets
}

// metricsSource is a recording whose readings are served.
type metricsSource struct {
	session *Session
	subnet  string // its name among several, "" for one alone
	address string
	// errors and traffic are the last readings of each.
	errors, traffic atomic.Pointer[counters.Reading]
	leave           func() error
}

// MetricsAddress is the address that words mean: PORT, :PORT and localhost are at this machine alone.
func MetricsAddress(text string) (string, error) {
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

// mostAnswers is how many questions are answered at once: each holds the session for a moment, and takes a processor for seconds.
const mostAnswers = 2

// serve adds a recording of a session to what is served at an address until close.
func (all *MetricsServers) serve(ctx context.Context, address string, s *Session, subnet string) (*metricsSource, error) {
	all.mu.Lock()
	defer all.mu.Unlock()
	m := all.at[address]
	if m == nil {
		l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
		if err != nil {
			return nil, fmt.Errorf("metrics: %w", err)
		}
		m = &metricsServer{address: l.Addr().String(), busy: make(chan struct{}, mostAnswers)}
		m.server = metrics.Serve(l, m.write)
		if all.at == nil {
			all.at = map[string]*metricsServer{}
		}
		all.at[address] = m
	}
	src := &metricsSource{session: s, subnet: subnet, address: m.address}
	src.leave = func() error {
		all.mu.Lock()
		defer all.mu.Unlock()
		m.mu.Lock()
		m.sources = slices.DeleteFunc(slices.Clone(m.sources), func(x *metricsSource) bool { return x == src })
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
	slices.SortStableFunc(m.sources, func(a, b *metricsSource) int { return strings.Compare(a.subnet, b.subnet) })
	return src, nil
}

// close stops at once where it is the last of its server; an answer that is under way is cut short then.
func (m *metricsSource) close() error {
	if m == nil {
		return nil
	}
	return m.leave()
}

// heard takes note of a reading that is whole.
func (m *metricsSource) heard(r *counters.Reading) {
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

// write is the [metrics.Source] of the sessions.
func (m *metricsServer) write(ctx context.Context, open bool, begin func() io.Writer) error {
	select {
	case m.busy <- struct{}{}:
		defer func() { <-m.busy }()
	default:
		return metrics.ErrBusy
	}
	m.mu.Lock()
	sources := m.sources
	m.mu.Unlock()
	var all []*metrics.Snapshot
	for _, src := range sources {
		snapshot, err := src.snapshot(ctx)
		if err != nil {
			return err
		}
		all = append(all, snapshot)
	}
	return metrics.Write(begin(), all, open)
}

func (m *metricsSource) snapshot(ctx context.Context) (*metrics.Snapshot, error) {
	s := m.session
	st := s.State()
	snap := &metrics.Snapshot{
		Subnet: m.subnet, Fabric: st.Live.Fabric, Errors: m.errors.Load(), Traffic: m.traffic.Load(), Swept: st.Live.When, Took: st.SweepTook,
		WorstLoad: -1, Events: len(st.Events),
	}
	if now, running := s.Recording(); running {
		snap.Read, snap.Unanswered = now.Took, now.Unanswered
	}
	var err error
	if snap.Problems, err = s.Problems(ctx, ProblemOptions{Quick: true}); err != nil {
		return nil, err
	}
	if t := st.Live.Tables; t != nil && st.Live.Fabric.MaxLID > 0 {
		l, err := s.analysis.Load(ctx, t, linkload.Options{})
		switch {
		case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
			return nil, err
		case err == nil && l.Unknown == 0:
			snap.WorstLoad = l.Summary(1).EdgeForwardingIndex
		}
	}
	return snap, nil
}
