// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/shell"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/sessiontest"
	"example.org/ibconsole/tui/pane"
)

// TestCommitIsReported checks that the status line shows the result of a commit until the next command.
func TestCommitIsReported(t *testing.T) {
	d := traced(t)
	d.press("f", "r", ":write on", "enter", "C").until("y write it").press("y")
	d.sees("WRITTEN minhop", "written in ", "read back: ").press("j", "2", "tab").sees("written in ")
}

// sleepy declares an action with warnings.
var sleepy = answer.Decl[int]{Command: "route", Title: "routed", Action: true, Layout: []answer.Item[int]{}}

// TestWarningsAreReported checks that a warning comes before the first line of a command, and that several are counted.
func TestWarningsAreReported(t *testing.T) {
	back := newFake(star(t, "one", "a"))
	warnings := 1
	back.run = func(_ context.Context, _ string, out *shell.Output) error {
		return out.Declared(sleepy.Answer(answer.Basis{
			Warnings: slices.Repeat([]string{"most hosts are asleep"}, warnings),
		}, 0))
	}
	d := driveBackend(t, back)
	d.press("r").sees(" warning: most hosts are asleep; routed")
	warnings = 3
	d.press("r").sees(" warning: most hosts are asleep (8, the log, has 3 warnings)")
	warnings = 0
	d.press("r").sees(" routed")
}

// TestCommitWaitsForThePresent checks that neither C nor y continues while the staged or shown state is outdated, and
// that both give the reason.
func TestCommitWaitsForThePresent(t *testing.T) {
	f, tables := routed(t, "fattree:2,4")
	back := newFake(f)
	staged := &session.Picture{Kind: session.Staged, Fabric: f, Tables: fabric.NewTables(f, tables.LFT, "minhop")}
	back.state.Staged, back.state.WriteOn = staged, true
	back.run = func(_ context.Context, text string, out *shell.Output) error {
		if text == "commit yes" {
			t.Error("it was written")
		}
		fmt.Fprintln(out.W, "LFT blocks       14 on 13 switches")
		return nil
	}
	d := driveBackend(t, back)
	states := []struct {
		change func(*session.State)
		why    string
	}{
		{func(st *session.State) { st.Stale = true }, "the subnet has changed since the routes were computed"},
		{func(st *session.State) { st.Busy = "sweep" }, "sweep is running: Esc cancels it"},
	}
	for _, x := range states {
		back.change(x.change)
		d.send(changedMsg{})
		d.press("C").sees("! C: " + x.why).misses("Commit")
		back.change(func(st *session.State) { st.Stale, st.Busy = false, "" })
		d.send(changedMsg{})
		d.press("C").sees("Commit", "y write it")
		back.change(x.change)
		d.press("y").sees("! y: "+x.why, "Commit").press("esc")
		back.change(func(st *session.State) { st.Stale, st.Busy = false, "" })
		d.send(changedMsg{})
	}
	d.press("C").sees("y write it")
	back.change(func(st *session.State) { again := *staged; st.Staged = &again })
	d.press("y").sees("! y: other routes have been staged in the meantime").press("esc")
	d.press("Z", "C").sees("! C: the panes are frozen").press("Z")
	back.change(func(st *session.State) { st.Lost = "gone" })
	d.send(changedMsg{})
	d.press("C").sees("! C: the connection is lost")
}

// TestPageKeys checks that the last line shows the keys of a page that are possible now.
func TestPageKeys(t *testing.T) {
	d := traced(t)
	d.press("f", "r", "C").until("w allow writing").misses("y write it", "PgDn more")
	d.press("w", "C").until("y write it").misses("w allow writing")
	d.size(80, 12).press("g").sees("PgDn more")
}

// TestFigures checks that values before and after, and the states of the session, are complete on the smallest screen.
func TestFigures(t *testing.T) {
	d := traced(t)
	d.press("f", "r", ":write on", "enter", "5", "g").size(40, 10)
	d.sees("before  after ", "5,112  5,112", "SIM", "WHAT-IF", "STAGED", "WRITE ON")
}

// TestEmptyPanesHaveNoFilter checks that the keys in the last line are possible.
func TestEmptyPanesHaveNoFilter(t *testing.T) {
	d := drive(t, tree).size(80, 24).press("4").sees("mark two nodes").misses("/ filter")
	d.press("/").sees("! /: there are no rows")
	d.press("2").sees("/ filter", "LID   links  load", "Enter open")
}

// TestFailGroup checks that the heading of a system or of similar names fails, and is restored, as a whole.
func TestFailGroup(t *testing.T) {
	d := drive(t, tree).press("2", "b", "b", "g").sees("leaf-#", "fail director")
	d.press("f").sees("fail director 'leaf-*'", "WHAT-IF 1 failure").press("u").misses("WHAT-IF")
	d.press("b", "g", "f").sees("! f: no link, switch or host is selected")
}

// TestStepsOfACommand checks that the first line of a small screen shows the progress of a comparison and its cancel
// key.
func TestStepsOfACommand(t *testing.T) {
	back := newFake(star(t, "one", "a"))
	began := make(chan struct{})
	back.run = func(ctx context.Context, _ string, _ *shell.Output) error {
		back.change(func(st *session.State) {
			st.Busy, st.Done, st.Total = "compare engines: torus-2QoS, 8 of 9", 1_200, 5_184
		})
		close(began)
		<-ctx.Done()
		back.change(func(st *session.State) { st.Busy = "" })
		return &shell.InterruptedError{Err: fmt.Errorf("compare: engine 8 of 9, torus-2QoS: %w", ctx.Err()),
			Cause: ctx.Err()}
	}
	d := driveBackend(t, back)
	d.press(":compare engines")
	d.send(tea.KeyMsg{Type: tea.KeyEnter})
	<-began
	d.until("compare engines: torus-2QoS, 8 of 9 1,200/5,184").sees("Esc cancels")
	d.size(80, 24).sees(" torus-2QoS, 8 of 9 Esc cancels").press("esc").sees("! cancelled: compare: engine 8 of 9, " +
		"torus-2QoS: interrupted")
}

// TestWelcome checks that the welcome page fits one screen and that its keys work.
func TestWelcome(t *testing.T) {
	d := drive(t, tree).size(80, 24)
	d.m.pages.firstPage()
	d.sees("Welcome", "SIMULATED subnet", "1-0, a, #, K, E", "begins a tour of three minutes.").misses("PgDn more",
		"…")
	for id := range d.m.all {
		if key := d.m.digit(id); !slices.ContainsFunc(d.m.actions, func(a pane.Action) bool {
			return slices.Contains(a.Keys(), key)
		}) {
			t.Errorf("no action has the key %s of a pane", key)
		}
	}
	d.press("enter").misses("Welcome").sees("2 Topo")
	// The keys on the page work.
	for key, shows := range map[string]string{"3": "›3 LFT", "tab": "›3 LFT", "/": "/regexp", "t": "from spine-01",
		"f": "WHAT-IF", "?": "Keys", ":": "Enter run", "ctrl+g": "1/9"} {
		d = drive(t, tree).size(80, 24)
		d.m.pages.firstPage()
		d.press(key).misses("Welcome").sees(shows)
	}
	d = drive(t, tree)
	d.m.pages.firstPage()
	d.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{'q'}})
	d.settleQuit(t)
}

// TestNoTablesNoVerdict checks that the pane does not report arriving packets for a file without forwarding tables.
func TestNoTablesNoVerdict(t *testing.T) {
	file := filepath.Join(t.TempDir(), "net")
	drive(t, tree).press(":dump topology "+file, "enter")
	d := drive(t, "file:"+file)
	for _, size := range [][2]int{{80, 24}, {120, 36}, {200, 50}} {
		d.size(size[0], size[1]).press("1").sees("lost paths",
			"lost paths, credit").misses("links are up and uniform, packets")
	}
}

// TestInterruptedIsReportedFirst checks that an interrupted commit is in the status line, first among the problems and
// in the log as soon as the subnet was read.
func TestInterruptedIsReportedFirst(t *testing.T) {
	th := looks()[0].make(t)
	back := newFake(star(t, "one", "a"))
	d := &driver{t: t, m: newModel(t.Context(), back, th), msgs: make(chan tea.Msg, 1000)}
	d.m.start = func(context.Context) error {
		back.change(func(st *session.State) { st.Interrupted = "the commit of noon was interrupted" })
		return nil
	}
	d.run(d.m.Init())
	d.size(120, 36)
	d.settle()
	d.sees("the commit of noon was interrupted")
	if d.m.status.text != "the commit of noon was interrupted" || !d.m.status.bad {
		t.Errorf("the status line is %+v", d.m.status)
	}
	d.press("1").sees("interrupted commit")
	d.press("8").sees("the commit of noon was interrupted")
}

// TestEndHidesNoWarning checks that the end of the first reading leaves the reason why a key was refused meanwhile.
func TestEndHidesNoWarning(t *testing.T) {
	th := looks()[0].make(t)
	back := newFake(star(t, "one", "a"))
	d := &driver{t: t, m: newModel(t.Context(), back, th), msgs: make(chan tea.Msg, 1000)}
	begun, end := make(chan struct{}), make(chan struct{})
	d.m.start = func(context.Context) error {
		back.change(func(st *session.State) { st.Busy = "sweep" })
		close(begun)
		<-end
		back.change(func(st *session.State) { st.Busy = "" })
		return nil
	}
	d.run(d.m.Init())
	d.size(120, 36)
	<-begun
	d.m.refresh()
	d.m.key(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{'R'}})
	close(end)
	d.settle()
	if len(d.m.jobs.running) > 0 {
		t.Fatal("the first reading is still running")
	}
	d.sees("! R: sweep is running: Esc cancels it (read the subnet: done)")
}

// TestRefusedDrain checks that the page of a refused drain names the reason and the help of drain, and nothing that
// does not exist. The what-if of the user because of which it is refused stays, and the key u undoes that.
func TestRefusedDrain(t *testing.T) {
	d := drive(t, tree).size(120, 40)
	d.press("2", "/", "leaf-07", "enter", "f").press("/", "spine-01", "enter", "-")
	before := d.m.back.State()
	d.until("refused: drain switch: the what-if has other").sees(":help drain").misses(":help commit")
	d.sees("has changed neither the what-if nor the staged routes").misses("undoes").misses("count as failed")
	d.press("esc")
	after := d.m.back.State()
	if len(after.Failures) != 1 || after.WhatIf != before.WhatIf || after.Staged != before.Staged {
		t.Errorf("after the page the what-if has %+v, staged is %v", after.Failures, after.Staged)
	}
	d.press("u").until("restored")
	if st := d.m.back.State(); len(st.Failures) != 0 {
		t.Errorf("after u the what-if has %+v", st.Failures)
	}
}

// TestDrainOnTheScreen drains the selected switch with three keys: its key shows the plan, w allows writing, and y
// writes. Then the other key opens the page of undrain. A page that is left without writing leaves no what-if, and the
// map has the same keys.
func TestDrainOnTheScreen(t *testing.T) {
	s := sessiontest.OpenIn(t, tree, t.TempDir()) // a drain needs a journal
	d := driveBackend(t, &shellBackend{Shell: shell.New(s), watcher: s.Watch()}).size(120, 40)
	d.press("2", "/", "spine-01", "enter", "#", "-").until("This page shows what 'drain switch spine-01' would write")
	d.until("once writing is on").sees("routes without them are staged").sees("this is discarded")
	d.press("esc").until("restore all; unstage")
	if st := d.m.back.State(); st.WhatIf != nil || st.Staged != nil || len(st.Failures) > 0 {
		t.Errorf("after Esc the what-if has %+v, staged is %v", st.Failures, st.Staged)
	}
	d.press("2", "-").until("This page shows what 'drain switch spine-01' would write")
	d.until("once writing is on").press("y").sees("- again").press("w").press("-").until("y writes this").press("y")
	d.until("stand still")
	if st := d.m.back.State(); !st.Written || len(st.Failures) != 1 {
		t.Errorf("after the drain the staged tables are written: %v; what-if %+v", st.Written, st.Failures)
	}
	d.press("esc", "#", "+").until("This page shows what 'undrain switch spine-01' would write")
}

// TestRefusedPlan checks that the page of a plan that would be refused does not offer to write it.
func TestRefusedPlan(t *testing.T) {
	s := sessiontest.OpenIn(t, "sim:torus:5x5,1", t.TempDir())
	d := driveBackend(t, &shellBackend{Shell: shell.New(s), watcher: s.Watch()}).size(120, 50)
	d.press(":write on; engine dfsssp; route; commit yes force-interrupt; engine minhop; route", "enter")
	d.until("STAGED")
	d.press("C").until("would be refused").sees("force-interrupt").misses("y writes this")
	d.press("pgdown", "y").sees("! y: this would be refused: ")
	if st := d.m.back.State(); st.Written {
		t.Error("a plan that would be refused was written")
	}
}
