// SPDX-License-Identifier: Apache-2.0

package torus_test

import (
	"fmt"
	"slices"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/osm"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/checks/credits"
	"example.org/ibconsole/routing/engines/torus"
)

// loopOf routes the document's torus without a switch, and looks for the loop of its tree.
func loopOf(t *testing.T, d *drawn, conf *osm.TorusConf, lost torus.Coordinates) (*routing.Result, *torus.TreeLoop) {
	t.Helper()
	res, err := torus.Engine{Conf: conf}.Route(t.Context(), assign(t, d.without(d.f, lost, lost)), routing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	grid, _ := torus.Of(res.Tables)
	loop, err := grid.TreeLoop(t.Context(), res.Tables, routing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return res, loop
}

// Without a switch of the row y=2 the tree of the 6 x 5 torus has a loop of 7 links with unicast, around that switch.
// Without a switch of another row there is none.
func TestTreeLoops(t *testing.T) {
	d := drawSix5(t)
	for x := range 6 {
		for y := range 5 {
			lost := torus.Coordinates{x, y}
			_, loop := loopOf(t, d, d.conf, lost)
			switch {
			case (loop != nil) != (y == 2):
				t.Errorf("without %v: %v", lost, loop)
			case loop == nil:
			case loop.Links != 7 || loop.Clear == nil:
				t.Errorf("without %v: a loop of %d links, clear with %v, want 7 and a configuration", lost, loop.Links,
					loop.Clear)
			default:
				if _, again := loopOf(t, d, loop.Clear, lost); again != nil {
					t.Errorf("without %v: %v, with the configuration that has none", lost, again)
				}
			}
		}
	}
}

// Every position of the datelines of the 6 x 5 torus has a row of six switches whose loss leads to a loop, as
// [TestTreeLoops] shows for one. No loss of a link does. A torus of three dimensions has none.
func TestForesee(t *testing.T) {
	d := drawSix5(t)
	res, err := torus.Engine{Conf: d.conf}.Route(t.Context(), assign(t, d.f), routing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	grid, _ := torus.Of(res.Tables)
	last := 0
	r, err := grid.Foresee(t.Context(), routing.Options{}, func(done, total int) { last = total - done })
	if err != nil {
		t.Fatal(err)
	}
	if r.Failures != 30+60 || len(r.Loops) != 6 || last != 0 {
		t.Errorf("%d failures, loops after %v, %d not tried", r.Failures, r.Loops, last)
	}
	for _, l := range r.Loops {
		if l.Switch == fabric.None {
			t.Errorf("a loop after the loss of link %v", l.Links)
		}
	}
}

// The ring without r, by hand from the document's drawings. The unicast path from 0,2 to 3,4 turns before r from I up
// to 2,3 and there against the order along x. The path from 0,3 to 3,1 goes up x=3, whose ring r has opened, across the
// dateline. A packet of 3,0 to the group goes up to T, back along the root's row to n and up again to I.
func TestTreeLoopWithoutR(t *testing.T) {
	d := drawSix5(t)
	res, _ := loopOf(t, d, d.conf, d.letters["r"])
	tree := res.Multicast.(*torus.Tree)
	f := res.Tables.Fabric
	with := *res.Tables
	with.MFT = fabric.NewMFT(f, fabric.FirstMLID)
	var hosts []fabric.PortIndex
	for _, e := range f.EndPorts {
		if n := f.Nodes[f.Ports[e].Node]; !n.IsSwitch() && n.InSubnet {
			hosts = append(hosts, e)
		}
	}
	if _, err := tree.AddGroup(with.MFT, fabric.FirstMLID, hosts); err != nil {
		t.Fatal(err)
	}
	r, err := credits.Check(t.Context(), &with, credits.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var ring []string
	for _, h := range r.Ring {
		from, _ := tree.Coordinates(f.Nodes[f.Ports[h.From.Port].Node].Switch)
		to, _ := tree.Coordinates(f.PeerSwitch(h.From.Port))
		ring = append(ring, fmt.Sprintf("%v to %v on VL %d", from, to, h.From.VL))
	}
	slices.Sort(ring)
	want := []string{
		"2,1,0 to 2,2,0 on VL 0", "2,2,0 to 2,3,0 on VL 0", "2,3,0 to 3,3,0 on VL 2", "3,0,0 to 3,1,0 on VL 0",
		"3,1,0 to 2,1,0 on VL 2", "3,3,0 to 3,4,0 on VL 0", "3,4,0 to 3,0,0 on VL 0",
	}
	if !slices.Equal(ring, want) {
		t.Errorf("the ring is %q, want %q", ring, want)
	}
}
