// SPDX-License-Identifier: Apache-2.0

package session_test

import (
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/sessiontest"
)

// TestAt goes back to before a cable was pulled, by the time and step by step, and to the present again.
func TestAt(t *testing.T) {
	n := sessiontest.NewSubnet(t, "fattree:2,8")
	s := recording(n)
	if _, err := s.At(t.Context(), time.Now().Add(-time.Hour)); err == nil ||
		!strings.Contains(err.Error(), "begins at") {
		t.Errorf("before there was a history: %v", err)
	}
	whole := time.Now()
	f, err := gen.ParseSpec("fattree:2,8")
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range f.Links() {
		if f.PeerSwitch(l.A) != fabric.None && f.PeerSwitch(l.B) != fabric.None {
			if err := n.Sim.Unlink(l.A); err != nil {
				t.Fatal(err)
			}
			break
		}
	}
	n.Sweep(s)
	links := func(p *session.Picture, err error) int {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return len(p.Fabric.Links())
	}
	if got := links(s.At(t.Context(), time.Now())); got != 63 {
		t.Errorf("now %d links, want 63", got)
	}
	before, err := s.At(t.Context(), whole)
	if got := links(before, err); got != 64 {
		t.Errorf("then %d links, want 64", got)
	}
	st := s.State()
	if got := links(st.Of(session.Kind(whole.Format("2006-01-02T15:04:05.999999999Z07:00")))); got != 64 {
		t.Errorf("by its time in words %d links, want 64", got)
	}
	if got := links(s.Neighbor(t.Context(), st.Live, -1)); got != 64 {
		t.Errorf("a step back %d links, want 64", got)
	}
	if p, err := s.Neighbor(t.Context(), before, 1); p != nil || err != nil {
		t.Errorf("a step on from there: %v, %v, want the present", p, err)
	}
	if _, err := s.Neighbor(t.Context(), before, -1); err == nil || !strings.Contains(err.Error(), "no state before") {
		t.Errorf("a step back from the first: %v", err)
	}
}
