// SPDX-License-Identifier: Apache-2.0

package sssp

import (
	"math/rand/v2"
	"slices"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// deadlocksOf returns the deadlocks of the tables for a fabric.
func deadlocksOf(t *testing.T, spec string) *deadlocks {
	t.Helper()
	r, err := newRouter(graphOf(t, spec).f, &routing.Options{}, "dfsssp", 2)
	if err == nil {
		err = r.route(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	return newDeadlocks(r, true)
}

// Paths fit one VL if breaking the cycles of the first one finds none. If fewer VLs are counted than paths need, the
// result is one more than counted.
func TestVLsThatCount(t *testing.T) {
	for spec, isTree := range map[string]bool{
		"fattree:3,8": true, "mesh:5,hosts=2": true, "torus:5x4,hosts=2": false, "dragonfly:4,2,2": false,
		"hypercube:5": false, "random:40,6,80": false,
	} {
		d := deadlocksOf(t, spec)
		needed := func(upTo int) int {
			d.needed, d.upTo, d.vls, d.done = 1, upTo, routing.MostDataVLs, 0
			d.layerOf = make([]uint8, len(d.dests)*len(d.groups))
			if err := d.breakCycles(t.Context()); err != nil {
				t.Fatal(err)
			}
			return d.needed
		}
		most := needed(routing.MostDataVLs)
		fit, err := d.fitOneVL(t.Context())
		if err != nil || fit != isTree || fit != (most == 1) {
			t.Errorf("%s fits one VL: %v, %v; its paths need %d", spec, fit, err, most)
		}
		for upTo := 1; upTo < most; upTo++ {
			if got := needed(upTo); got != upTo+1 {
				t.Errorf("%s needs %d VLs where %d count, want %d", spec, got, upTo, upTo+1)
			}
		}
	}
}

// TestBehind compares the destinations behind edges with those found by following the paths.
func TestBehind(t *testing.T) {
	d := deadlocksOf(t, "random:30,5,40")
	deps := newDependencies(d.graph)
	want := make([][]uint16, len(deps.has)*64)
	for i := range d.dests {
		ports := d.portsTo(&d.dests[i])
		for _, s := range d.members {
			if s == d.dests[i].sw {
				continue
			}
			c := d.arc(s, ports[s])
			if via := d.to[c]; via != d.dests[i].sw {
				slot := deps.slot[c] + d.arc(via, ports[via])
				want[slot] = append(want[slot], uint16(i))
			}
		}
	}
	b, err := listBehind(t.Context(), d, &deps)
	if err != nil {
		t.Fatal(err)
	}
	for slot := range want {
		if got := b.of(int32(slot)); !slices.Equal(got, want[slot]) {
			t.Fatalf("slot %d: %d, want %d", slot, got, want[slot])
		}
	}
}

// randomLayer returns a VL with random edges.
func randomLayer(g *graph, r *rand.Rand, edges int) *layer {
	l := newLayer(g)
	for range edges {
		c := int32(r.IntN(len(g.to)))
		low, high := g.first[g.to[c]], g.first[g.to[c]+1]
		then := low + r.Int32N(high-low)
		l.see(c)
		l.see(then)
		l.join(c, then)
		l.pairs[l.slot[c]+then] = r.Uint32N(6)
	}
	return l
}

// plainCuts returns the edges to remove until no cycle is left, by a walk that restarts after each cycle and checks all
// edges again (search_cycle_in_channel_dep_graph).
func plainCuts(l *layer) (cuts [][2]int32) {
	const unknown, open, closed = 0, 1, 2
	state, before := make([]int, len(l.to)), slices.Repeat([]int32{fabric.None}, len(l.to))
	ahead := func(c int32) int32 {
		for e := l.head[c]; e != 0; e = l.edges[e].next {
			if to := l.edges[e].target; state[to] != closed && !slices.Contains(cuts, [2]int32{c, to}) {
				return to
			}
		}
		return fabric.None
	}
	for _, at := range l.starts() {
		if state[at] != unknown {
			continue
		}
		for at != fabric.None {
			state[at] = open
			switch to := ahead(at); {
			case to == fabric.None:
				state[at] = closed
				at, before[at] = before[at], fabric.None
			case state[to] == open:
				from, c := to, to
				for {
					if l.pairs[l.slot[c]+ahead(c)] < l.pairs[l.slot[from]+ahead(from)] {
						from = c
					}
					state[c] = unknown
					if c = ahead(c); c == to {
						break
					}
				}
				cuts = append(cuts, [2]int32{from, ahead(from)})
				at = to
			default:
				before[to], at = at, to
			}
		}
	}
	return cuts
}

// TestCuts checks that the walk that continues after a cut makes the same cuts as one that restarts, and that there is
// no cycle then, which the topological order of channels confirms.
func TestCuts(t *testing.T) {
	g := graphOf(t, "torus:4x3x3")
	cyclic := 0
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 2))
		l := randomLayer(g, r, 10+r.IntN(900))
		w, rest := newWalker(l), newDependencies(g)
		copy(rest.has, l.has)
		var cuts [][2]int32
		for c := w.cycle(); c != fabric.None; c = w.cycle() {
			from, then := w.cut(c)
			cuts = append(cuts, [2]int32{from, then})
			slot := rest.slot[from] + then
			rest.has[slot/64] &^= 1 << (slot % 64)
		}
		if want := plainCuts(l); !slices.Equal(cuts, want) {
			t.Fatalf("seed %d: cuts %d, want %d", seed, cuts, want)
		}
		if l.cyclic() != (len(cuts) > 0) || rest.cyclic() {
			t.Fatalf("seed %d: cyclic %v before %d cuts, and %v after", seed, l.cyclic(), len(cuts), rest.cyclic())
		}
		if len(cuts) > 0 {
			cyclic++
		}
	}
	if cyclic < 100 || cyclic == 200 {
		t.Errorf("%d of 200 are cyclic", cyclic)
	}
}
