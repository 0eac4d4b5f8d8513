// SPDX-License-Identifier: Apache-2.0

package tui

import "testing"

// TestStudyStops: a study says that it runs, stops when told to, goes on, and what it
// finds can fail. fattree:2,4 has 4 leaves with 2 links each to 2 spines.
func TestStudyStops(t *testing.T) {
	f, tables := routed(t, "fattree:2,4")
	back := newFake(f)
	back.state.Live.Tables = tables
	back.hold = make(chan struct{})
	d := driveBackend(t, back)
	d.send(rune1('9'))
	d.until("trying what each failure does")
	d.send(rune1('S'))
	d.until("stopped: S goes on").misses("trying")
	close(back.hold)
	d.press("S").sees("8 failures; 0 lose paths", "leaf-01/3 -- spine-01/1").press("S").sees("! S: every failure of this kind was tried")
	d.press("b").sees("each switch", "6 failures; 4 lose paths", "leaf-01 ")
	d.press("b", "enter").sees("›2 Topology")
}

func TestStudyOfNothing(t *testing.T) {
	d := driveBackend(t, newFake(star(t, "one", "a", "b"))).size(80, 24)
	d.press("9").sees("no tables: press r to route").press("S").sees("! S: no tables")
	d.press("0").sees("no multicast groups are known").press("enter").sees("! Enter: nothing is selected")
}
