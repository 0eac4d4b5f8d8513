// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"

	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/history/records"
	"example.org/ibconsole/routing/checks/linkload"
	"example.org/ibconsole/shell/session/metrics"
)

// metricsServer serves what a recording reads to Prometheus.
type metricsServer struct {
	session *Session
	server  *metrics.Server
	address string
	// errors and traffic are the last readings of each.
	errors, traffic atomic.Pointer[counters.Reading]
	busy            chan struct{} // has room for as many answers as are written at once
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

// serveMetrics listens at an address until close.
func (s *Session) serveMetrics(ctx context.Context, address string) (*metricsServer, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	m := &metricsServer{session: s, address: l.Addr().String(), busy: make(chan struct{}, mostAnswers)}
	m.server = metrics.Serve(l, m.write)
	return m, nil
}

// close stops at once; an answer that is under way is cut short.
func (m *metricsServer) close() error {
	if m == nil {
		return nil
	}
	return m.server.Close()
}

// heard takes note of a reading that is whole.
func (m *metricsServer) heard(r *counters.Reading) {
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

// write is the [metrics.Source] of the session.
func (m *metricsServer) write(ctx context.Context, open bool, begin func() io.Writer) error {
	select {
	case m.busy <- struct{}{}:
		defer func() { <-m.busy }()
	default:
		return metrics.ErrBusy
	}
	snapshot, err := m.snapshot(ctx)
	if err != nil {
		return err
	}
	return metrics.Write(begin(), snapshot, open)
}

func (m *metricsServer) snapshot(ctx context.Context) (*metrics.Snapshot, error) {
	s := m.session
	st := s.State()
	snap := &metrics.Snapshot{
		Fabric: st.Live.Fabric, Errors: m.errors.Load(), Traffic: m.traffic.Load(), Swept: st.Live.When, Took: st.SweepTook,
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
