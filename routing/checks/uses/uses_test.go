// SPDX-License-Identifier: Apache-2.0

package uses

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/routing/checks/trees/treestest"
	"example.org/ibconsole/routing/checks/walk"
)

// slow examines each path.
func slow(t *fabric.Tables, what Target, switches bool) (r Result, from, to map[fabric.PortIndex]int64,
	paths map[Path]bool) {
	f := t.Fabric
	from, to, paths = map[fabric.PortIndex]int64{}, map[fabric.PortIndex]int64{}, map[Path]bool{}
	isEnd := func(e fabric.PortIndex) bool { return switches || !f.Nodes[f.Ports[e].Node].IsSwitch() }
	for _, dst := range f.EndPorts {
		for _, src := range f.EndPorts {
			for n := range 1 << f.Ports[dst].LMC {
				lid := f.Ports[dst].LID + uint16(n)
				if src == dst || !isEnd(src) || !isEnd(dst) {
					continue
				}
				p := treestest.Walk(t, src, lid)
				if p.Verdict == walk.Unknown {
					r.Unknown++
				}
				if !p.Verdict.Arrives() {
					continue
				}
				r.All++
				if takes(f, what, src, p.Out) {
					r.Paths++
					from[src]++
					to[dst]++
					paths[Path{src, dst, lid}] = true
				}
			}
		}
	}
	return r, from, to, paths
}

func takes(f *fabric.Fabric, what Target, src fabric.PortIndex, out []fabric.PortIndex) bool {
	nodes := []fabric.NodeIndex{f.Ports[src].Node}
	for _, p := range out {
		if l, ok := f.LinkOf(p); ok && slices.Contains(what.Links, l) {
			return true
		}
		nodes = append(nodes, f.PeerNode(p))
	}
	for _, n := range nodes {
		if s := f.Nodes[n].Switch; s != fabric.None && slices.Contains(what.Switches, s) {
			return true
		}
	}
	return false
}

func something(rnd *rand.Rand, f *fabric.Fabric) Target {
	links := f.Links()
	w := Target{Links: []fabric.Link{links[rnd.IntN(len(links))]}}
	switch rnd.IntN(3) {
	case 0:
		w.Links = append(w.Links, links[rnd.IntN(len(links))], links[rnd.IntN(len(links))])
	case 1:
		w = Target{Switches: []fabric.SwitchIndex{fabric.SwitchIndex(rnd.IntN(len(f.Switches)))}}
	}
	return w
}

func TestUsesAgainstWalkingEachPair(t *testing.T) {
	rnd := testenv.Rand(t)
	for i := range testenv.Count(t, 40, 400) {
		tables := treestest.Broken(rnd, treestest.Minhop(t, treestest.Random(t, rnd)), rnd.IntN(20))
		what := something(rnd, tables.Fabric)
		opt := Options{Switches: rnd.IntN(2) == 0, Examples: 1 << 30}
		got, err := Find(t.Context(), tables, what, opt)
		if err != nil {
			t.Fatal(err)
		}
		want, from, to, paths := slow(tables, what, opt.Switches)
		if got.Paths != want.Paths || got.All != want.All || got.Unknown != want.Unknown ||
			len(got.Examples) != len(paths) {
			t.Errorf("case %d: %d of %d paths, %d unknown, %d listed; walked %d of %d, %d unknown", i, got.Paths,
				got.All, got.Unknown, len(got.Examples), want.Paths, want.All, want.Unknown)
		}
		for _, p := range got.Examples {
			if !paths[p] {
				t.Errorf("case %d: %+v does not use it", i, p)
			}
		}
		sameUses(t, "sources", got.Sources, from)
		sameUses(t, "destinations", got.Destinations, to)
	}
}

func sameUses(t *testing.T, what string, got []Use, want map[fabric.PortIndex]int64) {
	t.Helper()
	for i, u := range got {
		if want[u.Port] != u.Paths {
			t.Errorf("%s: %+v, walked %d", what, u, want[u.Port])
		}
		if i > 0 && u.Paths > got[i-1].Paths {
			t.Errorf("%s: %+v comes after %+v", what, u, got[i-1])
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d %s, walked %d", len(got), what, len(want))
	}
}

// TestUsesByHand has two switches with two hosts each and one cable: of 12 paths 8 use the cable, 6 the link of a host,
// and 10 a switch. A failed switch makes its two hosts unreachable.
func TestUsesByHand(t *testing.T) {
	tables := treestest.Minhop(t, treestest.Made(t, "mesh:2x1,hosts=2"))
	f := tables.Fabric
	var cable, host fabric.Link
	sm, _ := f.LinkOf(f.SMPort)
	for _, l := range f.Links() {
		switch {
		case f.PeerSwitch(l.A) != fabric.None && f.PeerSwitch(l.B) != fabric.None:
			cable = l
		case l != sm:
			host = l
		}
	}
	smSwitch := f.PeerSwitch(f.SMPort)
	for name, tc := range map[string]struct {
		what  Target
		paths int64
		users int
		cut   int
	}{
		"cable":            {Target{Links: []fabric.Link{cable}}, 8, 4, 2},
		"host link":        {Target{Links: []fabric.Link{host}}, 6, 4, 1},
		"switch":           {Target{Switches: []fabric.SwitchIndex{1 - smSwitch}}, 10, 4, 2},
		"switch of the SM": {Target{Switches: []fabric.SwitchIndex{smSwitch}}, 10, 4, 2},
		"nothing":          {Target{}, 0, 0, 0},
		"all, each path once": {
			Target{Switches: []fabric.SwitchIndex{0, 1}, Links: []fabric.Link{host, cable}}, 12, 4, 4,
		},
	} {
		r, err := Find(t.Context(), tables, tc.what, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if r.All != 12 || r.Paths != tc.paths || len(r.Sources) != tc.users || len(r.Destinations) != tc.users ||
			len(r.Unreachable) != tc.cut {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

func TestExamplesAreBoundedAndOrdered(t *testing.T) {
	tables := treestest.Minhop(t, treestest.Made(t, "fattree:2,8"))
	what := Target{Switches: []fabric.SwitchIndex{tables.Fabric.PeerSwitch(tables.Fabric.SMPort)}}
	all, errAll := Find(t.Context(), tables, what, Options{Examples: 1 << 30})
	few, errFew := Find(t.Context(), tables, what, Options{Examples: 7})
	if errAll != nil || errFew != nil || !slices.Equal(few.Examples, all.Examples[:7]) || few.Paths != all.Paths {
		t.Errorf("%+v, %v, %v", few, errAll, errFew)
	}
	for i := 1; i < len(all.Examples); i++ {
		a, b := all.Examples[i-1], all.Examples[i]
		if a.LID > b.LID || a.LID == b.LID && tables.Fabric.Ports[a.Src].LID >= tables.Fabric.Ports[b.Src].LID {
			t.Errorf("%v comes before %v", a, b)
		}
	}
}

func TestOfStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	tables := treestest.Minhop(t, treestest.Made(t, "torus:4x4"))
	if r, err := Find(ctx, tables, Target{}, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%+v, error %v", r, err)
	}
}

func BenchmarkOfFatTree11664(b *testing.B) {
	t := treestest.Minhop(b, treestest.Made(b, "fattree:3,36"))
	what := Target{Switches: []fabric.SwitchIndex{1600}}
	for b.Loop() {
		if r, err := Find(context.Background(), t, what, Options{}); err != nil || r.All != 11664*11663 {
			b.Fatal(r, err)
		}
	}
}
