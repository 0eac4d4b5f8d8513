// SPDX-License-Identifier: Apache-2.0

package diff

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/checks/trees/treestest"
	"example.org/ibconsole/routing/checks/walk"
	"example.org/ibconsole/routing/engines/minhop"
)

// slowly counts the pairs by walking each of them, and the paths by the name "GUID/num" of the port by which they leave
// a switch.
type slowly struct {
	pairs              Pairs
	pathsOld, pathsNew map[string]int64
	kinds              map[string]string
}

func slow(before, after *fabric.Tables) slowly {
	s := slowly{pathsOld: map[string]int64{}, pathsNew: map[string]int64{}, kinds: map[string]string{}}
	var guids []uint64
	for _, t := range []*fabric.Tables{before, after} {
		for _, e := range slices.Concat(t.Fabric.EndPorts, t.Fabric.Unreachable) {
			if g := t.Fabric.Ports[e].GUID; !t.Fabric.Nodes[t.Fabric.Ports[e].Node].IsSwitch() &&
				!slices.Contains(guids, g) {
				guids = append(guids, g)
			}
		}
	}
	for _, src := range guids {
		for _, dst := range guids {
			if src == dst {
				continue
			}
			s.pairs.Total++
			s.pair(before, after, src, dst)
		}
	}
	return s
}

// pair walks to each LID that the destination has in either state, in turn where one state has more of them.
func (s *slowly) pair(before, after *fabric.Tables, src, dst uint64) {
	was, is := lids(before, dst), lids(after, dst)
	vo, vn, same := walk.Delivered, walk.Delivered, true
	worse := func(a, b walk.Verdict) walk.Verdict {
		switch {
		case !a.Arrives() && a != walk.Unknown || b.Arrives():
			return a
		case a == walk.Unknown && b == walk.Unknown:
			return a
		}
		return b
	}
	for k := range max(len(was), len(is)) {
		old, now := map[string]int64{}, map[string]int64{}
		v, po := trace(before, src, dst, was[k%len(was)], old)
		w, pn := trace(after, src, dst, is[k%len(is)], now)
		vo, vn, same = worse(vo, v), worse(vn, w), same && po == pn
		if v == walk.Unknown || w == walk.Unknown { // loads count only paths that are known in both states
			continue
		}
		if k < len(was) {
			merge(s.pathsOld, old)
		}
		if k < len(is) {
			merge(s.pathsNew, now)
		}
	}
	s.count(vo, vn, same, fmt.Sprintf("%x %x", src, dst))
}

// lids returns the LIDs of an end port, or only 0 if it has none.
func lids(t *fabric.Tables, guid uint64) (all []uint16) {
	p := t.Fabric.PortByGUID(guid)
	if p == fabric.None || t.Fabric.Ports[p].LID == 0 {
		return []uint16{0}
	}
	for k := range uint16(1) << t.Fabric.Ports[p].LMC {
		all = append(all, t.Fabric.Ports[p].LID+k)
	}
	return all
}

func merge(all, some map[string]int64) {
	for port, n := range some {
		all[port] += n
	}
}

func (s *slowly) count(vo, vn walk.Verdict, same bool, pair string) {
	var n *int64
	switch {
	case vo == walk.Unknown || vn == walk.Unknown:
		n, s.kinds[pair] = &s.pairs.Unknown, "unknown"
	case vo.Arrives() && vn.Arrives() && same:
		n, s.kinds[pair] = &s.pairs.Same, "same"
	case vo.Arrives() && vn.Arrives():
		n, s.kinds[pair] = &s.pairs.Changed, "changed"
	case vo.Arrives():
		n, s.kinds[pair] = &s.pairs.Lost, "lost"
	case vn.Arrives():
		n, s.kinds[pair] = &s.pairs.Connected, "connected"
	default:
		n, s.kinds[pair] = &s.pairs.Unreached, "unreached"
	}
	*n++
}

// trace walks one pair and returns the path as text, by GUIDs and port numbers.
func trace(t *fabric.Tables, src, dst uint64, lid uint16, paths map[string]int64) (walk.Verdict, string) {
	f := t.Fabric
	s, d := f.PortByGUID(src), f.PortByGUID(dst)
	if s == fabric.None || d == fabric.None || f.Ports[s].LID == 0 || f.Ports[d].LID == 0 {
		return walk.DeadEnd, ""
	}
	p := walk.Trace(t, s, lid)
	var b strings.Builder
	for _, h := range p.Hops {
		for _, port := range []fabric.PortIndex{h.In, h.Out} {
			if port != fabric.None {
				b.WriteString(portKey(f, port) + " ")
			}
		}
		if p.Verdict.Arrives() && h.Out != fabric.None && f.Nodes[h.Node].IsSwitch() {
			paths[portKey(f, h.Out)]++
		}
	}
	return p.Verdict, b.String()
}

func portKey(f *fabric.Fabric, port fabric.PortIndex) string {
	p := &f.Ports[port]
	return fmt.Sprintf("%x/%d", f.Nodes[p.Node].GUID, p.Num)
}

// shuffled returns the fabric with its nodes in another order, so that all indexes differ, and some links exchanged or
// removed.
func shuffled(t *testing.T, rnd *rand.Rand, f *fabric.Fabric, exchange, drop int) *fabric.Fabric {
	t.Helper()
	var b fabric.Builder
	index := make([]fabric.NodeIndex, len(f.Nodes))
	sm := f.Ports[f.SMPort]
	for _, i := range rnd.Perm(len(f.Nodes)) {
		n := f.Nodes[i]
		added, err := b.AddNode(n)
		if err != nil {
			t.Fatal(err)
		}
		index[i] = added
		for num := range int(n.NumPorts) + 1 {
			if p := b.Port(added, num); p != nil {
				peer, node := p.Peer, p.Node
				*p = f.Ports[f.Port(fabric.NodeIndex(i), uint8(num))]
				p.Peer, p.Node = peer, node
			}
		}
	}
	links := f.Links()
	rnd.Shuffle(len(links), func(i, j int) { links[i], links[j] = links[j], links[i] })
	for range exchange {
		i, j := rnd.IntN(len(links)), rnd.IntN(len(links))
		links[i].B, links[j].B = links[j].B, links[i].B
	}
	for _, l := range links[drop:] {
		p, q := &f.Ports[l.A], &f.Ports[l.B]
		if err := b.Connect(index[p.Node], int(p.Num), index[q.Node], int(q.Num)); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.SetSMPort(index[sm.Node], int(sm.Num)); err != nil {
		t.Fatal(err)
	}
	g, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func withLMC(t testing.TB, f *fabric.Fabric, lmc uint8) *fabric.Fabric {
	t.Helper()
	if lmc == 0 {
		return f
	}
	a, err := fabric.AssignLIDsWith(f, fabric.LIDOptions{LMC: lmc})
	if err != nil {
		t.Fatal(err)
	}
	return a.Fabric
}

func route(t testing.TB, f *fabric.Fabric) *fabric.Tables {
	t.Helper()
	f, err := fabric.AssignLIDs(f)
	if err != nil {
		t.Fatal(err)
	}
	r, err := minhop.Engine{}.Route(context.Background(), f, routing.Options{LMC: f.MaxLMC()})
	if err != nil {
		t.Fatal(err)
	}
	return r.Tables
}

// broken returns the tables with some random entries, and sometimes with an unread switch or a lower LinearFDBTop.
func broken(rnd *rand.Rand, t *fabric.Tables, entries int) *fabric.Tables {
	c := *t
	c.LFT, c.Known, c.Top = t.LFT.Clone(), slices.Clone(t.Known), slices.Clone(t.Top)
	if len(c.Known) == 0 {
		return &c
	}
	for range entries {
		sw := rnd.IntN(len(c.Known))
		n := t.Fabric.SwitchNode(fabric.SwitchIndex(sw)).NumPorts
		c.LFT.Row(fabric.SwitchIndex(sw))[rnd.IntN(int(t.LFT.MaxLID)+1)] = uint8(rnd.IntN(int(n) + 2))
	}
	if rnd.IntN(3) == 0 {
		c.Known[rnd.IntN(len(c.Known))] = false
	}
	if rnd.IntN(3) == 0 {
		c.Top[rnd.IntN(len(c.Top))] -= uint16(rnd.IntN(5))
	}
	return &c
}

// permuted returns the fabric with the LIDs of its end ports exchanged at random.
func permuted(t *testing.T, rnd *rand.Rand, f *fabric.Fabric) *fabric.Fabric {
	t.Helper()
	lids := make([]uint16, len(f.EndPorts))
	for i, e := range f.EndPorts {
		lids[i] = f.Ports[e].LID
	}
	for range 3 {
		i, j := rnd.IntN(len(lids)), rnd.IntN(len(lids))
		lids[i], lids[j] = lids[j], lids[i]
	}
	g, err := f.WithLIDs(lids)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// fewer returns the fabric without n random links.
func fewer(rnd *rand.Rand, f *fabric.Fabric, n int) *fabric.Fabric {
	links := f.Links()
	rnd.Shuffle(len(links), func(i, j int) { links[i], links[j] = links[j], links[i] })
	return f.Without(links[:n])
}

// TestCompareAgainstWalkingEachPair compares random changes of every kind with a walk of each pair.
func TestCompareAgainstWalkingEachPair(t *testing.T) {
	rnd := testenv.Rand(t)
	specs := []string{"random:7,3,20", "fattree:2,4", "torus:3x3 hosts=2", "fattree:3,4", "random:1,0,3",
		"hypercube:3 hosts=1"}
	seen := Pairs{}
	for i := range testenv.Count(t, 60, 600) {
		f := treestest.Made(t, specs[i%len(specs)])
		links := len(f.Links())
		before := broken(rnd, route(t, withLMC(t, fewer(rnd, f, rnd.IntN(2)), uint8(i/len(specs)%2))), rnd.IntN(8))
		var after *fabric.Tables
		switch rnd.IntN(5) {
		case 0: // a failure without new routing
			after = broken(rnd, before, rnd.IntN(4))
			after.Fabric = fewer(rnd, before.Fabric, rnd.IntN(min(4, links)))
		case 1: // a failure and a new routing, by more LIDs or as many
			after = route(t, withLMC(t, fewer(rnd, f, rnd.IntN(min(4, links))), uint8(rnd.IntN(3))))
		case 2: // other LIDs
			after = broken(rnd, route(t, permuted(t, rnd, f)), rnd.IntN(8))
		case 3: // other indexes and other cables
			after = broken(rnd, route(t, shuffled(t, rnd, f, rnd.IntN(3), rnd.IntN(3))), rnd.IntN(8))
		case 4: // the same wires
			after = broken(rnd, before, rnd.IntN(20))
		}
		if rnd.IntN(2) == 0 {
			before, after = after, before
		}
		seen = check(t, before, after, seen)
		if t.Failed() {
			t.Fatalf("case %d, %s", i, specs[i%len(specs)])
		}
	}
	if seen.Same*seen.Changed*seen.Lost*seen.Connected*seen.Unreached*seen.Unknown == 0 {
		t.Errorf("some kinds of pairs did not occur: %+v", seen)
	}
}

func check(t *testing.T, before, after *fabric.Tables, seen Pairs) Pairs {
	t.Helper()
	want := slow(before, after)
	got, err := Compare(context.Background(), before, after, Options{Examples: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	if got.Pairs != want.pairs {
		t.Errorf("%+v, walked %+v", got.Pairs, want.pairs)
	}
	for kind, pairs := range map[string][]Pair{
		"lost": got.Lost, "connected": got.Connected, "changed": got.Changed,
	} {
		n := 0
		for _, k := range want.kinds {
			if k == kind {
				n++
			}
		}
		if n != len(pairs) {
			t.Errorf("%d pairs %s, walked %d", len(pairs), kind, n)
		}
		for _, p := range pairs {
			if k := want.kinds[fmt.Sprintf("%x %x", uint64(p.Src.GUID), uint64(p.Dst.GUID))]; k != kind {
				t.Errorf("%s -> %s is %s, walked %s", p.Src.Name, p.Dst.Name, kind, k)
			}
		}
	}
	checkLoads(t, before, after, got, want)
	checkEntries(t, before, after, got)
	sum := Pairs{
		Same: seen.Same + got.Pairs.Same, Changed: seen.Changed + got.Pairs.Changed, Lost: seen.Lost +
			got.Pairs.Lost,
		Connected: seen.Connected + got.Pairs.Connected, Unreached: seen.Unreached + got.Pairs.Unreached,
		Unknown: seen.Unknown + got.Pairs.Unknown,
	}
	return sum
}

func checkLoads(t *testing.T, before, after *fabric.Tables, got *Result, want slowly) {
	t.Helper()
	listed := map[string]bool{}
	for _, l := range got.Loads {
		key := fmt.Sprintf("%x/%d", uint64(l.From.GUID), l.From.Num)
		listed[key] = true
		if l.PathsOld != want.pathsOld[key] || l.PathsNew != want.pathsNew[key] {
			t.Errorf("%s: %d then %d paths, walked %d then %d", l.From.Name, l.PathsOld, l.PathsNew, want.pathsOld[key],
				want.pathsNew[key])
		}
		for tables, n := range map[*fabric.Tables]int{before: l.EntriesOld, after: l.EntriesNew} {
			sw := tables.Fabric.SwitchByGUID(uint64(l.From.GUID))
			count := 0
			for lid := 1; lid <= int(tables.LFT.MaxLID) && sw != fabric.None && tables.Known[sw] &&
				tables.Fabric.SwitchNode(sw).InSubnet; lid++ {
				if tables.Port(sw, uint16(lid)) == l.From.Num {
					count++
				}
			}
			if count != n {
				t.Errorf("%s: %d entries, counted %d", l.From.Name, n, count)
			}
		}
	}
	unread := func(t *fabric.Tables, guid string) bool {
		var g uint64
		_, _ = fmt.Sscanf(guid, "%x/", &g)
		sw := t.Fabric.SwitchByGUID(g)
		return sw != fabric.None && t.Fabric.SwitchNode(sw).InSubnet && !t.Known[sw]
	}
	for _, paths := range []map[string]int64{want.pathsOld, want.pathsNew} {
		for key := range paths {
			if want.pathsOld[key] != want.pathsNew[key] && !listed[key] && !unread(before, key) && !unread(after, key) {
				t.Errorf("%s: %d paths, then %d, and not listed", key, want.pathsOld[key], want.pathsNew[key])
			}
		}
	}
}

func checkEntries(t *testing.T, before, after *fabric.Tables, got *Result) {
	t.Helper()
	changed, blocks := 0, map[[2]int]bool{}
	for so, n := range before.Fabric.Switches {
		guid := before.Fabric.Nodes[n].GUID
		sn := after.Fabric.SwitchByGUID(guid)
		if sn == fabric.None || !before.Known[so] || !after.Known[sn] {
			continue
		}
		for lid := uint16(1); lid <= max(before.LFT.MaxLID, after.LFT.MaxLID); lid++ {
			if before.Port(fabric.SwitchIndex(so), lid) != after.Port(sn, lid) {
				changed++
				blocks[[2]int{so, int(lid) / 64}] = true
			}
		}
	}
	if got.Entries.Changed != changed || got.Entries.Blocks != len(blocks) {
		t.Errorf("%d entries in %d blocks, counted %d in %d", got.Entries.Changed, got.Entries.Blocks, changed,
			len(blocks))
	}
	n := 0
	for e := range Changes(before, after) {
		if before.Port(e.SwitchOld, e.LID) != e.Old || after.Port(e.SwitchNew, e.LID) != e.New || e.Old == e.New {
			t.Errorf("wrong entry %+v", e)
		}
		n++
	}
	if n != changed {
		t.Errorf("iterated over %d entries, counted %d", n, changed)
	}
}

// TestCompareLargerAgainstWalkingEachPair has 648 hosts and 54 switches, two failed links with new routing, and then
// thousands of broken entries.
func TestCompareLargerAgainstWalkingEachPair(t *testing.T) {
	if !testenv.Full() {
		t.Skip("walks 840,000 pairs: only in full runs")
	}
	rnd := testenv.Rand(t)
	f := treestest.Made(t, "fattree:2,36")
	before, after := route(t, f), route(t, fewer(rnd, f, 2))
	check(t, before, after, Pairs{})
	check(t, before, broken(rnd, after, 5000), Pairs{})
}
