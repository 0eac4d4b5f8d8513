// SPDX-License-Identifier: Apache-2.0

package credits

import (
	"slices"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/routing/checks/trees/treestest"
)

// plainChange returns the graph from a walk of every source to every LID in which each switch may forward by either
// table, but not by the old one if that was already replaced when the previous switch got its new entry.
func plainChange(before, after *fabric.Tables, turns *fabric.LFT) plain {
	f := before.Fabric
	p := plain{}
	for _, src := range f.EndPorts {
		for _, dst := range f.EndPorts {
			start, _ := f.AttachedSwitch(src)
			if src == dst || f.Nodes[f.Ports[src].Node].IsSwitch() || f.Nodes[f.Ports[dst].Node].IsSwitch() ||
				start == fabric.None {
				continue
			}
			for i := range 1 << f.Ports[dst].LMC {
				lid := f.Ports[dst].LID + uint16(i)
				type state struct {
					sw    fabric.SwitchIndex
					came  Channel
					since uint8
				}
				todo, done := []state{{start, Channel{Port: fabric.None}, 0}}, map[state]bool{}
				for len(todo) > 0 {
					at := todo[len(todo)-1]
					todo = todo[:len(todo)-1]
					if done[at] {
						continue
					}
					done[at] = true
					for i, t := range []*fabric.Tables{before, after} {
						differ := before.Port(at.sw, lid) != after.Port(at.sw, lid)
						turn := turns.Port(at.sw, lid)
						if i == 0 && differ && turn > 0 && turn < at.since {
							continue
						}
						since := uint8(0)
						if i == 1 && differ {
							since = turn
						}
						out, node := t.Port(at.sw, lid), f.SwitchNode(at.sw)
						if !t.Known[at.sw] || out == 0 || out > node.NumPorts ||
							f.PeerSwitch(node.FirstPort+fabric.PortIndex(out)) == fabric.None {
							continue
						}
						c := Channel{Port: node.FirstPort + fabric.PortIndex(out)}
						p.add(at.came, c)
						p.add(Channel{Port: fabric.None}, c)
						todo = append(todo, state{f.PeerSwitch(c.Port), c, since})
					}
				}
			}
		}
	}
	return p
}

func TestChangeAgainstWalkingEachPair(t *testing.T) {
	rnd := testenv.Rand(t)
	only, free := 0, 0
	for i := range testenv.Count(t, 300, 1000) {
		f := treestest.Irregular(t, rnd)
		before, after := treestest.Updn(t, f), treestest.Minhop(t, f)
		if rnd.IntN(2) == 0 {
			after = treestest.Broken(rnd, before, rnd.IntN(10))
			after.Fabric = f
		}
		turns := fabric.NewLFT(len(f.Switches), f.MaxLID)
		for s := range f.NumSwitches() {
			for lid := range turns.Row(s) {
				turns.Row(s)[lid] = uint8(rnd.IntN(4))
			}
		}
		r, err := CheckChange(t.Context(), before, after, turns, Options{})
		if err != nil {
			t.Fatal(err)
		}
		want := plainChange(before, after, turns)
		dependencies := 0
		for _, to := range want {
			dependencies += len(to)
		}
		if r.Channels != len(want) || r.Dependencies != dependencies || want.girth() != len(r.Ring) {
			t.Errorf("case %d: %d channels, %d dependencies, a ring of %d; walked %d, %d, %d", i, r.Channels,
				r.Dependencies, len(r.Ring), len(want), dependencies, want.girth())
		}
		one, err := Check(t.Context(), after, Options{})
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case r.Ring == nil:
			free++
		case one.Ring == nil:
			only++
		}
	}
	if only == 0 || free == 0 {
		t.Errorf("%d rings in the change alone, %d without", only, free)
	}
}

// TestChangeToItself compares a change from tables to themselves with a check of the tables.
func TestChangeToItself(t *testing.T) {
	rnd := testenv.Rand(t)
	for range testenv.Count(t, 20, 200) {
		tables := someTables(t, rnd)
		one, err := Check(t.Context(), tables, Options{})
		if err != nil {
			t.Fatal(err)
		}
		both, err := CheckChange(t.Context(), tables, tables, nil, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(one.Ring, both.Ring) || one.Channels != both.Channels ||
			one.Dependencies != both.Dependencies {
			t.Errorf("%+v, and of the change to itself %+v", one, both)
		}
	}
}

func BenchmarkChangeFatTree11664(b *testing.B) {
	f := treestest.Made(b, "fattree:3,36")
	links := f.Links()
	before, after := treestest.Minhop(b, f), treestest.Minhop(b, f.Without(links[len(links)-1:]))
	for b.Loop() {
		if _, err := CheckChange(b.Context(), before, after, nil, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// TestChangeOfSL2VL follows every pair by unchanged tables while each port may have its old SL2VL table or its new one.
func TestChangeOfSL2VL(t *testing.T) {
	rnd := testenv.Rand(t)
	only, rings := 0, 0
	for i := range testenv.Count(t, 30, 300) {
		f := treestest.Irregular(t, rnd)
		if i%2 == 0 {
			f = treestest.Made(t, "torus:4x4 hosts=1")
		}
		before := *treestest.Minhop(t, f)
		after := before
		before.SL2VL, after.SL2VL = randomSL2VL(rnd, f, 2, rnd.IntN(2) == 0), randomSL2VL(rnd, f, 2, false)
		want := plain{}
		for _, src := range f.EndPorts {
			for _, dst := range f.EndPorts {
				sw, in := f.AttachedSwitch(src)
				if src == dst || f.Nodes[f.Ports[src].Node].IsSwitch() || f.Nodes[f.Ports[dst].Node].IsSwitch() ||
					sw == fabric.None {
					continue
				}
				came := []Channel{{Port: fabric.None}}
				for range len(f.Switches) {
					out, node := before.Port(sw, f.Ports[dst].LID), f.Switches[sw]
					next := f.PeerSwitch(f.Port(node, out))
					if out == 0 || next == fabric.None {
						break
					}
					var now []Channel
					for _, vl := range []uint8{before.SL2VL.VL(node, in, out, 0), after.SL2VL.VL(node, in, out, 0)} {
						if c := (Channel{f.Port(node, out), vl}); vl != 15 && !slices.Contains(now, c) {
							now = append(now, c)
							want.add(Channel{Port: fabric.None}, c)
							for _, from := range came {
								want.add(from, c)
							}
						}
					}
					came, in, sw = now, f.Ports[f.Ports[f.Port(node, out)].Peer].Num, next
				}
			}
		}
		r, err := CheckChange(t.Context(), &before, &after, nil, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if want.girth() != len(r.Ring) {
			t.Errorf("case %d: a ring of %d, walked %d", i, len(r.Ring), want.girth())
		}
		old, err := Check(t.Context(), &before, Options{})
		if err != nil {
			t.Fatal(err)
		}
		new, err := Check(t.Context(), &after, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Ring != nil {
			rings++
		}
		if r.Ring != nil && old.Ring == nil && new.Ring == nil {
			only++
		}
	}
	if rings == 0 {
		t.Error("there was no ring at all")
	}
	t.Logf("%d rings, %d of them in the change alone", rings, only)
}
