// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"fmt"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/shell/session"
)

// BenchmarkScreen is one key and the frame after it, on the 3-level fat-tree of
// 36-port switches: 1,620 switches and 11,664 hosts.
func BenchmarkScreen(b *testing.B) {
	f, tables := routed(b, "fattree:3,36")
	back := newFake(f)
	back.state.Live.Tables = tables
	changed := tables.LFT.Clone()
	for s := range f.Switches {
		changed.Row(int32(s))[7] = 1
	}
	back.state.Staged = &session.Picture{Kind: session.Staged, Fabric: f, Tables: fabric.NewTables(f, changed, "minhop")}
	for _, size := range [][2]int{{80, 24}, {120, 36}, {200, 50}} {
		d := driveBackend(b, back).size(size[0], size[1])
		name := func(what string) string { return fmt.Sprintf("%dx%d/%s", size[0], size[1], what) }
		key := func(what string, setup string, keys ...tea.KeyMsg) {
			d.press("2", "esc", "g", "j")
			for _, r := range setup {
				d.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}})
			}
			b.Run(name(what), func(b *testing.B) {
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					d.m.Update(keys[i%len(keys)])
					_ = d.m.View()
				}
			})
			d.press("esc")
		}
		j, k := rune1('j'), rune1('k')
		page := tea.KeyMsg{Type: tea.KeyPgDown}
		key("tree/move", "", j, j, j, k, k, k)
		key("tree/page", "", page, page, page, tea.KeyMsg{Type: tea.KeyHome})
		key("tree/ends", "", rune1('G'), rune1('g'))
		key("tree/filter", "/node-0", rune1('7'), tea.KeyMsg{Type: tea.KeyBackspace})
		key("lft/move", "3", j, j, j, k, k, k)
		key("lft/ends", "3", rune1('G'), rune1('g'))
		key("lft/filter", "3/node-0", rune1('7'), tea.KeyMsg{Type: tea.KeyBackspace})
		key("panes", "", rune1('3'), rune1('4'), rune1('8'), rune1('2'))
	}
}

func rune1(r rune) tea.KeyMsg { return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}} }

// BenchmarkScene is what a new fabric costs before its first frame.
func BenchmarkScene(b *testing.B) {
	f, tables := routed(b, "fattree:3,36")
	g, err := f.WithSMPort(f.SMPort)
	if err != nil {
		b.Fatal(err)
	}
	back := newFake(f)
	d := driveBackend(b, back)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		live := [2]*fabric.Fabric{f, g}[i%2]
		back.state.Live = &session.Picture{Kind: session.Live, Fabric: live, Tables: fabric.NewTables(live, tables.LFT, "live")}
		d.m.refresh()
		_ = d.m.View()
	}
}
