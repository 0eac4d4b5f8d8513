// SPDX-License-Identifier: Apache-2.0

package trace_test

import (
	"context"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/tui/pane"
	"example.org/ibconsole/tui/pane/panetest"
	"example.org/ibconsole/tui/pane/trace"
)

type source struct{ *session.Session }

func (s source) Counters(context.Context, ...fabric.PortIndex) (*counters.Reading, error) {
	return &counters.Reading{}, nil
}

// TestPath checks that the rows between two marked hosts follow the tables, and that an unreachable host is reported.
func TestPath(t *testing.T) {
	s := panetest.New(t, "sim:fattree:2,4", "", func(c *pane.Common, s *session.Session) pane.Pane {
		return trace.New(c, source{s})
	})
	from, to := s.Place("node-0001"), s.Place("node-0008")
	s.Tell(pane.Mark{From: from, To: to})
	st := s.Session.State()
	f := st.Live.Fabric
	lid := f.LIDOf(to.EndPort(f))
	at := f.Ports[from.EndPort(f)].Peer
	hops := 0
	for f.Nodes[f.Ports[at].Node].IsSwitch() {
		node := f.Ports[at].Node
		s.Has(f.NodeName(node))
		at = f.Ports[f.PortAt(node, int(st.Live.Tables.LFT.Port(f.Nodes[node].Switch, lid)))].Peer
		if hops++; hops > 10 {
			t.Fatal("the tables have a loop")
		}
	}
	if f.Ports[at].Node != f.NodeByGUID(to.GUID) {
		t.Fatalf("the tables lead to %s", f.PortName(at))
	}
	s.Has("node-0008")
	s.Drawn(60)
	path := *s.Common.Trace(s.Scene)
	s.Tell(pane.Mark{From: from, To: to, LID: lid, Path: &path})
	if s.Common.Trace(s.Scene) != &path {
		t.Error("a path that was computed is computed again")
	}
	s.Run("fail switch leaf-04")
	if text := strings.Join(s.Rows(), "\n") + s.Pane.Empty(); !strings.Contains(text,
		"node-0008 HCA-1/1 is unreachable") {
		t.Errorf("the host is not reported as unreachable:\n%s", text)
	}
	s.Tell(pane.Mark{})
	if s.Pane.Base().N != 0 && s.Pane.Empty() == "" {
		t.Error("there is a path without ends")
	}
}

// TestWithoutLID checks that a path from or to a host without a LID is a dead end, in the words of the command.
func TestWithoutLID(t *testing.T) {
	s := panetest.New(t, "sim:random:6,3,8", "", func(c *pane.Common, s *session.Session) pane.Pane {
		return trace.New(c, source{s})
	})
	s.Run("add node new-1 sw-06/5")
	added, other := s.Place("new-1"), s.Place("node-0001")
	for _, ends := range []pane.Mark{{From: other, To: added}, {From: added, To: other}} {
		s.Tell(ends)
		if text := strings.Join(s.Rows(), "\n") + s.Pane.Empty(); !strings.Contains(text,
			"dead end: new-1/1 has no LID") {
			t.Errorf("the missing LID is not reported:\n%s", text)
		}
		s.Drawn(60)
	}
}
