// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
)

// TestKeymap: each key does one thing, and each action can be told of.
func TestKeymap(t *testing.T) {
	seen, names := map[string]string{}, map[string]bool{}
	for _, a := range keymap() {
		if a.name == "" || a.help == "" || a.group == "" || a.run == nil || len(a.keys) == 0 {
			t.Errorf("incomplete: %+v", a)
		}
		if names[a.name] {
			t.Errorf("two actions are called %s", a.name)
		}
		names[a.name] = true
		for _, k := range a.keys {
			if seen[k] != "" {
				t.Errorf("%s is both %s and %s", k, seen[k], a.name)
			}
			seen[k] = a.name
		}
	}
}

var update = flag.Bool("update", false, "write the list of keys and the golden screens anew")

// TestKeyList: the list of keys in the documents is that of the program.
func TestKeyList(t *testing.T) {
	path := filepath.Join("..", "docs", "keys.md")
	if *update {
		if err := os.WriteFile(path, []byte(KeyList()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != KeyList() {
		t.Errorf("%s is not what the key map says: go test ./tui -run TestKeyList -update", path)
	}
}

// FuzzKeys presses any keys at any sizes; the frame must always fit.
func FuzzKeys(f *testing.F) {
	for _, s := range []string{"2jjjlttjjT23zz?G\x1b", ":fail link leaf-01 3\rr3oovvd", "6bbbsssmm4b57 i\x1b[[]]C\x1b", "\x80\x81jjfrfurw\x82", "/leaf\r4hhll:\t\t\t\t\r", "\x83!qx:shell\rtTx\x7f\x7f"} {
		f.Add(s)
	}
	special := []tea.KeyType{tea.KeyEnter, tea.KeyEsc, tea.KeyTab, tea.KeyShiftTab, tea.KeyUp, tea.KeyDown, tea.KeyLeft, tea.KeyRight,
		tea.KeyPgUp, tea.KeyPgDown, tea.KeyHome, tea.KeyEnd, tea.KeyBackspace, tea.KeyCtrlW, tea.KeyCtrlU, tea.KeyCtrlLeft, tea.KeyDelete}
	f.Fuzz(func(t *testing.T, keys string) {
		d := drive(t, "sim:fattree:2,4")
		for _, b := range []byte(keys[:min(len(keys), 80)]) {
			switch i := slices.Index([]byte("\r\x1b\t"), b); {
			case i >= 0:
				d.send(tea.KeyMsg{Type: special[i]})
			case b >= 0xc0:
				d.send(tea.KeyMsg{Type: special[int(b)%len(special)]})
			case b >= 0x80:
				s := sizes[int(b)%len(sizes)]
				d.size(s[0], s[1])
			case b >= 0x20 && b < 0x7f && !(d.m.mode == modeCommand && b == '/'): // no paths: load and dump would touch files
				d.send(rune1(rune(b)))
			}
			d.settle()
			d.check()
			if d.m.mode == modeAsk { // answers would write files
				d.send(tea.KeyMsg{Type: tea.KeyEsc})
				d.settle()
			}
		}
	})
}

// TestHelpSaysAll: what the page of keys has no room for stands below it.
func TestHelpSaysAll(t *testing.T) {
	d := drive(t, "sim:fattree:2,4").size(80, 24).press("5", "?")
	const why = "there is no trace: t and T mark its ends"
	d.misses(why)
	for d.m.help.rows[d.m.help.Cursor].action.name != "trace-back" {
		d.press("down")
	}
	d.sees(" "+why).size(120, 36).sees("(" + why + ")")
	if n := strings.Count(d.screen(), why); n != 1 {
		t.Errorf("told %d times", n)
	}
}

// TestEnterOnNothing: where there are no rows Enter says so, and not what some row is.
func TestEnterOnNothing(t *testing.T) {
	d := drive(t, "sim:fattree:2,4").size(80, 24)
	d.press("1", "enter").sees("! Enter: no problem is selected").press("5", "enter").sees("! Enter: no failure is selected")
	d.press("S").sees("! S: this is for 9 Resilience").press("l").sees(": this is for 2 Topology, 6 Load, 8 Log")
}
