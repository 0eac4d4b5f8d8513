// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/failures"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/internal/test/tmuxtest"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
	"example.org/ibconsole/tui/pane/log"
)

// look is a theme on a terminal.
type look struct {
	name, theme string
	profile     termenv.Profile
	glyphs      draw.Glyphs
}

func looks() []look {
	return []look{
		{"dark", "dark", termenv.TrueColor, glyphsOf("C.UTF-8", "xterm")},
		{"light", "light", termenv.TrueColor, glyphsOf("C.UTF-8", "xterm")},
		{"contrast", "contrast", termenv.TrueColor, glyphsOf("C.UTF-8", "xterm")},
		{"none", "none", termenv.Ascii, glyphsOf("C.UTF-8", "xterm")},
		{"16-colours", "dark", termenv.ANSI, glyphsOf("C.UTF-8", "linux")},
		{"ascii", "none", termenv.Ascii, glyphsOf("C", "")},
	}
}

func (l look) make(t testing.TB) *draw.Theme {
	t.Helper()
	theme, err := draw.NewTheme(l.theme, l.profile, l.glyphs, nil)
	if err != nil {
		t.Fatal(err)
	}
	return theme
}

// TestGoldenScreens compares whole frames, including colours, with frames that were checked on a terminal: a staged
// what-if, a trace across it, and a list with a filter and marks. `go test ./tui -run TestGolden -update` writes them;
// read the differences (less -R) before you commit them.
func TestGoldenScreens(t *testing.T) {
	for _, l := range looks() {
		for _, size := range [][2]int{{80, 24}, {120, 36}, {200, 50}} {
			t.Run(fmt.Sprintf("%s-%dx%d", l.name, size[0], size[1]), func(t *testing.T) {
				d := goldenScreen(t, l, size)
				golden(t, filepath.Join("screens", fmt.Sprintf("%s-%dx%d", l.name, size[0], size[1])), d.m.View())
			})
		}
	}
}

// golden compares a frame with a file of testdata, or writes the file.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got+"\n" != string(want) {
		t.Errorf("the frame is\n%s\nwant\n%s", got, want)
	}
}

// TestGoldenPanes compares each pane on a small screen, without colours.
func TestGoldenPanes(t *testing.T) {
	d := goldenScreen(t, looks()[0], [2]int{80, 24})
	for id := range d.m.all {
		d.press(d.m.digit(id))
		d.m.inform("")
		golden(t, filepath.Join("panes", strings.ToLower(d.m.all[id].About().Name)), d.screen())
	}
}

// goldenScreen returns a screen with a state made by hand, so that it has no changing times.
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
	back.state.WhatIf = &session.Picture{
		Kind: session.WhatIf, Fabric: less, Tables: fabric.NewTables(less, tables.LFT, "live"),
	}
	back.state.Failures = []failures.Failure{
		{What: "link", Name: f.PortName(cable.A) + " -- " + f.PortName(cable.B), Links: []fabric.Link{cable}},
	}
	back.state.Staged = &session.Picture{
		Kind: session.Staged, Fabric: less, Tables: fabric.NewTables(less, reroute(t, less), "minhop"),
	}
	back.leave("leaf-12 \x1b[2J", 9, "no answer after 3 tries")
	d := driveBackend(t, back)
	*d.m.Look = *l.make(t)
	d.m.now = func() time.Time { return time.Unix(0, 0).UTC() }
	d.size(size[0], size[1])
	d.press("2", "/", "node-0001", "enter", "t", "/", "node-0050", "enter", "T", "2", "esc", "m", "3", "4")
	d.m.jobs.running = nil
	d.m.all[d.m.at(pane.SeatLog)] = log.New(d.m.Common)
	d.m.note(pane.Line{When: time.Unix(0, 0).UTC(), Job: 1, Kind: pane.LineCommand, Text: "fail link leaf-01 8",
		End: "1 ms"}, pane.Line{Job: 1, Text: "failed in the what-if"})
	d.m.fit()
	d.m.inform("failed in the what-if")
	if size[0] == 80 {
		d.press("4")
	}
	return d
}

// TestGoldenScreensOnTerminal checks that a terminal shows the frames cell by cell: no line wraps, and all have the
// same length.
func TestGoldenScreensOnTerminal(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "screens", "*"))
	if err != nil || len(files) != 3*len(looks()) {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			frame, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var w, h int
			if _, err := fmt.Sscanf(file[strings.LastIndex(file, "-")+1:], "%dx%d", &w, &h); err != nil {
				t.Fatal(err)
			}
			path, err := filepath.Abs(file)
			if err != nil {
				t.Fatal(err)
			}
			want := bare(ansi.Strip(string(frame)))
			s := tmuxtest.Start(t, w, h, fmt.Sprintf("head -c %d '%s'; exec sleep 60", len(frame)-1, path))
			s.Until(func(screen string) bool { return bare(screen) == want }, want)
		})
	}
}

// bare removes blanks at the end of lines, which a terminal does not return.
func bare(screen string) string {
	lines := strings.Split(strings.TrimRight(screen, "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// TestGoldenFabrics compares the tiers and heat map of two real fabrics with frames that were checked against their
// cabling: hosts on rails, aggregation nodes on every switch, directors, leaves without uplinks.
func TestGoldenFabrics(t *testing.T) {
	for _, name := range []string{"real-ndr-rail-40sw.topo", "real-cs8500-hdr-192sw.net"} {
		t.Run(name, func(t *testing.T) {
			file := testenv.SharedFile(t, "fabrics/"+name)
			d := drive(t, "file:"+file)
			*d.m.Look = *looks()[3].make(t)
			d.press(":engine updn; route", "enter")
			d.m.jobs.running = nil
			d.m.all[d.m.at(pane.SeatLog)] = log.New(d.m.Common)
			for _, size := range [][2]int{{80, 24}, {120, 36}, {200, 50}} {
				d.size(size[0], size[1])
				for _, shown := range []struct{ name, key string }{{"topology", "2"}, {"load", "6"}} {
					d.press(shown.key, "g")
					for shown.key == "6" && !strings.Contains(d.screen(), "heat map, upwards") {
						d.press("b")
					}
					d.press("z")
					d.m.inform("")
					// without the header, which has the path of the file and a time
					_, frame, _ := strings.Cut(d.screen(), "\n")
					d.press("z")
					golden(t, filepath.Join("fabrics",
						fmt.Sprintf("%s-%s-%dx%d", strings.TrimSuffix(name, filepath.Ext(name)), shown.name, size[0],
							size[1])), frame)
				}
			}
		})
	}
}
