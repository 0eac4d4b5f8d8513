// SPDX-License-Identifier: Apache-2.0

package metrics

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
	"time"

	"github.com/prometheus/exporter-toolkit/web"
	"go.yaml.in/yaml/v3"

	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/internal/base/prose"
)

// Servers serves the readings of recordings to Prometheus. Several sessions may use the same address. The server of
// this address then exports the readings of all these sessions, each labelled with the name of its subnet. The zero
// value is ready for use.
type Servers struct {
	mu sync.Mutex
	at map[string]*group // by the requested address
}

// group is the server of one address, with the recordings that it exports.
type group struct {
	server  *Server
	address string
	access  Access
	url     string
	busy    chan struct{} // a semaphore for concurrent responses
	mu      sync.Mutex
	sources []*Reader // sorted by the names of their subnets
}

// Describe returns the data of a subnet except for the readings of counters.
type Describe func(context.Context) (*Snapshot, error)

// Reader is a recording whose readings are served. A nil Reader serves nothing.
type Reader struct {
	describe Describe
	subnet   string // label of the subnet
	address  string
	url      string
	scrapes  chan time.Duration
	scraped  atomic.Pointer[time.Time] // the last scrape, nil before the first
	// errors and traffic are the last readings, or nil before the first reading.
	errors, traffic atomic.Pointer[counters.Reading]
	ports           *Ports
	leave           func() error
}

// Address returns the address HOST:PORT that a text means. PORT and :PORT mean 127.0.0.1.
func Address(text string) (string, error) {
	if !strings.Contains(text, ":") {
		text = ":" + text
	}
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		return "", err
	}
	if _, err := net.LookupPort("tcp", port); err != nil || port == "" {
		return "", fmt.Errorf("invalid port %q, expected 0 to 65535; 0 is any free port", port)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port), nil
}

// Access is who may read the metrics.
type Access struct {
	// Web is a file in the format of the exporters of Prometheus, with certificates for TLS and users with passwords,
	// or "" for plain HTTP without users.
	Web string
	// Insecure permits plain HTTP without users at addresses that other machines can reach.
	Insecure bool
}

// ErrOpen is returned for an address that other machines can reach, without TLS or users.
var ErrOpen = errors.New("other machines could read the metrics without TLS and without a password; " +
	"hint: web=FILE, or insecure")

// check returns an error if an address must not be served with this access. It returns the scheme of the URL.
func (a *Access) check(ctx context.Context, address string) (scheme string, err error) {
	if a.Web == "" {
		host, _, _ := net.SplitHostPort(address)
		ip := net.ParseIP(host)
		if local := host == "localhost" || ip != nil && ip.IsLoopback(); !local && !a.Insecure {
			return "", ErrOpen
		}
		return "http", nil
	}
	if err := files.Regular(ctx, a.Web, files.Config); err != nil {
		return "", err
	}
	if err := web.Validate(a.Web); err != nil {
		return "", fmt.Errorf("%s: %w", a.Web, err)
	}
	text, err := files.All(ctx, a.Web, files.Config)
	if err != nil {
		return "", err
	}
	var file web.Config
	if err := yaml.Unmarshal(text, &file); err != nil {
		return "", fmt.Errorf("%s: %w", a.Web, err)
	}
	return prose.When(file.TLSConfig.IsEnabled(), "https", "http"), nil
}

// maxResponses is the maximum number of concurrent responses. Each response blocks the session for a moment and uses a
// processor for seconds.
const maxResponses = 2

// Serve adds a recording to the server of an address, until the returned Reader is closed. The function describe
// returns the data to export together with the readings. The argument subnet is the label of the subnet, and ports
// controls the metrics of devices and ports. All recordings of an address have the same access.
func (all *Servers) Serve(ctx context.Context, address string, access Access, describe Describe, subnet string,
	ports *Ports) (*Reader, error) {
	all.mu.Lock()
	defer all.mu.Unlock()
	m := all.at[address]
	if m != nil && m.access != access {
		return nil, fmt.Errorf("metrics: %s is served already, with another web= or insecure", address)
	}
	if m == nil {
		scheme, err := access.check(ctx, address)
		if err != nil {
			return nil, fmt.Errorf("metrics: %w", err)
		}
		l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
		if err != nil {
			return nil, fmt.Errorf("metrics: %w", err)
		}
		m = &group{address: l.Addr().String(), access: access, busy: make(chan struct{}, maxResponses)}
		m.url = scheme + "://" + m.address + Path
		m.server = Serve(l, access.Web, m.write)
		if all.at == nil {
			all.at = map[string]*group{}
		}
		all.at[address] = m
	}
	src := &Reader{describe: describe, subnet: subnet, address: m.address, url: m.url, ports: ports,
		scrapes: make(chan time.Duration, 1)}
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

// Close removes the recording from its server. If it is the last recording, Close stops the server immediately and
// aborts responses in progress.
func (m *Reader) Close() error {
	if m == nil {
		return nil
	}
	return errors.Join(m.leave(), m.ports.release())
}

// Store keeps a complete reading for the next responses.
func (m *Reader) Store(r *counters.Reading) {
	if m == nil {
		return
	}
	has := counters.All // if no port responded, no earlier value is valid
	if len(r.Ports) > 0 {
		has = r.Ports[0].Has
	}
	if has&counters.Errors != 0 {
		m.errors.Store(r)
	}
	if has&counters.Data != 0 {
		m.traffic.Store(r)
	}
}

// Scrapes returns a channel that receives the time since the previous scrape at each scrape, and 0 at the first. It
// drops scrapes while the last one was not received. It returns nil if the recording is not served.
func (m *Reader) Scrapes() <-chan time.Duration {
	if m == nil {
		return nil
	}
	return m.scrapes
}

// write is the [Source] of a server.
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

// URL returns the URL of the metrics, or "" if the recording is not served.
func (m *Reader) URL() string {
	if m == nil {
		return ""
	}
	return m.url
}

// Address returns the address of the server, or "" if the recording is not served.
func (m *Reader) Address() string {
	if m == nil {
		return ""
	}
	return m.address
}

func (m *Reader) snapshot(ctx context.Context) (*Snapshot, error) {
	now, since := time.Now(), time.Duration(0)
	if before := m.scraped.Swap(&now); before != nil {
		since = now.Sub(*before)
	}
	select {
	case m.scrapes <- since:
	default:
	}
	s, err := m.describe(ctx)
	if err == nil {
		s.NoPorts = !m.ports.exported(ctx)
		s.Subnet, s.Errors, s.Traffic = m.subnet, m.errors.Load(), m.traffic.Load()
	}
	return s, err
}
