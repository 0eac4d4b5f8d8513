// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
	"example.org/ibconsole/shell"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/source"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

const tree = "sim:fattree:2,12" // 6 spines, 12 leaves, 72 hosts

func TestFirstScreen(t *testing.T) {
	drive(t, tree).
		sees("SIMULATED", "LIVE", "read-only", "18 switches, 72 hosts, 144 links", "tier 1  6 switches",
			"leaves  12 switches with hosts").
		sees("3 LFT of spine-01", "no commands yet", "? keys", "no problems: all nodes respond, links are",
			"uniform, packets arrive")
}

// sizes are those of the three layouts, and odd ones.
var sizes = [][2]int{{80, 24}, {120, 36}, {200, 50}, {40, 10}, {100, 20}, {100, 29}, {160, 30}, {79, 23}, {20, 8},
	{12, 7}, {3, 3}, {1, 1}, {2, 40}, {300, 2}, {0, 0}, {400, 120}}

func TestSizes(t *testing.T) {
	d := drive(t, tree)
	for _, s := range sizes {
		d.size(s[0], s[1])
		for _, pane := range []string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "0", "E"} {
			d.press(pane, "z", "G", "g", "z", "?", "G", "esc")
		}
		d.press(":", "sho", "tab", "tab", "esc", "esc", "/", "leaf", "esc")
	}
	d.size(120, 36).sees("1 Problems", "2 Topology", "4 Trace", "8 Log")
}

func TestLayouts(t *testing.T) {
	d := drive(t, tree)
	d.size(80, 24).sees(" 1 Problems 2 Topology  3 LFT 4 Trace 5 What-if 6 Load 7 History 8 9 0 a # K E").misses(
		"LID  destination")
	d.press("3").sees("›3 LFT of spine-01  LID 19", "LID  destination")
	d.press("z").sees("2 Topology ─", "leaves").press("z").misses("leaves")
	d.size(100, 24).press("3").sees("2 Topology ─", "LID  destination").misses("8 Log ─")
	for _, s := range [][2]int{{120, 36}, {200, 50}} {
		d.size(s[0], s[1]).press("3").sees("1 Problems ─", "2 Topology ─", "LID  destination",
			"8 Log ─").press("z").misses("leaves").press("z")
		d.misses("4 Trace ─", "5 What-if ─").press("4").sees("4 Trace ━", "mark two nodes").press("3")
	}
	d.size(120, 36).press("6").sees("6 Load links between switches").press("5").sees("5 What-if").misses("6 Load links")
	d.size(200, 50).press("6").sees("3 LFT of", "6 Load links").press("7").sees("3 LFT of", "7 History entries")
	// An empty pane with the keyboard takes a few lines, and the table above it the rest.
	for _, s := range [][2]int{{120, 36}, {200, 50}} {
		for _, key := range []string{"5", "4"} {
			d.size(s[0], s[1]).press(key)
			for _, p := range d.m.panes() {
				switch name := d.m.all[p.at].About().Name; {
				case p.at == d.m.focus && p.H > 5, name == "LFT" && (p.W < s[0]/2 || p.H < s[1]/2):
					t.Errorf("%s has %d lines of %d cells at %v", name, p.H, p.W, s)
				}
			}
		}
	}
	d.press("7")
	// A list with long rows takes the whole width, also while another pane has the keyboard.
	d.press(":", "show ports leaf-01", "enter").sees("a Answer", "3 LFT of",
		"LID  destination").press("3").sees("a Answer").misses("4 Trace ─")
}

func TestMoving(t *testing.T) {
	d := drive(t, tree)
	d.press("j").sees("LFT of spine-02").press("down", "k").sees("LFT of spine-02")
	d.press("G").sees("LFT of leaf-12").press("g", "j").sees("LFT of spine-01")
	d.press("pgdown").sees("LFT of leaf-12").press("pgup").press("j", "j").sees("LFT of spine-02")
	// Keys that are typed faster than the screen is drawn arrive in one message.
	d.press("g")
	d.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("jjj")})
	d.sees("LFT of spine-03")
}

func TestTree(t *testing.T) {
	d := drive(t, tree)
	d.press("/", "leaf-07", "enter", "esc").sees("LFT of leaf-07")
	d.press("right").sees("p1   node-0037 HCA-1").press("j", "j", "j", "j", "j", "j",
		"j").sees("p7   ─ spine-01/7").press("k", "k", "k", "k", "k", "k", "k")
	d.press("left").misses("node-0037 HCA-1  ")
	d.press("right", "j", "j", "left").sees("LFT of leaf-07")
	d.press("enter").misses("p7   ─ spine-01/7")
	d.press("left").sees("▸ leaf-07")
	// The cursor went to the heading, whose branch can be closed.
	d.press("left").sees("▸ leaves").misses("▸ leaf-12")
}

func TestFilter(t *testing.T) {
	d := drive(t, tree)
	d.press("/", "NODE-0050").sees("p2   node-0050 HCA-1", "leaf-09").misses("▸ leaf-08", "▸ spine-01")
	d.press("enter", "3", "/", "spine-01", "enter").sees("/spine-01", "LIDs ━").misses("90 LIDs").press("esc").misses(
		"/spine").sees("90 LIDs")
	d.press("/", "55", "enter").sees("node-0037 HCA-1", "node-0055 HCA-1", "2 LIDs").press("esc")
	d.press("2", "esc").sees("spine-01", "leaf-08")
	d.press("/", "no such node").sees("no switch or host matches the filter no such",
		"Esc shows all").press("esc").sees("leaf-08")
	d.press(":", "summary", "enter", "8", "/", "highest", "enter").sees("highest LID 90", "1 line")
}

// traced marks node-0037 on leaf-07 and node-0050 on leaf-09.
func traced(t *testing.T) *driver {
	d := drive(t, tree)
	d.press("2", "/", "node-0037", "enter", "t").sees("from node-0037 HCA-1: mark the destination with T")
	return d.press("/", "node-0050", "enter", "T", "2", "esc", "4")
}

func TestTrace(t *testing.T) {
	d := traced(t)
	d.sees("4 Trace node-0037 HCA-1 → node-0050 HCA-1", "delivered over 3 switches",
		"trace 'node-0037 HCA-1' 'node-0050 HCA-1'")
	d.press("x").sees("4 Trace node-0050 HCA-1 → node-0037 HCA-1")
	// Enter on a hop shows its table at the destination's LID: leaf-07 hands
	// node-0037 over at port 1, a leaf's hosts being on its first ports.
	d.press("4", "g", "j", "j", "j", "enter", "3").sees("LFT of leaf-07", "55  node-0037 HCA-1")
	// The command line marks the ends as well.
	d.press(":", "trace leaf-01 leaf-02", "enter").sees("4 Trace leaf-01 → leaf-02")
}

func TestNextHop(t *testing.T) {
	d := drive(t, tree)
	d.press("/", "leaf-07", "enter", "esc", "3", "/", "node-0050", "enter")
	d.press("enter").sees("LFT of spine-0")
	d.press("enter").sees("LFT of leaf-09", "68  node-0050 HCA-1", "1 LID")
	d.press("backspace").sees("LFT of spine-0").press("backspace").sees("LFT of leaf-07")
	d.press("backspace").sees("›2 Topology").press("backspace").sees("there is no previous place")
}

func TestWhatIf(t *testing.T) {
	d := traced(t)
	d.press("2", "/", "leaf-07", "enter", "esc", "right")
	d.press("j", "j", "j", "j", "j", "j", "j", "f").sees("fail link leaf-07 7", "✕ failed",
		"WHAT-IF 1 failure", "11/12  ✕ 1 failed", "1 failed")
	d.press("f").sees("! f: leaf-07/7 has no link that could fail")
	d.press("r").sees("STAGED minhop", "changed against base", "WHAT-IF 1 failure")
	d.press("3", "o").sees(" changed against base").misses(" 10  leaf-07 ")
	d.press("o", "v").sees("the panes show live", "3 LFT of leaf-07  LID 10 ━━", "━ LIVE ").press("v", "v",
		"v").sees("the panes show staged")
	d.press("2", "k", "f").sees("STAGED, STALE", "WHAT-IF 2 failures", "node-0042")
	// If the selection has not failed, the last failure is undone.
	d.press("k", "u").sees("restore node 'node-0042 HCA-1'", "WHAT-IF 1 failure")
	d.press(":", "restore all", "enter").misses("WHAT-IF")
	d.press("d").sees("route first")
	d.press("r").sees(" 0 changed against live").press("d").sees("from live to staged", "no difference")
}

// TestLiveChangesUnderAWhatIf disables a port of the live subnet that the what-if still has: each badge of the what-if
// and of the staged tables shows it, also in the short form.
func TestLiveChangesUnderAWhatIf(t *testing.T) {
	d := drive(t, tree)
	d.press(":", "fail link leaf-07 7; route; write on", "enter").misses("LIVE CHANGED")
	d.press(":", "port disable leaf-09/7 yes force-unreachable", "enter").sees("WHAT-IF 1 failure, LIVE CHANGED",
		"STAGED minhop, LIVE CHANGED")
	d.press("8", "G").sees("the live subnet has changed since").size(80, 24).sees("WHAT-IF! ", "STAGED! ")
	d.size(120, 40).press(":", "restore all; route", "enter").misses("LIVE CHANGED")
}

func TestFailSwitch(t *testing.T) {
	d := drive(t, tree)
	d.press("/", "leaf-07", "enter", "esc", "right", "f").sees("fail switch leaf-07", "0/12  ✕ failed",
		"node-0037 HCA-1")
	d.press("j").sees("✕ failed")
	// Nodes on a failed switch are restored with it.
	d.press("u").sees("restore switch leaf-07").misses("WHAT-IF")
	d.press("f").sees("fail node 'node-0037 HCA-1'").press("u").sees("restore node 'node-0037 HCA-1'")
}

func TestErrorsAreReported(t *testing.T) {
	d := drive(t, tree)
	d.press(":", "trace nowhere leaf-01", "enter").sees(`error: trace: no node is called "nowhere"`,
		`! trace: no node is called "nowhere"`)
	d.press(":", "rout", "enter").sees(`! unknown command "rout": did you mean "route"?`)
	d.press(":", "'open", "enter").sees("quote opened here is never closed")
	d.press("Q").sees("! Q has no action: ? lists all keys")
}

func TestDisabledKeys(t *testing.T) {
	d := drive(t, tree)
	for key, why := range map[string]string{
		"u": "! u: there are no simulated failures", "x": "! x: there is no trace: t and T mark its ends",
		"o": "! o: this is for 3 LFT",
		"v": "! v: there is no other state", "d": "! d: there is only the live state",
		"esc": "! Esc: there is nothing to close or cancel",
		"!":   "! !: there is no shell on this terminal",
	} {
		d.press(key).sees(why)
	}
	d.press("3", "o").sees("! o: live is not compared with another state")
	d.press("4", "enter").sees("! Enter: no hop is selected").press("t").sees("! t: no switch, host or job is selected")
	d.press("8", "enter").sees("! Enter: the log is empty")
	d.press("2", "g", "t").sees("! t: no switch, host or job is selected").press("f").sees(
		"! f: no link, switch or host is selected")
}

func TestCommandLine(t *testing.T) {
	d := drive(t, tree)
	d.press(":", "fail sw", "tab").sees(":fail switch ").press("leaf-0", "tab").sees("9 candidates", "leaf-09")
	d.press("tab", "tab", "tab").sees(":fail switch leaf-03").press("shift+tab").sees(":fail switch leaf-02")
	d.press("enter").sees("failed in the what-if: switch leaf-02")
	d.press(":", "up").sees(":fail switch leaf-02").press("ctrl+w", "leaf-04", "enter").sees("WHAT-IF 2 failures")
	d.press(":", "draft", "up", "up", "down", "down").sees(":draft").press("esc").misses(":draft")
	d.press(":", "backspace").misses("Enter run")
	d.press(":", "quit", "enter")
	d.settleQuit(t)
}

func (d *driver) settleQuit(t *testing.T) {
	t.Helper()
	for !d.quit {
		d.send(<-d.msgs)
	}
}

func TestPaste(t *testing.T) {
	d := drive(t, tree)
	paste := func(s string) { d.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(s), Paste: true}); d.check() }
	paste("q\nf")
	d.sees("! a paste goes into the command line")
	if d.quit {
		t.Fatal("a paste pressed keys")
	}
	d.press(":")
	paste("summary\r\n\r\nwhatif\n\x1b[2J")
	d.sees(":summary; whatif; [2J")
	d.press("ctrl+u")
	paste(strings.Repeat("x", pane.MaxTyped))
	d.sees(":…xxx")
	d.press("esc")
}

func TestHelpPage(t *testing.T) {
	d := drive(t, tree).size(150, 114).press("?")
	for _, a := range d.m.actions {
		d.sees(a.Help().Desc)
	}
	d.sees("or else the last one (there are no simulated failures)")
	// A key is found by its help, and run.
	d.press("/", "clipboard").sees("copy the row").misses("read the subnet again").press("esc").sees(
		"read the subnet again")
	d.press("/", "gibberish").sees("no key matches").press("esc", "esc").misses("Keys ─")
	// Enter does what is selected: the first row is the command line.
	d.press("?", "g", "enter").sees("Enter run")
}

func TestLogOfLongAnswer(t *testing.T) {
	d := drive(t, tree).size(80, 24)
	d.press(":", "help show", "enter").sees("› help show", "Esc back").press("G", "right").sees("…").press("left",
		"esc").sees("›2 Topology")
}

func TestNoTables(t *testing.T) {
	f, _ := routed(t, "fattree:2,4")
	d := driveBackend(t, newFake(f))
	d.sees("no forwarding tables: r computes them")
	back := newFake(star(t, "one", "a"))
	back.state.Live.Fabric, _ = new(fabric.Builder).Build()
	back.state.Busy = "sweep"
	driveBackend(t, back).sees("the subnet is being read")
	back.state.Busy = ""
	driveBackend(t, back).sees("the subnet has not been read: R reads it")
}

func TestProgressAndCancel(t *testing.T) {
	back := newFake(star(t, "one", "a", "b"))
	began := make(chan struct{})
	back.run = func(ctx context.Context, _ string, _ *shell.Output) error {
		back.change(func(st *session.State) { st.Busy, st.Done, st.Total = "sweep", 120, 702 })
		close(began)
		<-ctx.Done()
		back.change(func(st *session.State) { st.Busy = "" })
		return ctx.Err()
	}
	d := driveBackend(t, back)
	d.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{'R'}})
	<-began
	d.until("sweep 120/702").sees("Esc cancels")
	d.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{'r'}})
	d.sees("! r: sweep is running: Esc cancels it")
	d.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{'q'}})
	d.sees("! sweep is running: q again cancels it and quits")
	d.press("esc").sees("cancelled").misses("Esc cancels")
	d.press("ctrl+c")
	d.settleQuit(t)
}

func TestPanicOfCommand(t *testing.T) {
	back := newFake(star(t, "one", "a"))
	back.run = func(context.Context, string, *shell.Output) error { panic("at the\x1b[2J disco") }
	d := driveBackend(t, back)
	d.press(":", "x", "enter").sees(`internal error: at the\x1b[2J disco`)
	if err := outcome(t.Context(), []*model{d.m}, nil); err == nil ||
		!strings.Contains(err.Error(), "TestPanicOfCommand") {
		t.Errorf("the stack is not in the error: %v", err)
	}
}

func TestOutput(t *testing.T) {
	back := newFake(star(t, "one", "a"))
	back.run = func(_ context.Context, text string, out *shell.Output) error {
		for i := range 3 * pane.MaxKept {
			fmt.Fprintf(out.W, "line %d\r\n", i)
		}
		fmt.Fprint(out.Notes, "a note without end\a\t|")
		if text == "bad" {
			return errors.New("bad\nthings")
		}
		return nil
	}
	d := driveBackend(t, back)
	d.press(":", "good", "enter", "8", "G").sees(`a note without end\x07    |`,
		fmt.Sprintf("line %d", 3*pane.MaxKept-1))
	if n := d.m.all[d.m.at(pane.SeatLog)].Base().Size; n > pane.MaxKept*11/10+1 {
		t.Errorf("the log keeps %d lines", n)
	}
	d.press(":", "bad", "enter").sees(`! bad\x0athings`).press("G").sees(`error: bad\x0athings`)
}

func TestEvents(t *testing.T) {
	f, tables := routed(t, "fattree:2,4")
	back := newFake(f)
	back.state.Live.Tables = tables
	d := driveBackend(t, back)
	back.change(func(st *session.State) { st.Live = &session.Picture{Kind: session.Live, Fabric: f, Tables: tables} })
	d.send(changedMsg{})
	l := linkBetweenSwitches(f)
	less := f.Without([]fabric.Link{l})
	back.change(func(st *session.State) {
		st.Live = &session.Picture{Kind: session.Live, Fabric: less, Tables: fabric.NewTables(less, tables.LFT, "live")}
		st.Unanswered = []string{"leaf-01 port 9 \x1b[2J"}
	})
	d.send(changedMsg{})
	d.sees("link down: "+f.PortName(l.A)+" -- "+f.PortName(l.B), `no response: leaf-01 port 9 \x1b[2J`, " 1 down")
	back.change(func(st *session.State) { st.Live = &session.Picture{Kind: session.Live, Fabric: f, Tables: tables} })
	d.send(changedMsg{})
	d.sees("link up: ", "0 down")
}

func linkBetweenSwitches(f *fabric.Fabric) fabric.Link {
	for _, l := range f.Links() {
		if f.Nodes[f.Ports[l.A].Node].IsSwitch() && f.Nodes[f.Ports[l.B].Node].IsSwitch() {
			return l
		}
	}
	return fabric.Link{}
}

// TestNoColour checks that the cursor row and the states are visible without colours.
func TestNoColour(t *testing.T) {
	for _, g := range []draw.Glyphs{glyphsOf("C.UTF-8", "xterm"), glyphsOf("C.UTF-8", "linux"), glyphsOf("C", "")} {
		d := drive(t, tree)
		*d.m.Look = *look{theme: "dark", profile: termenv.Ascii, glyphs: g}.make(t)
		d.press("2", "f", "r", "f")
		d.sees("[SIMULATED]", "[WHAT-IF 1 failure]", g.Cursor+"  "+g.Shut+" spine-01")
		if strings.Contains(d.m.View(), "\x1b[3") || strings.Contains(d.m.View(), "\x1b[4") {
			t.Error("there is colour")
		}
		if g.ASCII && !prose.Plain(strings.ReplaceAll(d.screen(), "\n", "")) {
			t.Errorf("more than ASCII:\n%s", d.screen())
		}
		d.size(80, 24).press("8").sees(g.Cursor)
	}
}

func TestCompletionPopupOverSmallScreen(t *testing.T) {
	back := newFake(star(t, "one", "a"))
	for i := range 50 {
		back.all = append(back.all, lang.Candidate{
			Text: fmt.Sprintf("候補-%d", i), Description: strings.Repeat("long ", 50),
		})
	}
	d := driveBackend(t, back)
	for _, s := range sizes {
		d.size(s[0], s[1]).press(":", "tab", "tab", "shift+tab", "shift+tab", "esc", "esc")
	}
}

func TestShell(t *testing.T) {
	d := drive(t, tree)
	d.press(":", "shell", "enter").sees("! !: there is no shell on this terminal")
	d.m.shell = func(context.Context) error { panic("shell") }
	if cmd := openShell(d.m); cmd == nil {
		t.Fatal("no command")
	}
	if err := (repl{t.Context(), d.m.shell, nil}).Run(); err == nil ||
		!strings.Contains(err.Error(), "internal error: shell") {
		t.Errorf("a panic of the shell: %v", err)
	}
	d.send(shellMsg{"shell", errors.New("no terminal")})
	d.sees("  shell: no terminal", "! shell: no terminal")
	d.send(shellMsg{what: "shell"})
	d.sees("back from the shell")
}

// TestSaveScreen writes the screen as text and as an image. Exports of lists have no bars.
func TestSaveScreen(t *testing.T) {
	d := drive(t, tree)
	files := map[string]*strings.Builder{}
	d.m.save = func(name string) (io.WriteCloser, error) {
		files[name] = &strings.Builder{}
		return builderCloser{files[name]}, nil
	}
	d.send(tea.KeyMsg{Type: tea.KeyCtrlP})
	d.sees("write to: screen-").send(tea.KeyMsg{Type: tea.KeyCtrlU})
	d.press("a.txt", "enter").sees("the screen was written to a.txt").send(tea.KeyMsg{Type: tea.KeyCtrlP})
	d.send(tea.KeyMsg{Type: tea.KeyCtrlU})
	d.press("a.svg", "enter").sees("the screen was written to a.svg").send(tea.KeyMsg{Type: tea.KeyCtrlP})
	d.send(tea.KeyMsg{Type: tea.KeyCtrlU})
	d.press("a.png", "enter").sees("! picture: a.png: unknown extension, expected .svg or .txt")
	if text := files["a.txt"].String(); !strings.Contains(text, "2 Topology") || strings.Contains(text, "\x1b") {
		t.Errorf("the text is\n%s", text)
	}
	if text := files["a.svg"].String(); !strings.HasPrefix(text, "<svg ") || !strings.Contains(text, "Topology") {
		t.Errorf("the image is\n%.300s", text)
	}
	l := d.m.all[d.m.named("Load")].Base()
	if text, err := l.CSVText([]int{0}); err != nil || strings.Contains(text, "█") || !strings.Contains(text, "paths") {
		t.Errorf("%v: the list is\n%s", err, text)
	}
}

// builderCloser is a file in memory.
type builderCloser struct{ *strings.Builder }

func (builderCloser) Close() error { return nil }

// TestMarkRange marks a range of rows, up and down.
func TestMarkRange(t *testing.T) {
	d := drive(t, tree)
	d.press("3").send(tea.KeyMsg{Type: tea.KeyCtrlAt})
	d.sees("! Ctrl-Space: no row of this list is marked")
	d.press("g", " ", "j", "j").send(tea.KeyMsg{Type: tea.KeyCtrlAt})
	d.sees("4 rows marked").press("M", "G", "m", "k", "k").send(tea.KeyMsg{Type: tea.KeyCtrlAt})
	d.sees("3 rows marked")
}

// TestAdditions checks that simulated additions are in the topology and the What-if pane in every state shown, and that
// undo removes them.
func TestAdditions(t *testing.T) {
	d := traced(t).size(160, 50)
	d.press(":", "fail link leaf-01 7; fail link leaf-02 7; add switch spine-99 leaf-01/7 leaf-02/7", "enter")
	d.sees("WHAT-IF 2 failures, 1 addition", "added in the what-if: switch spine-99 with 2 links")
	d.press("5").sees("3 new switch spine-99", "1 ✕ link leaf-01/7 -- spine-01/1")
	d.press("2", "/", "spine-99", "enter", "esc").sees("spine-99")
	d.press("r").sees("STAGED minhop").press("5").sees("end ports added")
	d.press("v", "v", "v", "v").press("3", "4", "6", "0", "2")
	d.press("5", "u").sees("WHAT-IF 2 failures   STAGED, STALE").misses("1 addition", "3 new", "▸ spine-99")
	d.press(":", "restore all", "enter").misses("WHAT-IF")
}

// TestFindPort checks that ports are found by NODE/PORT.
func TestFindPort(t *testing.T) {
	d := drive(t, tree)
	d.press("/", "leaf-12/5").sees("▸ leaf-12").misses("▸ leaf-11").press("enter").sees("leaf-12/5", "▌    p5 ",
		"node-0071 HCA-1").misses("/leaf-12")
	d.press("g", "3", "/", "leaf-07/8", "enter").sees("›2 Topology", "▌    p8   ─ spine-02/7")
	d.press("3", ":", "leaf-03/2", "enter").sees("›2 Topology", "▌    p2   node-0014 HCA-1").press("[").sees("›3 LFT")
	d.press(":", "leaf-03/99", "enter").sees("unknown command")
}

// TestNearestName checks that a filter without matches offers a similar name, which Tab takes.
func TestNearestName(t *testing.T) {
	d := drive(t, tree)
	d.press("/", "laef-12").sees("did you mean leaf-12? Tab takes it").press("tab").sees("/leaf-12",
		"▸ leaf-12").misses("▸ leaf-11")
	d.press("enter", "esc", "/", "qqqqq").misses("did you mean").press("tab").sees("there is no completion")
}

// simNet returns a file for ibsim with a small fat-tree.
func simNet(t *testing.T) string {
	t.Helper()
	s, err := session.Open(t.Context(), source.Source{Kind: source.File}, session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "net")
	if err := shell.New(s).Run(t.Context(), "test", "gen fattree 2,4 "+name,
		&shell.Output{W: io.Discard, Notes: io.Discard}); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestLoseTheConnection stops ibsim: the screen reports the lost connection, marks the state as outdated, refuses what
// needs the subnet, still answers from known data, and reconnects.
func TestLoseTheConnection(t *testing.T) {
	net := simNet(t)
	sim := ibsimtest.Start(t, net)
	d := drive(t, "ibsim:"+sim.Name).sees("LIVE", "6 sw").misses("LOST")
	d.press(":watch 1", "enter")
	sim.Stop()
	d.until("DISCONNECTED, read").until("the connection is lost; what is shown was read at").sees("6 sw")
	d.press("R").until("no ibsim listens on this").sees("DISCONNECTED, read")
	d.press("esc", "2", "/node-0001", "enter").sees("node-0001").press("esc")
	d.press("1").until("connection lo").sees("connection lost: the su")

	ibsimtest.Start(t, net, ibsimtest.Named(sim.Name))
	d.until("the connection is back").misses("LOST").sees("LIVE")
}
