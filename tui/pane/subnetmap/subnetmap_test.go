// SPDX-License-Identifier: Apache-2.0

package subnetmap_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/history/records"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/recording"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
	"example.org/ibconsole/tui/pane/panetest"
	"example.org/ibconsole/tui/pane/subnetmap"
)

func makePane(c *pane.Common, _ *session.Session) pane.Pane { return subnetmap.New(c, nil) }

// picture returns the lines of the picture in w by h cells. It fails the test if a line has another width.
func picture(t *testing.T, s *panetest.Stand, w, h int) []string {
	t.Helper()
	pic := s.Pane.(pane.Pictured)
	win := pic.Paint(w, h)
	var lines []string
	for line := win.Top; line < min(win.N, win.Top+h); line++ {
		p := draw.NewPen(s.Common.Look, w)
		pic.PaintLine(p, line)
		text := ansi.Strip(p.Done())
		if draw.Width(text) != w {
			t.Errorf("line %d of %dx%d has %d cells: %q", line, w, h, draw.Width(text), text)
		}
		lines = append(lines, text)
	}
	return lines
}

// TestEverySwitchIsDrawn counts the cells of five kinds of topologies. A cell with space for it has three signs.
func TestEverySwitchIsDrawn(t *testing.T) {
	for _, c := range []struct {
		source   string
		switches int
	}{
		{"sim:fattree:2,4", 6}, {"sim:fattree:3,4", 20}, {"sim:torus:4x3x2", 24}, {"sim:dragonfly:4,2,2", 36},
		{"sim:random:12,3,12", 12},
	} {
		s := panetest.New(t, c.source, "", makePane)
		cells := 0
		for _, line := range picture(t, s, 160, 60) {
			if strings.HasPrefix(line, "─ ") { // the front panel
				break
			}
			for _, shade := range []string{"···", "░░░", "▒▒▒", "▓▓▓", "███"} {
				cells += strings.Count(line, shade)
			}
		}
		if cells != c.switches {
			t.Errorf("%s: %d cells, want %d:\n%s", c.source, cells, c.switches,
				strings.Join(picture(t, s, 160, 60), "\n"))
		}
		for _, size := range [][2]int{{1, 1}, {7, 3}, {30, 9}, {76, 17}, {200, 45}} {
			picture(t, s, size[0], size[1])
			for _, step := range [][2]int{{1, 0}, {0, 1}, {0, 9}, {1, 0}, {-1, 0}, {0, -99}, {-99, 0}} {
				s.Pane.(pane.Pictured).Walk(step[0], step[1])
				picture(t, s, size[0], size[1])
			}
		}
	}
}

// TestWalk moves from a spine to a leaf, into its front panel, and back.
func TestWalk(t *testing.T) {
	s := panetest.New(t, "sim:fattree:2,4", "", makePane)
	pic := s.Pane.(pane.Pictured)
	picture(t, s, 80, 20)
	at := func() string {
		x := s.Pane.Subject()
		if x.Node == fabric.None {
			return "nothing"
		}
		if x.Link != fabric.None {
			return x.Fabric.PortName(x.Link)
		}
		return x.Fabric.NodeName(x.Node)
	}
	for _, c := range []struct {
		dx, dy int
		want   string
	}{
		{0, -9, "spine-01"}, {1, 0, "spine-02"}, {0, 1, "leaf-02"}, {1, 0, "leaf-03"}, {9, 0, "leaf-04"},
		{0, 1, "leaf-04/4"}, {-1, 0, "leaf-04/3"}, {-9, 0, "leaf-04/1"}, {0, 1, "leaf-04/1"}, {0, -1, "leaf-04"},
		{0, -1, "spine-02"}, {-9, 0, "spine-01"}, {-1, 0, "spine-01"},
	} {
		if pic.Walk(c.dx, c.dy); at() != c.want {
			t.Fatalf("%d, %d leads to %s, want %s", c.dx, c.dy, at(), c.want)
		}
	}
}

// TestErrors has a port with more errors than an alert permits, one with a few, and a port that was not read: its
// switch has no number, and never 0.
func TestErrors(t *testing.T) {
	s := panetest.New(t, "sim:fattree:2,4", "", makePane)
	f := s.Scene.Top.Fabric
	s.Turn(1)
	all := strings.Join(picture(t, s, 100, 30), "\n")
	if !strings.Contains(all, "???") || strings.Contains(all, "···") {
		t.Errorf("without records:\n%s", all)
	}
	g := &recording.Growth{Fabric: f, Read: map[counters.Key]bool{}}
	for p := range f.NumPorts() {
		name := f.PortName(p)
		errors := map[string]uint64{"leaf-01/1": 100, "leaf-01/2": 30, "leaf-02/3": 5}[name]
		g.Read[counters.KeyOf(f, p)] = name != "leaf-03/2"
		if errors > 0 {
			g.Ports = append(g.Ports, recording.Growing{Total: records.Total{Key: counters.KeyOf(f, p),
				Counts: []records.Count{{Counter: counters.SymbolErrors, Increase: errors}}}})
		}
	}
	recording.PutRecent(&s.Scene.State, recording.NewRecent(g))
	s.Pane.Collect()
	for name, want := range map[string]string{"leaf-01": "130", "leaf-02": "5", "leaf-03": "not read", "leaf-04": "0"} {
		if got := cellOf(s, name, "errors"); got != want {
			t.Errorf("%s has %s errors, want %s", name, got, want)
		}
	}
	lines := strings.Join(picture(t, s, 100, 30), "\n")
	for _, want := range []string{"███", "▓▓▓", "???", "···", "highest"} {
		if found := strings.Contains(lines, want); found == (want == "highest") {
			t.Errorf("the map has %q: %v\n%s", want, found, lines)
		}
	}
	if got, want := s.Pane.Figure(), "highest: leaf-01/1, 130"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// cellOf returns the cell of a switch in a column of the list.
func cellOf(s *panetest.Stand, name, column string) string {
	table := s.Pane.Base()
	for line := range table.N {
		row, cells := table.Row(line), map[string]string{}
		for _, c := range table.Shown() {
			cells[c.Name] = c.Cell(row)
		}
		if cells["switch"] == name && cells["port"] == "" {
			return cells[column]
		}
	}
	return fmt.Sprintf("no row of %s", name)
}

// TestBundles draws a tree of two spines and six leaves with three cables between each spine and leaf. In 80x24 the
// picture has 76x17 cells.
func TestBundles(t *testing.T) {
	s := panetest.New(t, "sim:xgft:2,4,6,1,2,1,3", "", makePane)
	text := strings.Join(picture(t, s, 76, 17), "\n")
	for part, times := range map[string]int{"18 links to 6 switches": 1, "x3─": 5, "┐x3": 1,
		" 3▒▒▒": 6, "  x3 → ": 6, "ports 1,7,13 ": 1, "ports 6,12,18 ": 1} {
		if n := strings.Count(text, part); n != times {
			t.Errorf("%q is drawn %d times, want %d:\n%s", part, n, times, text)
		}
	}
}
