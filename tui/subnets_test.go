// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"fmt"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/shell"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/source"
)

// driveSubnets opens the screens of several subnets, which read them.
func driveSubnets(t testing.TB, given ...string) *driver {
	t.Helper()
	return driveWrapped(t, func(back backend) backend { return back }, given...)
}

// driveWrapped is [driveSubnets] with wrapped backends.
func driveWrapped(t testing.TB, wrap func(backend) backend, given ...string) *driver {
	t.Helper()
	sources, err := source.ParseAll(given, nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	var sessions []*session.Session
	for _, n := range sources {
		s, err := session.Open(t.Context(), n.Source, session.Options{Later: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		names, sessions = append(names, n.Name), append(sessions, s)
	}
	subnets := shell.NewSubnets(names, sessions)
	th := looks()[0].make(t)
	var all []*model
	for i, n := range subnets.All() {
		m := newModel(t.Context(),
			wrap(&shellBackend{Shell: n.Shell, watcher: sessions[i].Watch(), among: subnets, here: i}), th)
		m.start = starting(n)
		all = append(all, m)
	}
	d := &driver{t: t, msgs: make(chan tea.Msg, 1000), screens: newScreens(subnets, all)}
	d.m = all[0]
	d.run(d.screens.Init())
	d.size(120, 36)
	d.settle()
	return d
}

// TestSubnets goes from subnet to subnet: each keeps its state, marked hosts and sets are found in each, and the header
// shows the name at any size.
func TestSubnets(t *testing.T) {
	d := driveSubnets(t, "sim:rails:3,fattree:2,8", "old=sim:fattree:2,4")
	d.sees("ibconsole rail-1 sim:fattree:2,8,rail=1", "12 switches, 32 hosts")
	d.press("A").until("28").sees("rail-1 (shown)", "rail-3", "old", "4 subnets")
	d.press("j", "enter").until("this is rail-2").sees("rail-2 sim:fattree:2,8,rail=2")
	d.press(":fail switch spine-01", "enter").sees("WHAT-IF").press("}").until("this is rail-3").misses(
		"WHAT-IF").press("{").until("this is rail-2").sees("WHAT-IF")
	d.press("2", "/", "node-0007", "enter", "m", "}").until("this is rail-3")
	if marks := markedHosts(d.m); len(marks) != 1 {
		t.Errorf("marked on rail-3: %v", marks)
	}
	d.press(":hosts job node-0001 node-0009", "enter", ":source rail-1", "enter").until("this is rail-1")
	d.press("2", "/", "@job", "enter").sees("node-0001 mlx5_0", "node-0009 mlx5_0").misses("node-0002")
	d.press("esc", ":source old", "enter").until("this is old; it lacks 1 host of the sets")
	d.press(":source rail-1", "enter").until("this is rail-1")
	d.press(":source rail-9", "enter").sees(`unknown subnet "rail-9", expected one of rail-1, rail-2, rail-3, old`)
	d.press(":on old summary", "enter").sees("sim:fattree:2,4")
	d.press("A", "b").sees("differences", "old", "has 6 switches, most have 12")
	for _, size := range [][2]int{{40, 12}, {60, 20}, {80, 24}, {120, 36}, {200, 50}} {
		d.size(size[0], size[1])
		if first, _, _ := strings.Cut(d.screen(), "\n"); !strings.Contains(first, "rail-1") {
			t.Errorf("at %dx%d the first line lacks the name of the subnet: %s", size[0], size[1], first)
		}
	}
	d.size(200, 50)
	for range 2 {
		for _, c := range d.m.pane().Base().Shown() {
			if c.Help == "" {
				t.Errorf("no help for the column %s of the subnets", c.Name)
			}
		}
		d.press("b")
	}
}

// TestUnreadSubnet checks that a subnet that cannot be read is reported on its screen and in the list.
func TestUnreadSubnet(t *testing.T) {
	d := driveSubnets(t, "gone=sim:fattree:0", "sim:fattree:2,4")
	d.sees("gone").press("A").sees("fattree", "2 subnets", "gone (shown)").press("j",
		"enter").until("6 switches, 8 hosts")
	if n := d.m.all[len(d.m.all)-1].Alarm(); n != 1 {
		t.Errorf("%d subnets have problems, want 1", n)
	}
}

// BenchmarkSubnets switches between eight subnets of 2,048 hosts and draws each.
func BenchmarkSubnets(b *testing.B) {
	for _, size := range [][2]int{{80, 24}, {200, 50}} {
		b.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(b *testing.B) {
			d := driveSubnets(b, "sim:rails:8,fattree:2,64")
			d.size(size[0], size[1])
			key := tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{'}'}}
			for b.Loop() {
				_, cmd := d.screens.Update(key)
				_, more := d.screens.Update(cmd())
				_ = d.screens.View()
				b.StopTimer()
				d.m = d.screens.all[d.screens.at]
				d.run(more)
				d.settle()
				b.StartTimer()
			}
		})
	}
}
