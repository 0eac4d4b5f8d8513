// SPDX-License-Identifier: Apache-2.0

package torus_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/osm"
	"example.org/ibconsole/fabric/gen/gentest"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/engines/torus"
)

// document returns the torus of 6 x 5 switches that torus-2QoS(8) draws, with one host each.
func document(t *testing.T) (*cabled, *fabric.Fabric, *osm.TorusConf) {
	t.Helper()
	c := cable(t, rand.New(rand.NewPCG(1, 1)), shape{radix: [3]int{6, 5, 1}, links: [3]int{1, 1, 1}, hosts: 1})
	f := c.build()
	return c, f, c.config(torus.Coordinates{}, torus.Coordinates{}, torus.Coordinates{4, 3})
}

func assign(t *testing.T, f *fabric.Fabric) *fabric.Fabric {
	t.Helper()
	f, err := fabric.AssignLIDs(f)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func route(t *testing.T, f *fabric.Fabric, conf *osm.TorusConf) *routing.Result {
	t.Helper()
	res, err := torus.Engine{Conf: conf}.Route(context.Background(), f, routing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// letters are the switches of the document.
var letters = map[string]torus.Coordinates{
	"m": {0, 1}, "S": {1, 1}, "n": {2, 1}, "T": {3, 1}, "o": {4, 1}, "p": {5, 1}, "I": {2, 2}, "r": {3, 2}, "D": {3, 3},
}

// TestServiceLevelsStay checks that SLs are the same before and after a failure.
func TestServiceLevelsStay(t *testing.T) {
	r := testenv.Rand(t)
	compared := 0
	for range testenv.Count(t, 60, 600) {
		s := randomShape(r)
		c := cable(t, r, s)
		whole := assign(t, c.build())
		conf := c.config(torus.Coordinates{}, torus.Coordinates{}, c.random(r), c.random(r))
		before, err := torus.Engine{Conf: conf}.Route(t.Context(), whole, routing.Options{})
		if err != nil {
			continue // more hosts on a switch than the default allows
		}
		broken, what := c.damaged(r, whole)
		after, err := torus.Engine{Conf: conf}.Route(t.Context(), broken, routing.Options{})
		if err != nil {
			continue
		}
		grid, _ := torus.Of(after.Tables)
		for _, a := range broken.EndPorts {
			for _, b := range broken.EndPorts {
				if !inside(grid, broken, a) || !inside(grid, broken, b) {
					continue
				}
				src, dst := broken.Ports[a].LID, broken.Ports[b].LID
				if x, y := before.Tables.SLs.SL(src, dst), after.Tables.SLs.SL(src, dst); x != y {
					t.Fatalf("%+v%s: service level from LID %d to %d was %d, is %d", s, what, src, dst, x, y)
				}
				compared++
			}
		}
	}
	if compared == 0 {
		t.Error("nothing was compared")
	}
}

func inside(grid *torus.Torus, f *fabric.Fabric, end fabric.PortIndex) bool {
	sw, _ := f.AttachedSwitch(end)
	if sw == fabric.None {
		return false
	}
	_, ok := grid.Coordinates(sw)
	return ok
}

func TestServiceLevels(t *testing.T) {
	c, f, conf := document(t)
	res := route(t, assign(t, f), conf)
	f = res.Tables.Fabric
	lid := func(x, y int) uint16 { return f.Ports[f.Ports[f.Port(c.at[torus.Coordinates{x, y}], 1)].Peer].LID }
	grid, _ := torus.Of(res.Tables)
	second := &torus.PathSLs{Torus: grid, Level: 1}
	for _, k := range []struct {
		x, y int
		want uint8
	}{{0, 0, 0}, {3, 0, 0}, {4, 0, 1}, {0, 2, 0}, {0, 3, 2}, {5, 4, 3}} {
		src, dst := lid(0, 0), lid(k.x, k.y)
		if got := res.Tables.SLs.SL(src, dst); got != k.want {
			t.Errorf("0,0 to %d,%d: service level %d, want %d", k.x, k.y, got, k.want)
		}
		if got := second.SL(src, dst); got != k.want+8 {
			t.Errorf("0,0 to %d,%d: service level %d of the second level, want %d", k.x, k.y, got, k.want+8)
		}
	}
	if got := second.SL(lid(0, 0), f.MaxLID+1); got != 0 {
		t.Errorf("to an unassigned LID: %d, want 0", got)
	}
}

func TestRefusals(t *testing.T) {
	c, f, conf := document(t)
	f = assign(t, f)
	broken := *conf
	broken.Bad = append(broken.Bad, osm.FileNote{File: "f", Line: 3, Text: "bad"})
	for _, k := range []struct {
		f    *fabric.Fabric
		e    torus.Engine
		want string
	}{
		{f, torus.Engine{Conf: conf, NoQoS: true}, "ERR 4E44"},
		{f, torus.Engine{Conf: &broken}, "f:3: bad"},
		{f, torus.Engine{Conf: &osm.TorusConf{}}, "ERR 4E20"},
		{f, torus.Engine{Conf: &osm.TorusConf{Radix: [3]uint32{1 << 31, 1 << 31, 4}}}, "are more than 65536 switches"},
		{f, torus.Engine{Conf: &osm.TorusConf{Radix: [3]uint32{1, 1, 1}}}, "has no seed"},
		{
			f, torus.Engine{Conf: &osm.TorusConf{Radix: [3]uint32{6, 5, 1}}},
			"seed 1: xp_link or xm_link is missing (ERR 4E2B)",
		},
		{c.without(c.without(f, letters["S"], letters["n"]), letters["o"], letters["p"]), torus.Engine{Conf: conf},
			"the x ring at y=1 z=0 is in 2 pieces (ERR 4E33)"},
		{assign(t, cable(t, c.r, shape{radix: [3]int{5, 1, 1}, links: [3]int{1}, hosts: 1}).build()), torus.Engine{},
			"is not a torus"},
	} {
		res, err := k.e.Route(t.Context(), k.f, routing.Options{})
		var refused *routing.RefusedError
		if !errors.As(err, &refused) || res != nil || !strings.Contains(err.Error(), k.want) {
			t.Errorf("%v, expected a refusal with %q", err, k.want)
		}
	}
}

func TestWarnings(t *testing.T) {
	c, f, conf := document(t)
	f = c.without(c.without(f, letters["T"], letters["T"]), torus.Coordinates{0, 4}, torus.Coordinates{0, 0})
	res := route(t, assign(t, f), conf)
	all := strings.Join(res.Warnings, "\n")
	for _, want := range []string{"1 of 30 switches are missing: at 3,1,0", "6 links of the torus are missing"} {
		if !strings.Contains(all, want) {
			t.Errorf("warnings %q, want %q", all, want)
		}
	}
}

func TestCancelled(t *testing.T) {
	_, f, conf := document(t)
	f = assign(t, f)
	for _, e := range []torus.Engine{{Conf: conf}, {}} {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if res, err := e.Route(ctx, f, routing.Options{}); !errors.Is(err, context.Canceled) || res != nil {
			t.Errorf("%v, want that it was cancelled", err)
		}
		ctx, cancel = context.WithCancel(t.Context())
		opt := routing.Options{Progress: func(int, int) { cancel() }}
		if _, err := e.Route(ctx, f, opt); !errors.Is(err, context.Canceled) {
			t.Errorf("in progress: %v, want that it was cancelled", err)
		}
		cancel()
	}
}

func TestProgressReachesTheEnd(t *testing.T) {
	_, f, conf := document(t)
	var mu sync.Mutex
	most, all := 0, 0
	opt := routing.Options{Progress: func(done, total int) {
		mu.Lock()
		defer mu.Unlock()
		most, all = max(most, done), total
	}}
	if _, err := (torus.Engine{Conf: conf}).Route(t.Context(), assign(t, f), opt); err != nil {
		t.Fatal(err)
	}
	if most != 30 || all != 30 {
		t.Errorf("%d of %d steps, want 30 of 30", most, all)
	}
}

func TestBadInput(t *testing.T) {
	_, f, conf := document(t)
	if _, err := (torus.Engine{Conf: conf}).Route(t.Context(), f, routing.Options{}); err == nil ||
		!strings.Contains(err.Error(), "has no LID") {
		t.Errorf("without LIDs: %v", err)
	}
}

// drawing draws a tree on a plane like the document, from the top row down.
func (c *cabled) drawing(f *fabric.Fabric, tree *torus.Tree) string {
	var grid [13][34]byte
	for i := range grid {
		for j := range grid[i] {
			grid[i][j] = ' '
		}
	}
	c.places(func(at torus.Coordinates) {
		s := f.Nodes[c.at[at]].Switch
		if !f.SwitchNode(s).InSubnet {
			return
		}
		row, col := 9-2*at[1], 3+5*at[0]
		grid[row][col] = '+'
		if s == tree.Root {
			grid[row][col] = 'x'
			return
		}
		up, _ := tree.Coordinates(tree.Parent[s])
		for end, other := range map[torus.Coordinates]torus.Coordinates{at: up, up: at} {
			row, col := 9-2*end[1], 3+5*end[0]
			switch dx, dy := other[0]-end[0], other[1]-end[1]; {
			case dx == 1 || dx < -1:
				copy(grid[row][col+1:], "----"[:min(4, len(grid[row])-col-1)])
				if dx < -1 {
					copy(grid[row][col+1:], "--  ")
				}
			case dx > 1:
				copy(grid[row][col-2:], "--")
			case dy == 1 || dy < -1:
				grid[row-1][col] = '|'
			case dy > 1:
				grid[row+1][col] = '|'
			}
		}
	})
	var b strings.Builder
	for _, row := range grid[:12] {
		if line := strings.TrimRight(string(row[:]), " "); line != "" {
			fmt.Fprintln(&b, line)
		}
	}
	return b.String()
}

// TestMulticastTreesOfTheDocument compares with the trees of torus-2QoS(8), MULTICAST ROUTING.
func TestMulticastTreesOfTheDocument(t *testing.T) {
	for _, k := range []struct {
		lost [2]torus.Coordinates
		want string
	}{
		{[2]torus.Coordinates{{}, {1, 1}}, `
   +    +    +    +    +    +
   |    |    |    |    |    |
   +    +    +    +    +    +
   |    |    |    |    |    |
   +----+----+----x----+----+
   |    |    |    |    |    |
   +    +    +    +    +    +
   |    |    |    |    |    |
   +    +    +    +    +    +
`}, {[2]torus.Coordinates{{2, 2}, {3, 2}}, `
   +    +    +    +    +    +
   |    |    |    |    |    |
   +    +    +    +    +    +
   |    |    |    |    |    |
 --+----+----+    x----+----+--
   |    |    |    |    |    |
   +    +    +    +    +    +
   |    |    |    |    |    |
   +    +    +    +    +    +
`}, {[2]torus.Coordinates{{3, 2}, {3, 2}}, `
                  |
   +    +    +    +    +    +
   |    |    |    |    |    |
   +    +    +    +    +    +
   |    |    |         |    |
   +    +    +         +    +
   |    |    |         |    |
   +----+----x----+----+----+
   |    |    |    |    |    |
   +    +    +    +    +    +
                  |
`},
	} {
		c, f, conf := document(t)
		f = c.without(f, k.lost[0], k.lost[1])
		res := route(t, assign(t, f), conf)
		grid, _ := torus.Of(res.Tables)
		if got := "\n" + c.drawing(f, grid.MasterTree()); got != k.want {
			t.Errorf("without %v: %s\nwant %s", k.lost, got, k.want)
		}
	}
}

// TestGroupTree compares the part of the master tree for two members with one made by hand.
func TestGroupTree(t *testing.T) {
	c, f, conf := document(t)
	res := route(t, assign(t, f), conf)
	f = res.Tables.Fabric
	grid, _ := torus.Of(res.Tables)
	var members []fabric.PortIndex
	for _, at := range []torus.Coordinates{{0, 4}, {2, 2}} {
		members = append(members, f.Ports[f.Port(c.at[at], 1)].Peer)
	}
	mft := fabric.NewMFT(f, fabric.FirstMLID)
	if _, err := grid.MasterTree().AddGroup(mft, fabric.FirstMLID, members); err != nil {
		t.Fatal(err)
	}
	want := map[torus.Coordinates]int{{3, 2}: 1, {2, 2}: 3, {1, 2}: 2, {0, 2}: 2, {0, 3}: 2, {0, 4}: 2}
	for s := range f.NumSwitches() {
		at, _ := grid.Coordinates(s)
		p := slices.Collect(mft.Each(s, fabric.FirstMLID))
		if len(p) != want[at] {
			t.Errorf("%v sends the group to ports %d, want %d ports", at, p, want[at])
		}
	}
	if _, err := grid.MasterTree().AddGroup(mft, 7, nil); err == nil {
		t.Error("LID 7 is taken for a multicast LID")
	}
}

// BenchmarkLargest routes a torus with nearly as many LIDs as possible, with a configuration and without.
func BenchmarkLargest(b *testing.B) {
	f := gentest.WithLIDs(b, "torus:14x14x15,hosts=15")
	conf, err := torus.Recognise(b.Context(), f)
	if err != nil {
		b.Fatal(err)
	}
	for name, e := range map[string]torus.Engine{"configured": {Conf: conf}, "recognised": {}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := e.Route(b.Context(), f, routing.Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// FuzzConfig checks that a torus is routed or refused with any configuration.
func FuzzConfig(f *testing.F) {
	var fabrics []*fabric.Fabric
	for _, spec := range []string{"torus:4x3x2,links=2", "mesh:5x4", "random:12,4,12", "fattree:2,4"} {
		g := gentest.WithLIDs(f, spec)
		fabrics = append(fabrics, g)
	}
	f.Add("torus 4 3 2\nxp_link 0x200000 0x200006\nxm_link 0x200000 0x200012\nyp_link 0x200000 0x200002\nzp_link "+
		"0x200000 0x200001\nport_order 3 1\n", uint8(0))
	f.Add("mesh 5 4 1\nxp_link 0x200000 0x200004\nyp_link 0x200000 0x200001\nportgroup_max_ports 2\n", uint8(1))
	f.Add("torus 3t 3t 2m\nxp_link 0x200000 0x200004\nyp_link 0x200000 0x200001\nzm_link 0x200000 "+
		"0x200003\nx_dateline -1", uint8(2))
	f.Add("torus 2 2 2\nxp_link 0x200000 0x200004\nyp_link 0x200000 0x200005\nzm_link 0x200000 0x200003\nnext_seed\n",
		uint8(3))
	f.Fuzz(func(t *testing.T, text string, which uint8) {
		conf, err := osm.ReadTorusConf(strings.NewReader(text), "f")
		if err != nil {
			t.Fatal(err)
		}
		res, err := torus.Engine{Conf: conf}.Route(t.Context(), fabrics[int(which)%len(fabrics)], routing.Options{})
		var refused *routing.RefusedError
		if err != nil && !errors.As(err, &refused) {
			t.Fatal(err)
		}
		if err != nil {
			return
		}
		grid, ok := torus.Of(res.Tables)
		if !ok || grid.MasterTree() == nil {
			t.Fatal("tables without a torus or its tree")
		}
	})
}
