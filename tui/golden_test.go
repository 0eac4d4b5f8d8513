// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/muesli/termenv"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/shell/session"
)

// look is how a screen can look: a theme on a terminal.
type look struct {
	name, theme string
	profile     termenv.Profile
	glyphs      glyphs
}

func looks() []look {
	return []look{
		{"dark", "dark", termenv.TrueColor, unicodeGlyphs()},
		{"light", "light", termenv.TrueColor, unicodeGlyphs()},
		{"contrast", "contrast", termenv.TrueColor, unicodeGlyphs()},
		{"none", "none", termenv.Ascii, unicodeGlyphs()},
		{"16-colours", "dark", termenv.ANSI, consoleGlyphs()},
		{"ascii", "none", termenv.Ascii, asciiGlyphs()},
	}
}

// TestGoldenScreens compares whole frames, colours and all, with those that
// somebody has looked at on a terminal and found good: a what-if that is staged, a
// trace across it, and a list with a filter and marks. `go test ./tui -run
// TestGoldenScreens -update` writes them anew; look at them (less -R) before they
// are kept.
func TestGoldenScreens(t *testing.T) {
	for _, l := range looks() {
		for _, size := range [][2]int{{80, 24}, {120, 36}, {200, 50}} {
			t.Run(fmt.Sprintf("%s-%dx%d", l.name, size[0], size[1]), func(t *testing.T) {
				d := goldenScreen(t, l, size)
				path := filepath.Join("testdata", "screens", fmt.Sprintf("%s-%dx%d", l.name, size[0], size[1]))
				got := d.m.View() + "\n"
				if *update {
					if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if got != string(want) {
					t.Errorf("the frame is\n%s\nwant\n%s", got, want)
				}
			})
		}
	}
}

// goldenScreen is a frame that has much in it. Its session is made by hand, so that no
// times are in it that change.
func goldenScreen(t *testing.T, l look, size [2]int) *driver {
	t.Helper()
	made, _ := routed(t, "fattree:2,12")
	f := made.Activated()
	tables := fabric.NewTables(f, reroute(t, f), "live")
	back := newFake(f)
	back.state.Live = &session.Picture{Kind: session.Live, Fabric: f, Tables: tables, When: time.Unix(0, 0).UTC()}
	cable := linkBetweenSwitches(f)
	less := f.Without([]fabric.Link{cable})
	back.state.Base = back.state.Live
	back.state.WhatIf = &session.Picture{Kind: session.WhatIf, Fabric: less, Tables: fabric.NewTables(less, tables.LFT, "live")}
	back.state.Failures = []session.Failure{{What: "link", Name: f.PortName(cable.A) + " -- " + f.PortName(cable.B), Links: []fabric.Link{cable}}}
	back.state.Staged = &session.Picture{Kind: session.Staged, Fabric: less, Tables: fabric.NewTables(less, reroute(t, less), "minhop")}
	back.state.Holes = []string{"leaf-12 \x1b[2J port 9: no answer after 3 tries"}
	d := driveBackend(t, back)
	th, err := newTheme(l.theme, l.profile, l.glyphs)
	if err != nil {
		t.Fatal(err)
	}
	*d.m.theme = *th
	d.m.now = func() time.Time { return time.Unix(0, 0).UTC() }
	d.size(size[0], size[1])
	d.press("2", "/", "node-0001", "enter", "t", "/", "node-0050", "enter", "T", "2", "esc", "m", "3", "4")
	d.m.log.lines, d.m.jobs = nil, nil
	d.m.log.add(logLine{when: time.Unix(0, 0).UTC(), job: 1, kind: lineCommand, text: "fail link leaf-01 8", end: "1 ms"}, logLine{job: 1, text: "failed on paper"})
	d.m.inform("failed on paper")
	if size[0] == 80 {
		d.press("4")
	}
	return d
}
