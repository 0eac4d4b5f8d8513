// SPDX-License-Identifier: Apache-2.0

package choices

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/adaptive"
	"example.org/ibconsole/routing/checks/reach"
	"example.org/ibconsole/routing/checks/trees/treestest"
	"example.org/ibconsole/routing/engines/updn"
)

// TestCompareAgainstEnumeration compares random tables before and after, with other groups, broken entries or fewer
// links, with walks of each single path.
func TestCompareAgainstEnumeration(t *testing.T) {
	r := testenv.Rand(t)
	changed, kept := int64(0), int64(0)
	var seen [Unknown + 1][Unknown + 1]int64
	for i, want := 0, testenv.Count(t, 40, 500); i < want && !t.Failed(); {
		before := *treestest.Minhop(t, treestest.Random(t, r))
		if r.IntN(3) > 0 {
			before.Adaptive = treestest.RandomAdaptive(r, &before)
		}
		after := before
		switch r.IntN(3) {
		case 0:
			after = *treestest.Broken(r, &before, 1+r.IntN(3))
		case 1:
			after.Adaptive = treestest.RandomAdaptive(r, &after)
		}
		if links := after.Fabric.Links(); r.IntN(2) == 0 && len(links) > 0 {
			after.Fabric = after.Fabric.Without(links[r.IntN(len(links)):][:1])
		}
		if r.IntN(3) == 0 {
			before.SLs = oddSLs{}
		}
		got, few := compareBoth(t, r, i, &before, &after)
		if !few {
			continue
		}
		i++
		changed += got.Changed
		kept += got.Pairs[Sure][Sure] - got.Changed
		for was := range got.Pairs {
			for is, n := range got.Pairs[was] {
				seen[was][is] += n
			}
		}
	}
	if changed == 0 || kept == 0 || seen[Sure][Never] == 0 || seen[Sure][Luck] == 0 || seen[Never][Never] == 0 {
		t.Errorf("%d pairs changed, %d kept, %v: want some of each", changed, kept, seen)
	}
}

// compareBoth reports whether the paths were few enough to try all.
func compareBoth(t *testing.T, r *rand.Rand, i int, before, after *fabric.Tables) (*Comparison, bool) {
	t.Helper()
	f := before.Fabric
	var ends []End
	reachable, unreachable := f.Ends(false)
	for _, p := range append(reachable, unreachable...) {
		ends = append(ends, End{f.PortByGUID(f.Ports[p].GUID), after.Fabric.PortByGUID(f.Ports[p].GUID)})
	}
	r.Shuffle(len(ends), func(i, j int) { ends[i], ends[j] = ends[j], ends[i] })
	var pairs [Unknown + 1][Unknown + 1]int64
	changed := int64(0)
	for _, src := range ends {
		for _, dst := range ends {
			if src == dst {
				continue
			}
			was, old, few := reachOf(before, src.Before, dst.Before)
			is, now, fewToo := reachOf(after, src.After, dst.After)
			if !few || !fewToo {
				return nil, false
			}
			pairs[was][is]++
			if was == Sure && is == Sure && old != now {
				changed++
			}
		}
	}
	got, err := Compare(t.Context(), before, after, ends, Options{Examples: 3})
	if err != nil {
		t.Fatal(err)
	}
	if got.Pairs != pairs || got.Changed != changed {
		t.Errorf("case %d: %v, %d changed; walked %v, %d changed", i, got.Pairs, got.Changed, pairs, changed)
	}
	return got, true
}

// reachOf returns how all LIDs of an end port are reached from another, and the paths.
func reachOf(t *fabric.Tables, src, dst fabric.PortIndex) (worst Reach, paths string, few bool) {
	if src == fabric.None || dst == fabric.None || t.Fabric.Ports[dst].LID == 0 {
		return Never, "", true
	}
	for k := range uint16(1) << t.Fabric.Ports[dst].LMC {
		p := from(t, src, t.Fabric.Ports[dst].LID+k)
		if p.steps > stop {
			return 0, "", false
		}
		reach := p.endings.Reach()
		if worst == 0 || worst != Never && (reach == Never || worst != Luck && (reach == Luck || worst == Sure)) {
			worst = reach
		}
		set := map[string]bool{}
		for _, one := range p.all {
			set[one] = true
		}
		paths += fmt.Sprint(set) // ordered by key
	}
	return worst, paths, true
}

// grouped returns a fat tree of 11,664 hosts, each LID with a group of all ports on shortest up/down paths.
func grouped(b *testing.B) *fabric.Tables {
	b.Helper()
	res, err := updn.Engine{}.Route(context.Background(), treestest.Made(b, "fattree:3,36"), routing.Options{})
	if err != nil {
		b.Fatal(err)
	}
	t, err := adaptive.Grouped(context.Background(), res.Tables, res.Hops, adaptive.Always)
	if err != nil {
		b.Fatal(err)
	}
	return t
}

func BenchmarkCheckFatTree11664(b *testing.B) {
	t := grouped(b)
	b.Run("static", func(b *testing.B) {
		for b.Loop() {
			if _, err := reach.Check(context.Background(), t, reach.Options{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("adaptive", func(b *testing.B) {
		for b.Loop() {
			r, err := Check(context.Background(), t, Options{})
			if err != nil || r.Sure != 11664*11663 {
				b.Fatal(r, err)
			}
		}
	})
}
