// SPDX-License-Identifier: Apache-2.0

package portcounters_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/recording"
	"example.org/ibconsole/tui/pane"
	"example.org/ibconsole/tui/pane/panetest"
	"example.org/ibconsole/tui/pane/portcounters"
)

// TestNow opens the pane of a subnet that was not recorded. A simulated agent counts, and a simulated clock advances.
// The pane reads the visible ports once per interval while it is open, shows the rates between two readings, and shows
// no rate where it has none. It stops reading when it is not visible.
func TestNow(t *testing.T) {
	src := &source{at: time.Unix(1_700_000_000, 0), value: map[fabric.PortIndex]uint64{}}
	s := panetest.New(t, "sim:fattree:2,4", "", func(c *pane.Common, s *session.Session) pane.Pane {
		src.Session = s
		p := portcounters.New(c, src)
		p.Base().Height = 5
		return p
	})
	s.Scene.Clock = func() time.Time { return src.at }
	next := func() {
		src.at = src.at.Add(5 * time.Second)
		s.Tell(nil)
	}
	ports := src.asked
	if src.reads == 0 || len(ports) != 5 {
		t.Fatalf("%d readings, the last of %d ports, want the 5 visible ones", src.reads, len(ports))
	}
	f := s.Session.State().Live.Fabric
	name := func(i int) string { return f.PortName(ports[i]) }
	if got := s.Cells(name(0))["now"]; got != "..." {
		t.Errorf("after one reading the rate is %q", got)
	}
	src.silent = ports[1]
	src.value[ports[0]] += 10 // within 5 seconds
	reads := src.reads
	next()
	s.Tell(nil)
	if src.reads != reads+1 {
		t.Errorf("%d readings in one interval", src.reads-reads)
	}
	for i, want := range []string{"2.0/s", "not read", "0"} {
		if got := s.Cells(name(i))["now"]; got != want {
			t.Errorf("%s: %q, want %q", name(i), got, want)
		}
	}
	if got := s.Cells(f.PortName(counters.AllPorts(f)[20]))["now"]; got != "not read" {
		t.Errorf("a port that is not visible: %q", got)
	}
	if text := s.Pane.Figure(); !strings.Contains(text, "not recording; 4 visible ports read every 5s") {
		t.Errorf("it says %q", text)
	}
	src.value[ports[0]] = 3 // cleared, and 3 at least
	next()
	if got := s.Cells(name(0))["now"]; got != "0.6/s+" {
		t.Errorf("after a clear: %q", got)
	}
	src.fails = true
	next()
	got, text := s.Cells(name(0))["now"], s.Pane.Figure()
	if got != "not read" || !strings.Contains(text, "visible ports not read") {
		t.Errorf("after a failure: %q, %q", got, text)
	}
	src.at = src.at.Add(time.Minute)
	reads = src.reads
	for cmd := range 3 {
		if s.Pane.Seek(pane.Stage{}); src.reads != reads {
			t.Fatalf("command %d reads while the pane is not visible", cmd)
		}
	}
}

// TestCloseEndsReading checks that a reading ends when the pane is closed.
func TestCloseEndsReading(t *testing.T) {
	src := &source{at: time.Unix(1_700_000_000, 0), value: map[fabric.PortIndex]uint64{}}
	s := panetest.New(t, "sim:fattree:2,4", "", func(c *pane.Common, s *session.Session) pane.Pane {
		src.Session = s
		return portcounters.New(c, src)
	})
	s.Scene.Clock = func() time.Time { return src.at }
	src.blocks, src.at = make(chan struct{}), src.at.Add(5*time.Second)
	ended := make(chan struct{})
	batch, isBatch := s.Pane.Seek(pane.Stage{Visible: true})().(tea.BatchMsg)
	if !isBatch {
		t.Fatal("no batch of commands")
	}
	go func() {
		defer close(ended)
		for _, c := range batch {
			c()
		}
	}()
	<-src.blocks
	s.Pane.Seek(pane.Stage{})
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Error("the reading did not end")
	}
}

// source reads what a session recorded. Its agents count symbol errors.
type source struct {
	*session.Session
	at     time.Time
	value  map[fabric.PortIndex]uint64
	silent fabric.PortIndex // a port that does not respond
	fails  bool
	blocks chan struct{} // closed when a reading has begun, which then waits for its end; nil for none
	reads  int
	asked  []fabric.PortIndex // in the last reading
}

func (s *source) Grown(ctx context.Context, what counters.Set, since, until time.Time, parts int) (*recording.Growth,
	error) {
	return recording.Grown(ctx, s.Session, what, since, until, parts)
}

func (s *source) ReadRecent(ctx context.Context, until time.Time) error {
	return recording.ReadRecent(ctx, s.Session, until)
}

func (s *source) Sample(ctx context.Context, f *fabric.Fabric, _ counters.Set,
	ports []fabric.PortIndex) (*counters.Reading, error) {
	s.reads++
	s.asked = ports
	if s.blocks != nil {
		close(s.blocks)
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if s.fails {
		return nil, errors.New("connection lost")
	}
	r := &counters.Reading{Fabric: f}
	for _, p := range ports {
		x := counters.Port{Port: p, At: s.at, Has: counters.Of(counters.SymbolErrors)}
		if x.Values[counters.SymbolErrors] = s.value[p]; p != s.silent || s.silent == 0 {
			r.Ports = append(r.Ports, x)
		}
	}
	return r, nil
}

func (s *source) Recording() (recording.Status, bool) { return recording.StatusOf(s.Session) }
