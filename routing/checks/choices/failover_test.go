// SPDX-License-Identifier: Apache-2.0

package choices

import (
	"math/rand/v2"
	"slices"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/adaptive"
	"example.org/ibconsole/routing/checks/trees/treestest"
	"example.org/ibconsole/routing/engines/minhop"
)

// TestFailOverAgainstEnumeration compares the state of pairs after link failures with walks along each single path,
// with and without the links.
func TestFailOverAgainstEnumeration(t *testing.T) {
	r := testenv.Rand(t)
	var seen Failover
	for i, want := 0, testenv.Count(t, 40, 500); i < want && !t.Failed(); {
		f := treestest.Random(t, r)
		before := *shortest(t, f)
		if r.IntN(2) == 0 {
			before.Adaptive = treestest.RandomAdaptive(r, &before)
		}
		if r.IntN(2) == 0 {
			before.SLs = oddSLs{}
		}
		after := before
		after.Fabric = f.Without(someLinks(r, f))
		if !fabric.KeepsLIDs(f, after.Fabric) || !fabric.SameNodes(f, after.Fabric) {
			continue
		}
		plain, ok := walkOver(&before, &after)
		if !ok {
			continue
		}
		i++
		got, err := FailOver(t.Context(), &before, &after, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if n := len(got.Examples); n != int(min(got.Luck+got.Stuck, defaultExamples)) {
			t.Errorf("case %d: %d examples of %+v", i, n, got)
		}
		seen.add(got, 0)
		if got.Examples = nil; !equal(got, plain) {
			t.Errorf("case %d: counted %+v, walked %+v", i, *got, *plain)
		}
	}
	t.Logf("pairs: %+v", seen)
	if seen.Untouched == 0 || seen.Over == 0 || seen.Luck == 0 || seen.Stuck == 0 || seen.Unreachable == 0 ||
		seen.Bad == 0 {
		t.Error("want pairs of each kind")
	}
}

// shortest returns tables with groups of all ports on shortest paths.
func shortest(t *testing.T, f *fabric.Fabric) *fabric.Tables {
	t.Helper()
	res, err := minhop.Engine{}.Route(t.Context(), f, routing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	grouped, err := adaptive.Grouped(t.Context(), res.Tables, res.Hops, adaptive.Always)
	if err != nil {
		t.Fatal(err)
	}
	return grouped
}

func equal(a, b *Failover) bool {
	return a.Paths == b.Paths && a.Untouched == b.Untouched && a.Over == b.Over && a.Luck == b.Luck &&
		a.Stuck == b.Stuck && a.Unreachable == b.Unreachable && a.Bad == b.Bad
}

func someLinks(r *rand.Rand, f *fabric.Fabric) []fabric.Link {
	all := slices.Clone(f.Links())
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:min(len(all), 1+r.IntN(4))]
}

// walkOver walks all paths of all pairs, and reports whether they were few enough.
func walkOver(before, after *fabric.Tables) (*Failover, bool) {
	f := before.Fabric
	var r Failover
	var ends []fabric.PortIndex
	for _, p := range f.EndPorts {
		if !f.Nodes[f.Ports[p].Node].IsSwitch() {
			ends = append(ends, p)
		}
	}
	there := func(p fabric.PortIndex) bool {
		return after.Fabric.PortByLID(f.Ports[p].LID) == p
	}
	for _, dst := range ends {
		for _, src := range ends {
			for lid := f.Ports[dst].LID; src != dst && lid < f.Ports[dst].LID+1<<f.Ports[dst].LMC; lid++ {
				was, now := from(before, src, lid), from(after, src, lid)
				if was.steps > stop || now.steps > stop {
					return nil, false
				}
				r.Paths++
				slices.Sort(was.all)
				slices.Sort(now.all)
				switch reach := now.endings.Reach(); {
				case was.endings.Reach() != Sure:
					r.Bad++
				case !there(src) || !there(dst):
					r.Unreachable++
				case reach == Sure && slices.Equal(was.all, now.all):
					r.Untouched++
				case reach == Sure:
					r.Over++
				case reach == Never:
					r.Stuck++
				default:
					r.Luck++
				}
			}
		}
	}
	return &r, true
}

// TestFailOverOfATree removes the link of one of two spines to the second of three leaves, with a host each. Packets of
// the first and the third leaf to the second arrive by luck, because the spine that lost its link still receives half
// of them, and only a subnet manager can change that. Packets of the second leaf use the other spine at once. Pairs of
// the first and the third leaf are not affected.
func TestFailOverOfATree(t *testing.T) {
	f, err := gen.ParseSpec("xgft:2,1,3,1,2")
	if err != nil {
		t.Fatal(err)
	}
	if f, err = fabric.AssignLIDs(f); err != nil {
		t.Fatal(err)
	}
	before := shortest(t, f)
	uplinks, hosts := 0, 0
	after := *before
	for _, l := range f.Links() {
		a, b := f.Ports[l.A].Node, f.Ports[l.B].Node
		if f.Nodes[a].IsSwitch() && f.Nodes[b].IsSwitch() {
			after.Fabric = f.Without([]fabric.Link{l})
			uplinks++
		} else {
			hosts++
		}
	}
	got, err := FailOver(t.Context(), before, &after, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if want := (Failover{Paths: 6, Untouched: 2, Over: 2, Luck: 2}); uplinks != 6 || hosts != 3 || !equal(got, &want) {
		t.Errorf("of %d and %d links %+v, want %+v", uplinks, hosts, *got, want)
	}
}
