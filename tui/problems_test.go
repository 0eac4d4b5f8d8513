// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"slices"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/managers"
	"example.org/ibconsole/shell/session/source"
	"example.org/ibconsole/tui/pane"
)

// narrowed returns a fat-tree with tables in which one link between switches has one lane.
func narrowed(t testing.TB) (*fabric.Fabric, *fabric.Tables, fabric.Link) {
	t.Helper()
	made, _ := routed(t, "fattree:2,8")
	f := made.Activated()
	ports := slices.Clone(f.Ports)
	cable := linkBetweenSwitches(f)
	for _, p := range []fabric.PortIndex{cable.A, cable.B} {
		ports[p].Width = 1
	}
	bad := *f
	bad.Ports = ports
	return &bad, fabric.NewTables(&bad, reroute(t, f), "live"), cable
}

// TestProblems checks that each planted problem is listed with its place.
func TestProblems(t *testing.T) {
	f, tables, cable := narrowed(t)
	lft := tables.LFT.Clone()
	host := f.Ports[f.SMPort].LID
	for sw := range f.Switches {
		lft.Row(fabric.SwitchIndex(sw))[host] = fabric.NoPath
	}
	back := newFake(f)
	back.state.Source = source.Source{Kind: source.Ibsim, Arg: "x"}
	back.state.Live.Tables = fabric.NewTables(f, lft, "live")
	back.leave("leaf-01", 9, "no answer")
	back.state.SMs = []managers.SM{{GUID: 1, Port: "a/1", State: "master"}, {GUID: 2, Port: "b/1", State: "master"}}
	d := driveBackend(t, back).size(160, 40)
	d.press("z").sees("›1 Problems", "1 Problems!", "no answer", "narrow link", f.PortName(cable.A), "two masters",
		"a/1 and b/1", "paths lost").press("z")
	// O prepares the command that acknowledges the selected problem.
	d.press("/", "narrow", "enter")
	id := d.m.pane().Subject().Facts
	at := slices.IndexFunc(id, func(x pane.Fact) bool { return x.Name == "ID" })
	d.press("O").sees(":ack "+id[at].Text+" until=1d reason=").press("esc", "esc")
	d.press("/", "no such problem", "enter", "O").sees("no problem is selected").press("esc")
	// i shows the problem and its node; a problem of the whole subnet has no node.
	d.press("/", "narrow", "enter", "i").sees("severity", "next step", "node GUID").press("esc", "esc")
	d.press("/", "two masters", "enter", "i").sees("severity", "a/1 and b/1").misses("node GUID").press("esc", "esc")
	// The most severe problems come first; Enter goes to the port in the topology.
	d.press("/", "narrow", "enter", "enter").sees("›2 Topology", "4 Trace")
	if s := d.m.pane().Subject(); s.Link != cable.A && s.Via != cable.A {
		t.Errorf("Enter selects %+v, want port %d", s, cable.A)
	}
	d.press("[").sees("›1 Problems").press("esc", "g")
	// A link that is lost during the session is a problem until it is back.
	less := f.Without([]fabric.Link{cable})
	back.change(func(st *session.State) {
		st.Live = &session.Picture{Kind: session.Live, Fabric: less, Tables: fabric.NewTables(less, lft, "live")}
	})
	d.send(changedMsg{})
	d.settle()
	d.size(260, 40).press("z").sees("link missing", " is down since ", " 1 down")
	back.change(func(st *session.State) { st.Live = &session.Picture{Kind: session.Live, Fabric: f, Tables: tables} })
	d.send(changedMsg{})
	d.settle()
	d.misses(" is down since ", "paths lost")
}

// TestPastProblems checks that the pane never reports an entry of the history with lost paths as free of problems,
// neither during the computation nor after it.
func TestPastProblems(t *testing.T) {
	d := happened(t).size(120, 36).press("7", "b", "enter").sees("HISTORY, after 03:12:07")
	d.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{','}})
	for d.working() {
		d.send(<-d.msgs)
		if d.m.sc.Picture.Kind == session.Recorded+"2" {
			d.misses("0 problems", "none")
		}
	}
	d.sees("HISTORY, after 03:12:05", "paths lost: 56 paths").misses("0 problems")
	// In the entry after it the tables lead around the link.
	d.press(".").sees("HISTORY, after 03:12:07", "1 problem ", "asymmetric cabling").misses("paths lost", "unknown")
}

// TestPastProblemsWithoutTables checks that the pane reports that packets were not traced if an entry has no tables.
func TestPastProblemsWithoutTables(t *testing.T) {
	f, _ := routed(t, "fattree:2,8")
	back := newFake(f)
	old := *back.state.Live
	old.Kind = session.Recorded + "1"
	back.recall = &old
	d := driveBackend(t, back).size(200, 50)
	d.press("1", ":", "at 1h", "enter", "z").sees("HISTORY 1", "lost paths, credit loops",
		"the entry of the history has no forwarding tables").misses("packets arrive")
}
