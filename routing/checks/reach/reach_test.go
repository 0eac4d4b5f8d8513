// SPDX-License-Identifier: Apache-2.0

package reach

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/checks/trees/treestest"
	"example.org/ibconsole/routing/checks/walk"
)

// slow returns the result of walking each pair of the end ports of the whole fabric.
func slow(t *fabric.Tables, switches bool) *Result {
	f, whole := t.Fabric, t.Fabric.Whole()
	r := &Result{}
	least := routing.NewDistances(f)
	var ends []fabric.PortIndex
	for _, e := range whole.EndPorts {
		if switches || !f.Nodes[f.Ports[e].Node].IsSwitch() {
			ends = append(ends, e)
		}
	}
	r.Ends = len(ends)
	for _, dst := range ends {
		if !slices.Contains(f.EndPorts, dst) {
			r.UnreachableEnds++
		}
		for _, src := range ends {
			if src == dst {
				continue
			}
			r.Pairs++
			bad, unknown := 0, 0
			for n := range 1 << f.Ports[dst].LMC {
				v := walk.DeadEnd
				if slices.Contains(f.EndPorts, src) && slices.Contains(f.EndPorts, dst) {
					v = r.walk(t, src, dst, f.Ports[dst].LID+uint16(n), least)
				} else {
					r.Paths++
					r.Counts.Unreachable++
				}
				if v == walk.Unknown {
					unknown++
				} else if v != walk.Delivered && v != walk.TooLong {
					bad++
				}
			}
			switch {
			case bad > 0:
				r.LostPairs++
			case unknown > 0:
				r.UnknownPairs++
			}
		}
	}
	return r
}

func (r *Result) walk(t *fabric.Tables, src, dst fabric.PortIndex, lid uint16, least *routing.Distances) walk.Verdict {
	f := t.Fabric
	p := treestest.Walk(t, src, lid)
	r.Paths++
	*r.count(p.Verdict)++
	if p.Verdict != walk.Delivered {
		r.Troubles = append(r.Troubles, Path{src, dst, lid, p.Verdict})
	}
	if !p.Verdict.Arrives() {
		return p.Verdict
	}
	for len(r.Links) <= len(p.Out) {
		r.Links = append(r.Links, 0)
	}
	r.Links[len(p.Out)]++
	a, _ := f.AttachedSwitch(src)
	b, port := f.AttachedSwitch(dst)
	if a == fabric.None || b == fabric.None {
		return p.Verdict
	}
	need := int(least.Least(a, b))
	if !f.Nodes[f.Ports[src].Node].IsSwitch() {
		need++
	}
	if port != 0 {
		need++
	}
	if len(p.Out) > need {
		r.NotMinimal++
	}
	return p.Verdict
}

func TestCheckAgainstWalkingEachPair(t *testing.T) {
	rnd := testenv.Rand(t)
	var seen Counts
	separated, partly := 0, int64(0)
	for i := range testenv.Count(t, 60, 600) {
		good := treestest.Minhop(t, treestest.Random(t, rnd))
		tables := treestest.Broken(rnd, good, rnd.IntN(40))
		if i%5 == 0 {
			tables = good
		}
		if i%3 == 0 {
			tables = failed(rnd, tables)
		}
		opt := Options{Switches: rnd.IntN(2) == 0, Examples: 1 << 30}
		got, err := Check(t.Context(), tables, opt)
		if err != nil {
			t.Fatal(err)
		}
		same(t, fmt.Sprint("case ", i), got, slow(tables, opt.Switches))
		for _, p := range got.Troubles {
			if path := walk.Trace(tables, p.Src, p.LID); path.Verdict != p.Verdict {
				t.Errorf("case %d: a path is listed as %v, Trace returns %v", i, p.Verdict, path.Verdict)
			}
		}
		separated += got.UnreachableEnds
		partly += got.LostPairs - (got.Unreachable + got.Loops + got.Misdelivered)
		seen.Unreachable += got.Unreachable
		seen.Loops += got.Loops
		seen.Misdelivered += got.Misdelivered
		seen.Unknown += got.Unknown
		seen.NotMinimal += got.NotMinimal
	}
	if seen.Unreachable*seen.Loops*seen.Misdelivered*seen.Unknown*seen.NotMinimal == 0 {
		t.Errorf("some kinds of trouble did not occur: %+v", seen)
	}
	if separated == 0 || partly == 0 {
		t.Errorf("%d end ports were unreachable, and paths and pairs that are lost differ by %d: want some of each",
			separated, partly)
	}
}

// failed returns tables on the rest of their fabric after some links failed.
func failed(rnd *rand.Rand, t *fabric.Tables) *fabric.Tables {
	links := t.Fabric.Links()
	var down []fabric.Link
	for range min(len(links), 1+rnd.IntN(4)) {
		down = append(down, links[rnd.IntN(len(links))])
	}
	part := *t
	part.Fabric = t.Fabric.Without(down)
	return &part
}

func same(t *testing.T, what string, got, want *Result) {
	t.Helper()
	if got.Counts != want.Counts || got.Ends != want.Ends || got.UnreachableEnds != want.UnreachableEnds ||
		got.Pairs != want.Pairs ||
		got.LostPairs != want.LostPairs || got.UnknownPairs != want.UnknownPairs ||
		!slices.Equal(got.Links, want.Links) {
		t.Errorf("%s: %+v, walked %+v", what, got, want)
	}
	listed := map[Path]bool{}
	for _, p := range got.Troubles {
		listed[p] = true
	}
	for _, p := range want.Troubles {
		if !listed[p] {
			t.Errorf("%s: %+v is not listed", what, p)
		}
	}
	if len(got.Troubles) != len(want.Troubles) {
		t.Errorf("%s: %d troubles listed, walked %d", what, len(got.Troubles), len(want.Troubles))
	}
}

// TestTooLong has a row of 70 switches, in which many pairs are too far apart.
func TestTooLong(t *testing.T) {
	tables := treestest.Minhop(t, treestest.Made(t, "mesh:70x1"))
	got, err := Check(t.Context(), tables, Options{Examples: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "row", got, slow(tables, false))
	// Hosts i apart are i+2 links apart, so those 62 to 69 apart are: 8+7+...+1, both ways.
	if got.TooLong != 72 {
		t.Errorf("%d paths too long, want 72", got.TooLong)
	}
}

// TestTroublesAreBoundedAndOrdered checks that the list is bounded for each kind and in order.
func TestTroublesAreBoundedAndOrdered(t *testing.T) {
	rnd := testenv.Rand(t)
	tables := treestest.Broken(rnd, treestest.Minhop(t, treestest.Made(t, "fattree:2,8")), 200)
	all, err := Check(t.Context(), tables, Options{Examples: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	few, err := Check(t.Context(), tables, Options{Examples: 3})
	if err != nil {
		t.Fatal(err)
	}
	var want []Path
	taken := map[walk.Verdict]int{}
	for _, p := range all.Troubles {
		if taken[p.Verdict] < 3 {
			want = append(want, p)
		}
		taken[p.Verdict]++
	}
	if !slices.Equal(few.Troubles, want) {
		t.Errorf("%v, want %v", few.Troubles, want)
	}
	for i := 1; i < len(all.Troubles); i++ {
		a, b := all.Troubles[i-1], all.Troubles[i]
		if a.Verdict == b.Verdict &&
			(a.LID > b.LID || a.LID == b.LID && tables.Fabric.Ports[a.Src].LID >= tables.Fabric.Ports[b.Src].LID) {
			t.Errorf("%v comes before %v", a, b)
		}
	}
}

// TestUnassigned has a port without a LID, which no packet can reach.
func TestUnassigned(t *testing.T) {
	f := treestest.Made(t, "fattree:2,4")
	tables := treestest.Minhop(t, f)
	lids := make([]uint16, len(f.EndPorts))
	left := 0
	for i, e := range f.EndPorts {
		lids[i] = f.Ports[e].LID
		if !f.Nodes[f.Ports[e].Node].IsSwitch() && left < 2 {
			lids[i] = 0
			left++
		}
	}
	g, err := f.WithLIDs(lids)
	if err != nil {
		t.Fatal(err)
	}
	tables.Fabric = g
	r, err := Check(t.Context(), tables, Options{Examples: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	if lost := int64(8*7 - 6*5); r.Unassigned != 2 || r.Unreachable != lost || r.LostPairs != lost ||
		r.UnlistedPaths != lost || r.Delivered != 6*5 {
		t.Errorf("%+v, %d listed", r, len(r.Troubles))
	}
}

// TestCheckAgainstIbdmchk compares the number of paths by number of links with ibdmchk.
func TestCheckAgainstIbdmchk(t *testing.T) {
	rnd := testenv.Rand(t)
	for i := range testenv.Count(t, 10, 60) {
		tables := treestest.Minhop(t, treestest.Irregular(t, rnd))
		if i%3 == 0 {
			tables = treestest.Minhop(t,
				treestest.Made(t, []string{"fattree:2,8", "torus:4x4", "dragonfly:2,2,1", "hypercube:4"}[rnd.IntN(4)]))
		}
		if i%2 == 0 {
			for range rnd.IntN(8) {
				sw := fabric.SwitchIndex(rnd.IntN(len(tables.Known)))
				tables.LFT.Row(sw)[1+rnd.IntN(int(tables.LFT.MaxLID))] = fabric.NoPath
			}
		}
		r, err := Check(t.Context(), tables, Options{})
		if err != nil {
			t.Fatal(err)
		}
		theirs := treestest.Ibdmchk(t, tables)
		total := int64(0)
		for links, n := range r.Links {
			total += n
			if theirs.Hops[links] != n {
				t.Errorf("case %d: %d paths of %d links, ibdmchk has %d\n%s", i, n, links, theirs.Hops[links],
					theirs.Text)
			}
		}
		if theirs.Failed != r.Unreachable || total != r.Delivered {
			t.Errorf("case %d: %d paths fail, ibdmchk has %d\n%s", i, r.Unreachable, theirs.Failed, theirs.Text)
		}
	}
}

func TestCheckStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	tables := treestest.Minhop(t, treestest.Made(t, "torus:4x4"))
	if r, err := Check(ctx, tables, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, error %v", r, err)
	}
}

func BenchmarkCheckFatTree11664(b *testing.B) {
	t := treestest.Routed(b, "fattree:3,36")
	for b.Loop() {
		r, err := Check(context.Background(), t, Options{})
		if err != nil || r.Delivered != 11664*11663 || r.NotMinimal != 0 {
			b.Fatal(r, err)
		}
	}
}
