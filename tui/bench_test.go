// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/shell"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/tui/draw"
)

// large has 2,502 switches and 48,006 LIDs: 45,504 hosts in 79 groups of 24 leaves.
const large = "xgft:3,24,24,79,1,6,22"

// BenchmarkScreen measures a key and the frame after it on a large subnet, with the 99th percentile.
func BenchmarkScreen(b *testing.B) {
	f, tables := routed(b, large)
	back := newFake(f)
	back.state.Live.Tables = tables
	changed := tables.LFT.Clone()
	for s := range f.Switches {
		changed.Row(fabric.SwitchIndex(s))[7] = 1
	}
	back.state.Staged = &session.Picture{
		Kind: session.Staged, Fabric: f, Tables: fabric.NewTables(f, changed, "minhop"),
	}
	j, k := rune1('j'), rune1('k')
	page, home := tea.KeyMsg{Type: tea.KeyPgDown}, tea.KeyMsg{Type: tea.KeyHome}
	end, letter, del := rune1('G'), rune1('7'), tea.KeyMsg{Type: tea.KeyBackspace}
	for _, size := range [][2]int{{80, 24}, {200, 50}} {
		d := driveBackend(b, back).size(size[0], size[1])
		d.press("6") // counts the paths over all links
		for _, c := range []struct {
			name  string
			setup []string
			keys  []tea.KeyMsg
		}{
			{"tree/move", []string{"2"}, []tea.KeyMsg{j, j, j, k, k, k}},
			{"tree/page", []string{"2"}, []tea.KeyMsg{page, page, home}},
			{"tree/filter", []string{"2", "/node-0"}, []tea.KeyMsg{letter, del}},
			{"tree/fuzzy", []string{"2", "/~nd0"}, []tea.KeyMsg{letter, del}},
			{"tree/sort", []string{"2"}, []tea.KeyMsg{rune1('s')}},
			{"lft/move", []string{"2", "j", "j", "3"}, []tea.KeyMsg{j, j, j, k, k, k}},
			{"lft/ends", []string{"3"}, []tea.KeyMsg{end, home}},
			{"lft/filter", []string{"3", "/node-0"}, []tea.KeyMsg{letter, del}},
			{"lft/regexp", []string{"3", "//node-0.*"}, []tea.KeyMsg{letter, del}},
			{"lft/sort", []string{"3"}, []tea.KeyMsg{rune1('s')}},
			{"lft/by-port", []string{"3"}, []tea.KeyMsg{rune1('b')}},
			{"map/move", []string{"#", "enter"}, []tea.KeyMsg{rune1('l'), j, rune1('h'), k}},
			{"map/colours", []string{"#"}, []tea.KeyMsg{rune1('b'), rune1('+'), rune1('-')}},
			{"load/move", []string{"6"}, []tea.KeyMsg{j, page, k, home}},
			{"load/filter", []string{"6", "/leaf-1"}, []tea.KeyMsg{letter, del}},
			{"load/sort", []string{"6"}, []tea.KeyMsg{rune1('s')}},
			{
				"panes", []string{"2"}, []tea.KeyMsg{rune1('3'), rune1('4'), rune1('5'), rune1('6'), rune1('8'),
					rune1('9'), rune1('0'), rune1('1'), rune1('2')},
			},
		} {
			d.press("2", "esc", "g", "j")
			d.press(c.setup...)
			b.Run(fmt.Sprintf("%dx%d/%s", size[0], size[1], c.name), func(b *testing.B) {
				b.ReportAllocs()
				var took []time.Duration
				for i := 0; b.Loop(); i++ {
					began := time.Now()
					d.send(c.keys[i%len(c.keys)])
					_ = d.m.View()
					took = append(took, time.Since(began))
					if len(took)%20 == 0 {
						b.StopTimer()
						d.settle()
						b.StartTimer()
					}
				}
				slices.Sort(took)
				b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "ms-p99")
			})
			d.press("esc")
			for _, name := range []string{"Topology", "LFT", "Load"} {
				p := d.m.all[d.m.named(name)]
				t := p.Base()
				t.Sorted, t.Kind, t.Filt = 0, 0, draw.Filter{}
				p.Renew()
			}
		}
	}
}

// nodesAnswer declares an answer with a row for each node of a fabric, as show nodes does.
func nodesAnswer(f *fabric.Fabric) *answer.Answer {
	node := func(of func(*fabric.Node) answer.Value) func(fabric.NodeIndex) answer.Value {
		return func(n fabric.NodeIndex) answer.Value { return of(&f.Nodes[n]) }
	}
	table := answer.Table[fabric.NodeIndex]{Key: "nodes", Title: "nodes", Fields: []answer.Field[fabric.NodeIndex]{
		{Key: "lid", Name: "LID", Kind: answer.KindLID, Value: node(func(n *fabric.Node) answer.Value {
			return answer.LID(f.LIDOf(n.FirstPort + 1))
		})},
		{Key: "guid", Name: "GUID", Kind: answer.KindGUID, Value: node(func(n *fabric.Node) answer.Value {
			return answer.GUID(n.GUID)
		})},
		{Key: "up", Name: "UP/PORTS", Kind: answer.KindText, Value: node(func(n *fabric.Node) answer.Value {
			return answer.Text(fmt.Sprintf("%d/%d", f.LinkedPorts(n), n.NumPorts))
		})},
		{Key: "name", Name: "NAME", Kind: answer.KindText, Value: func(n fabric.NodeIndex) answer.Value {
			return answer.Text(f.NodeName(n))
		}},
	}}
	decl := answer.Decl[*fabric.Fabric]{Command: "show nodes", Help: "nodes", Layout: []answer.Item[*fabric.Fabric]{{
		Table: answer.Show(&table, func(f *fabric.Fabric) answer.Rows[fabric.NodeIndex] {
			return answer.Lazy(len(f.Nodes), func(i int) fabric.NodeIndex { return fabric.NodeIndex(i) })
		}),
	}}}
	return decl.Answer(answer.Basis{}, f)
}

// BenchmarkAnswer measures what holds up the screen while an answer of 48,006 rows is opened, moved in, sorted and
// filtered: each key, and each message that follows from it, with the frame after it.
func BenchmarkAnswer(b *testing.B) {
	f, _ := routed(b, large)
	back := newFake(f)
	back.run = func(_ context.Context, _ string, out *shell.Output) error { return out.Declared(nodesAnswer(f)) }
	d := driveBackend(b, back).size(200, 50)
	j, page, end := rune1('j'), tea.KeyMsg{Type: tea.KeyPgDown}, rune1('G')
	letter, del := rune1('7'), tea.KeyMsg{Type: tea.KeyBackspace}
	for _, c := range []struct {
		name  string
		setup []string
		keys  []tea.KeyMsg
	}{
		{
			"open", nil, []tea.KeyMsg{
				rune1(':'), {Type: tea.KeyRunes, Runes: []rune("show nodes")}, {Type: tea.KeyEnter},
			},
		},
		{"move", nil, []tea.KeyMsg{j, j, j}},
		{"page", nil, []tea.KeyMsg{page, page, end}},
		{"sort", nil, []tea.KeyMsg{rune1('s')}},
		{"filter", []string{"/node-0"}, []tea.KeyMsg{letter, del}},
	} {
		b.Run(c.name, func(b *testing.B) {
			d.press(":show nodes", "enter")
			d.press(c.setup...)
			var took []time.Duration
			send := func(msg tea.Msg) {
				began := time.Now()
				d.send(msg)
				_ = d.m.View()
				took = append(took, time.Since(began))
			}
			for b.Loop() {
				for _, k := range c.keys {
					for send(k); d.working(); {
						send(<-d.msgs)
					}
				}
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "ms-p99")
			b.ReportMetric(float64(took[len(took)-1].Microseconds())/1000, "ms-max")
			d.press("esc")
		})
	}
}

func rune1(r rune) tea.KeyMsg { return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}} }

// BenchmarkScene measures a new fabric until its first frame.
func BenchmarkScene(b *testing.B) {
	f, tables := routed(b, large)
	g, err := f.WithSMPort(f.SMPort)
	if err != nil {
		b.Fatal(err)
	}
	back := newFake(f)
	d := driveBackend(b, back)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		live := [2]*fabric.Fabric{f, g}[i%2]
		back.state.Live = &session.Picture{
			Kind: session.Live, Fabric: live, Tables: fabric.NewTables(live, tables.LFT, "live"),
		}
		d.m.refresh()
		_ = d.m.View()
	}
}
