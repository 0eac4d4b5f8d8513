// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"example.org/ibconsole/fabric/formats/snapshot"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/tui/draw"
)

// plainLooks are without colours: NO_COLOR, and LANG=C.
func plainLooks() map[string]look { return map[string]look{"none": looks()[3], "ascii": looks()[5]} }

// TestGoldenSmall compares panes on small terminals without colours and, with LANG=C, without glyphs. The header, the
// states and the last line stay.
func TestGoldenSmall(t *testing.T) {
	for name, l := range plainLooks() {
		for _, size := range [][2]int{{60, 20}, {40, 12}} {
			d := goldenScreen(t, l, size)
			var all strings.Builder
			for _, key := range []string{"1", "2", "3", "4", "5", "6", "?", ":"} {
				d.press(key)
				d.m.inform("")
				text := d.screen()
				fmt.Fprintf(&all, "%s\n\n", text)
				lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
				if len(lines) != size[1] || !strings.Contains(lines[0], "STAGED") ||
					!strings.Contains(lines[0], "read-only") {
					t.Errorf("%s %v, key %s: %d lines, the first is %q", name, size, key, len(lines), lines[0])
				}
				for i, line := range lines {
					if draw.Width(line) > size[0] || name == "ascii" && strings.ContainsFunc(line, func(r rune) bool {
						return r < ' ' || r > '~'
					}) {
						t.Errorf("%s %v, key %s: line %d is %q", name, size, key, i, line)
					}
				}
				if key == "?" || key == ":" {
					d.press("esc")
				}
			}
			golden(t, filepath.Join("panes", fmt.Sprintf("small-%s-%dx%d", name, size[0], size[1])), all.String())
		}
	}
}

// TestFourStates checks that the four states differ by a word and by the frame without colours, and in ASCII.
func TestFourStates(t *testing.T) {
	for name, l := range plainLooks() {
		d := goldenScreen(t, l, [2]int{80, 24})
		st := &d.m.sc.State
		var all strings.Builder
		for _, focused := range []bool{false, true} {
			frames := map[string]string{}
			for _, p := range []*session.Picture{st.Live, st.WhatIf, st.Staged, {Kind: session.Recorded + "7"}} {
				b := d.m.sc.PictureBadge(d.m.Look, p)
				frame := func(b *draw.Badge) string {
					win := &draw.Window{Height: 2, Cursor: -1}
					return ansi.Strip(strings.Join(d.m.Look.Frame(draw.Rect{W: 40, H: 4},
						&draw.Framed{Tabs: func(*draw.Pen) {}, Badge: b, Focused: focused, Win: win}), "\n"))
				}
				all.WriteString(frame(&b) + "\n")
				wordless := b
				wordless.Word = ""
				if other, seen := frames[frame(&wordless)]; seen {
					t.Errorf("%s: the frames of %s and %s are the same", name, other, b.Word)
				}
				frames[frame(&wordless)] = b.Word
			}
		}
		golden(t, filepath.Join("panes", "states-"+name), all.String())
	}
}

// TestHostileAnswers checks that names from nodes do not reach the terminal unescaped in tables of answers.
func TestHostileAnswers(t *testing.T) {
	file := filepath.Join(t.TempDir(), "hostile")
	w, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := snapshot.Write(w, snapshot.Snapshot{Fabric: star(t, hostile[0], hostile...)}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	d := drive(t, "file:"+file)
	for _, command := range []string{"route", "show nodes", "show links", "show lft guid:0x200", "balance switch all",
		"check reach", "check credits", "check load", "compare engines minhop updn",
		"fail node lid:2", "route", "show failures", "diff", "resilience links", "hosts all lid:2 lid:3", "problems"} {
		d.press(":"+command, "enter")
		for range d.m.pane().Base().Kinds {
			d.press("b", "G")
		}
	}
	d.sees("a Answer").size(60, 20).press("a").size(40, 12).press("a", "G", "?", "G", "esc")
}
