// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/tui/draw"
)

// TestFormsFit opens every form in every theme and size and presses keys in it: the frame keeps its size, and no
// command runs.
func TestFormsFit(t *testing.T) {
	r := testenv.Rand(t)
	sizes := [][2]int{{80, 24}, {40, 10}, {20, 5}, {200, 50}}
	for _, l := range looks() {
		d := drive(t, "sim:fattree:2,4")
		*d.m.Look = *l.make(t)
		for _, key := range []string{"D", "L", "ctrl+e", "F"} {
			for _, i := range r.Perm(len(sizes))[:testenv.Count(t, 1, len(sizes))] {
				size := sizes[i]
				d.size(80, 24).press("2", key, "j", "k", "/", "x", "\u00e9", "esc", "esc")
				d.size(size[0], size[1]).press("2", key, "enter", "x\u202e", "enter", "enter", "shift+tab", "up",
					"backspace")
				d.size(80, 24).size(size[0], size[1]).press("ctrl+c")
			}
		}
		d.size(80, 24).sees("LIVE").misses("WHAT-IF", "STAGED")
	}
}

// TestFormFromSelection checks that a form begins with the selected link, as the key f would.
func TestFormFromSelection(t *testing.T) {
	d := drive(t, "sim:fattree:2,4").press("6")
	command, why := d.m.sc.Fail(d.m.pane().Subject())
	if why != "" {
		t.Fatal(why)
	}
	d.press("F", "enter", "enter", "enter").sees("runs: " + command).press("esc").misses("WHAT-IF")
	words := strings.Fields(command)
	d.press("F", "enter", "enter").sees(fmt.Sprintf("Which port of %s?", words[2]), "▌ "+words[3]+" ")
}

// TestFormClicks checks that a click selects the choice under it, also after the list has scrolled, and nothing else on
// the form.
func TestFormClicks(t *testing.T) {
	d := drive(t, "sim:fattree:2,12").size(80, 24)
	click := func(text string) {
		t.Helper()
		for y, l := range strings.Split(d.screen(), "\n") {
			if before, _, found := strings.Cut(l, text); found {
				d.send(tea.MouseMsg{
					X: draw.Width(before), Y: y, Action: tea.MouseActionPress, Button: tea.MouseButtonLeft,
				})
				d.settle()
				d.check()
				return
			}
		}
		t.Fatalf("%q is not on\n%s", text, d.screen())
	}
	d.press("F")
	click("What should fail in the simulation?")
	click("Fail")
	d.sees("What should fail in the simulation?")
	click("switch ")
	d.sees("Which switch?").press("esc")
	d.press("ctrl+e")
	for _, engine := range []string{"dnup", "updn", "lash", "minhop"} { // down, up, and back
		click(engine + "  ")
		d.sees("engine " + engine).press("shift+tab")
	}
	click("updn  ")
	d.press("G", "k", "k", "k", "k", "k").sees("▌ qos", "lid_matrix_dump_file",
		"nue_max_num_vls").misses("root_guid_file")
	click("lfts_file")
	d.sees("› ").misses("qos").press("shift+tab")
	d.press("/", "lmc")
	click("give enhanced")
	d.sees("lmc_esp0").misses("/lmc", "2^LMC LIDs").press("esc").sees("cancelled, no command was run")
	d.press("2", "F", "down", "up", "down").sees("one cable").press("up", "enter", "enter").sees("runs: fail ")
	click("yes")
	d.sees("WHAT-IF")
}

// TestGuidedCommands checks that a typed guided command opens the form of its key.
func TestGuidedCommands(t *testing.T) {
	d := drive(t, "sim:fattree:2,4").size(80, 24)
	for command, wantsAnswer := range map[string]string{
		"dump guided": "Which state of the subnet?", "load  guided": "Which file?",
		"engine guided": "Which engine computes", "fail guided": "What should fail in the simulation?",
	} {
		d.press(":", command, "enter").sees(wantsAnswer,
			"Shift-Tab back").press("esc").sees("cancelled, no command was run")
	}
	d.press("8").misses("guided")
	d.press(":", "dump", "enter").sees("is missing")
}

// TestBrowse checks that a question for a file lists the typed folder, that Tab completes and Enter opens folders, and
// that a hostile name is shown escaped and used unchanged.
func TestBrowse(t *testing.T) {
	dir := t.TempDir()
	evil := "lfts\x1b[2J\u202e"
	for _, name := range []string{"routes-a.lfts", "routes-b.lfts", evil, ".hidden"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("no table"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "saved"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "saved", "yesterday"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	d := drive(t, tree)
	d.press("L").sees("Which file?", "this folder: 4 names", "saved/", "routes-a.lfts", `lfts\x1b[2J\u202e`,
		"Tab complete").misses(".hidden")
	d.press("ro", "tab").sees("routes-", "2 names").press("b", "tab").sees("routes-b.lfts").misses("routes-a.lfts")
	d.press("ctrl+u").sees("this folder: 4 names")
	d.press("down", "enter").sees("saved/: 1 name", "yesterday").press("tab").sees("saved/yesterday")
	d.press("ctrl+u", "saved", "enter").sees("saved/: 1 name").press("enter").sees("this is a folder")
	d.press("ctrl+u", "nosuch/").sees("no such file")
	d.press("ctrl+u", "lf", "tab").sees("names that cannot be typed").press("down", "enter").sees("What is it?",
		`file lfts\x1b[2J\u202e`)
	for _, size := range [][2]int{{80, 24}, {40, 12}, {20, 5}} {
		d.size(120, 36).press("esc", "L").size(size[0], size[1]).press("down", "down", "up", "pgdown")
	}
}

// TestEngineFigures checks the results in the question for an engine. In a tree of leaves with six hosts and six
// uplinks, each uplink carries the paths of one host to the 66 hosts of the other leaves, so the best maximum is 66.
// The tree is not a torus.
func TestEngineFigures(t *testing.T) {
	d := drive(t, tree).size(200, 50)
	d.press("ctrl+e").sees("▌ minhop", "minhop: most paths over a link 66, bisection ",
		"1 VL, no credit loop, 0 entries differ from the switches, computed in ")
	d.press("down").sees("▌ updn", "updn: most paths over a link 66")
	d.press("/", "torus", "enter").sees("Which option")
	d.press("shift+tab").sees("▌ torus-2QoS", "torus-2QoS: refuses: ")
	d.press("esc").sees("cancelled, no command was run")
}

// TestFiguresLeaveRoom checks that a small screen shows the question and its choices before their results.
func TestFiguresLeaveRoom(t *testing.T) {
	d := drive(t, "sim:fattree:2,4")
	for _, h := range []int{8, 9, 10, 12, 24} {
		d.size(40, h).press("ctrl+e").sees("Which engine computes", "▌ minhop").press("esc")
	}
}
