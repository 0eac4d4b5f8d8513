// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// TestStudyStops checks that a study shows its progress, stops, continues, and that its failures can be simulated.
// fattree:2,4 has 4 leaves with 2 links each to 2 spines.
func TestStudyStops(t *testing.T) {
	d, back := driveStudy(t, "fattree:2,4")
	d.until("simulating each failure").sees(" S stop ")
	d.send(rune1('S'))
	d.until("stopped: S continues").sees(" S continue ").misses("trying")
	close(back.hold)
	d.press("S").sees("8 failures; 0 lose paths", "leaf-01/3 -- spine-01/1").press("S").sees("! S: every failure of " +
		"this kind was simulated")
	d.press("b").sees("each switch", "6 failures; 4 lose paths", "leaf-01 ")
	d.press("b", "enter").sees("›2 Topology")
}

// driveStudy opens the resilience pane over a backend that delays studies.
func driveStudy(t *testing.T, spec string) (*driver, *fake) {
	t.Helper()
	f, tables := routed(t, spec)
	back := newFake(f)
	back.state.Live.Tables = tables
	back.hold = make(chan struct{})
	d := driveBackend(t, back)
	d.send(rune1('9'))
	return d, back
}

// TestPairs uses the 28 pairs of the 8 links of fattree:2,4. The worst four disconnect a leaf with its two hosts. Both
// links fail together.
func TestPairs(t *testing.T) {
	f, tables := routed(t, "fattree:2,4")
	back := newFake(f)
	back.state.Live.Tables = tables
	d := driveBackend(t, back).size(200, 50)
	d.press("9", "b", "b").sees("each pair of links between switches", "28 failures; 4 lose paths")
	back.hold = make(chan struct{}) // finished studies do not run again
	d.press("b").sees("8 failures").press("b", "b").sees("28 failures; 4 lose paths")
	d.press("p").sees("! p: two links are selected")
	d.press("i").sees("and at leaf-0").press("esc")
	worst := d.m.pane().Base().Cols[0].Text(0) + ", " + d.m.pane().Base().Cols[1].Text(0)
	ends := regexp.MustCompile(`(leaf-0\d)/([34])`).FindAllStringSubmatch(worst, -1)
	if len(ends) != 2 || ends[0][1] != ends[1][1] || ends[0][2] == ends[1][2] {
		t.Fatalf("the worst pair is not of one leaf: %s", worst)
	}
	d.sees(strings.Split(worst, ", ")...).sees("f fail both")
	drive(t, "sim:fattree:2,4").press("9", "b", "b", "f", "8").sees(
		fmt.Sprintf("fail link %s %s; fail link %s %s", ends[0][1], ends[0][2], ends[1][1], ends[1][2]),
		"WHAT-IF 2 failures",
	)
}

// TestManyPairs checks that a long study starts only on demand. fattree:2,24 has 24 leaves with 12 links each:
// 288*287/2 pairs.
func TestManyPairs(t *testing.T) {
	d, _ := driveStudy(t, "fattree:2,24")
	d.send(rune1('b'))
	d.send(rune1('b'))
	d.sees("41,328 failures take long to simulate: S starts")
	d.send(rune1('S'))
	d.sees("simulating each failure")
	d.send(rune1('S'))
	d.sees("stopped: S continues")
}

func TestStudyOfNothing(t *testing.T) {
	d := driveBackend(t, newFake(star(t, "one", "a", "b"))).size(80, 24)
	d.press("9").sees("no forwarding tables: r computes them").press("S").sees("! S: no forwarding tables")
	d.press("0").sees("no multicast groups are known").press("enter").sees("! Enter: nothing is selected")
}
