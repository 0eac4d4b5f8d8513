// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/losses"
	"example.org/ibconsole/shell/session"
)

// TestHeaderShowsLosses checks that the first line shows the number of lost links at every width.
func TestHeaderShowsLosses(t *testing.T) {
	f, tables := routed(t, "fattree:2,8")
	less := f.Without([]fabric.Link{linkBetweenSwitches(f)})
	back := newFake(f)
	back.state.Live.Tables = tables
	d := driveBackend(t, back)
	lose := func() {
		back.change(func(st *session.State) {
			st.Live = &session.Picture{
				Kind: session.Live, Fabric: less, Tables: fabric.NewTables(less, tables.LFT, "live"),
			}
		})
		d.send(changedMsg{})
		d.settle()
	}
	header := func(width int) string {
		d.size(width, 24)
		return strings.Split(d.screen(), "\n")[0]
	}
	if text := header(80); strings.Contains(text, "down") {
		t.Errorf("nothing is lost: %q", text)
	}
	lose()
	for _, c := range []struct {
		name   string
		change func()
	}{
		{"nothing else", func() {}},
		{"a long name", func() { d.m.subnet = strings.Repeat("rail", 10) }},
		{"all states", func() {
			back.change(func(st *session.State) {
				st.Base, st.WhatIf = st.Live, &session.Picture{
					Kind: session.WhatIf, Fabric: less, Tables: st.Live.Tables,
				}
				st.Staged, st.Stale, st.WriteOn = &session.Picture{Kind: session.Staged, Fabric: less,
					Tables: st.Live.Tables}, true, true
			})
		}},
		{"what runs", func() {
			back.change(func(st *session.State) {
				st.Busy, st.Done, st.Total = "sweep: links of all switches", 12345, 1234567
			})
		}},
		{"frozen", func() { d.press("Z") }},
	} {
		c.change()
		d.send(changedMsg{})
		for width := 20; width <= 200; width++ {
			if text := header(width); !strings.HasSuffix(strings.TrimRight(text, " "), " 1 down") {
				t.Errorf("%s, %d columns: %q", c.name, width, text)
				break
			}
		}
	}
}

// TestHeaderCountsEarlierLosses checks that the first frame counts losses from the history.
func TestHeaderCountsEarlierLosses(t *testing.T) {
	f, _ := routed(t, "fattree:2,8")
	l := linkBetweenSwitches(f)
	back := newFake(f.Without([]fabric.Link{l}))
	back.state.Losses = losses.List(nil).After(f, time.Unix(0, 0), back.state.Live.Fabric, nil)
	d := driveBackend(t, back).size(80, 24)
	d.sees(" 1 down").press("1", "z").sees("link missing", f.PortName(l.A))
}

// TestPaceBeginsWithTheTotal checks that the time before the total is known does not count for the remaining time.
func TestPaceBeginsWithTheTotal(t *testing.T) {
	var p pace
	began := time.Unix(0, 0)
	at := func(seconds, done, total int) string {
		st := &session.State{}
		st.Busy, st.Done, st.Total = "sweep", done, total
		now := began.Add(time.Duration(seconds) * time.Second)
		p.note(st, now)
		return p.text(st, now)
	}
	for _, c := range []struct {
		seconds, done, total int
		want                 string
	}{
		{0, 0, 0, ""},
		{60, 40, 0, ""},
		{70, 50, 1050, ""},
		{80, 550, 1050, "50/s, 10.0 s left"},
	} {
		if got := at(c.seconds, c.done, c.total); got != c.want {
			t.Errorf("after %d s: %q, want %q", c.seconds, got, c.want)
		}
	}
}
