// SPDX-License-Identifier: Apache-2.0

package credits

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/ibnet"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/checks/trees"
	"example.org/ibconsole/routing/checks/trees/treestest"
	"example.org/ibconsole/routing/engines/sssp"
)

// plain is the channel dependency graph from a walk of each pair.
type plain map[Channel]map[Channel]bool

func (p plain) add(from, to Channel) {
	for _, c := range []Channel{from, to} {
		if c.Port != fabric.None && p[c] == nil {
			p[c] = map[Channel]bool{}
		}
	}
	if from.Port != fabric.None && to.Port != fabric.None {
		p[from][to] = true
	}
}

// channels returns the channels that packets use between switches, in order, and in a loop until they repeat.
func channels(t *fabric.Tables, src fabric.PortIndex, lid uint16, sl uint8) []Channel {
	f := t.Fabric
	at, in := f.Nodes[f.Ports[src].Node].Switch, uint8(0)
	if at == fabric.None {
		peer := f.Ports[src].Peer
		if at = f.PeerSwitch(src); at == fabric.None {
			return nil
		}
		in = f.Ports[peer].Num
	}
	var list []Channel
	for range 16*len(f.Switches) + 16 {
		out := t.Port(at, lid)
		node := f.SwitchNode(at)
		if !t.Known[at] || out == 0 || out > node.NumPorts {
			return list
		}
		vl := uint8(0)
		if t.SL2VL != nil {
			vl = t.SL2VL.VL(f.Switches[at], in, out, sl)
		}
		port := node.FirstPort + fabric.PortIndex(out)
		if vl == 15 || f.PeerSwitch(port) == fabric.None {
			return list
		}
		list = append(list, Channel{port, vl})
		at, in = f.PeerSwitch(port), f.Ports[f.Ports[port].Peer].Num
	}
	return list
}

func plainGraph(t *fabric.Tables, switches bool) plain {
	f := t.Fabric
	p := plain{}
	isEnd := func(e fabric.PortIndex) bool { return switches || !f.Nodes[f.Ports[e].Node].IsSwitch() }
	for _, src := range f.EndPorts {
		for _, dst := range f.EndPorts {
			if src == dst || !isEnd(src) || !isEnd(dst) {
				continue
			}
			for i := range 1 << f.Ports[src].LMC {
				for j := range 1 << f.Ports[dst].LMC {
					lid := f.Ports[dst].LID + uint16(j)
					for _, sl := range slsBetween(t, f.Ports[src].LID+uint16(i), lid) {
						last := Channel{Port: fabric.None}
						for _, c := range channels(t, src, lid, sl) {
							p.add(last, c)
							last = c
						}
					}
				}
			}
		}
	}
	return p
}

// slsBetween returns the SLs that packets from one LID to another may have.
func slsBetween(t *fabric.Tables, src, dst uint16) []uint8 {
	switch sls := t.SLs.(type) {
	case nil:
		return []uint8{0}
	case drawnSLs:
		return sls.between(src, dst)
	default:
		return []uint8{sls.SL(src, dst)}
	}
}

// firstLID returns the lowest LID whose packets cause a dependency.
func firstLID(t *fabric.Tables, switches bool, d Dependency) uint16 {
	f := t.Fabric
	for lid := uint16(1); lid <= f.MaxLID; lid++ {
		dst := f.PortByLID(lid)
		for _, src := range f.EndPorts {
			isEnd := func(e fabric.PortIndex) bool { return switches || !f.Nodes[f.Ports[e].Node].IsSwitch() }
			if dst == fabric.None || src == dst || !isEnd(src) || !isEnd(dst) {
				continue
			}
			for i := range 1 << f.Ports[src].LMC {
				for _, sl := range slsBetween(t, f.Ports[src].LID+uint16(i), lid) {
					last := Channel{Port: fabric.None}
					for _, c := range channels(t, src, lid, sl) {
						if last == d.From && c == d.To {
							return lid
						}
						last = c
					}
				}
			}
		}
	}
	return 0
}

// girth returns the length of a shortest cycle, 0 for none.
func (p plain) girth() int {
	best := 0
	for start := range p {
		far := map[Channel]int{}
		queue := []Channel{start}
		for len(queue) > 0 {
			c := queue[0]
			queue = queue[1:]
			for to := range p[c] {
				if to == start && (best == 0 || far[c]+1 < best) {
					best = far[c] + 1
				}
				if _, ok := far[to]; !ok && to != start {
					far[to] = far[c] + 1
					queue = append(queue, to)
				}
			}
		}
	}
	return best
}

// drawnSLs assigns one to four SLs to each pair of LIDs.
type drawnSLs struct{ randomSLs }

func (d drawnSLs) between(src, dst uint16) (all []uint8) {
	first := d.SL(src, dst)
	for i := range 1 + (src*7+dst)%4 {
		all = append(all, first+uint8(i))
	}
	return all
}

// Range implements [fabric.RangedSLs].
func (d drawnSLs) Range(src, dst uint16) fabric.SLRange {
	return fabric.SLRange{First: d.SL(src, dst), N: uint8(len(d.between(src, dst)))}
}

// randomSLs assigns random but fixed SLs to pairs of LIDs.
type randomSLs struct {
	seed uint64
	sls  uint64
}

func (r randomSLs) SL(src, dst uint16) uint8 {
	return uint8(rand.New(rand.NewPCG(r.seed, uint64(src)<<16|uint64(dst))).Uint64N(r.sls))
}

// randomSL2VL maps SLs to random VLs at each port.
func randomSL2VL(r *rand.Rand, f *fabric.Fabric, vls int, drop bool) *fabric.SL2VL {
	s := fabric.NewSL2VL(f)
	some := make([]fabric.VLs, 1+r.IntN(4))
	for i := range some {
		for sl := range some[i] {
			some[i][sl] = uint8(r.IntN(vls))
			if drop && r.IntN(20) == 0 {
				some[i][sl] = 15
			}
		}
	}
	for _, n := range f.Switches {
		for in := range int(f.Nodes[n].NumPorts) + 1 {
			for out := range int(f.Nodes[n].NumPorts) + 1 {
				s.Set(n, uint8(in), uint8(out), some[r.IntN(len(some))])
			}
		}
	}
	return s
}

// someTables returns tables of a random fabric: correct or broken, with or without VLs and SLs.
func someTables(t *testing.T, rnd *rand.Rand) *fabric.Tables {
	f := treestest.Random(t, rnd)
	tables := treestest.Minhop(t, f)
	if rnd.IntN(2) == 0 {
		tables = treestest.Broken(rnd, tables, rnd.IntN(20))
	}
	if rnd.IntN(3) > 0 {
		tables.SL2VL = randomSL2VL(rnd, tables.Fabric, 1+rnd.IntN(8), rnd.IntN(2) == 0)
	}
	if rnd.IntN(2) == 0 {
		tables.SLs = randomSLs{rnd.Uint64(), 1 + rnd.Uint64N(16)}
	}
	if rnd.IntN(3) == 0 {
		tables.SLs = drawnSLs{randomSLs{rnd.Uint64(), 1 + rnd.Uint64N(13)}}
	}
	return tables
}

func TestDependenciesAgainstWalkingEachPair(t *testing.T) {
	rnd := testenv.Rand(t)
	rings, free := 0, 0
	for i := range testenv.Count(t, 60, 600) {
		tables := someTables(t, rnd)
		opt := Options{Switches: rnd.IntN(2) == 0}
		r, err := Check(t.Context(), tables, opt)
		if err != nil {
			t.Fatal(err)
		}
		want := plainGraph(tables, opt.Switches)
		dependencies, vls := 0, map[uint8]bool{}
		for c, to := range want {
			dependencies += len(to)
			vls[c.VL] = true
		}
		numVLs := len(vls)
		if pairs := trees.NewEnds(tables, opt.Switches).Pairs(); pairs > 0 {
			numVLs = max(numVLs, 1) // that to a host on the same switch
		}
		if r.Channels != len(want) || r.Dependencies != dependencies || r.VLs != numVLs {
			t.Errorf("case %d: %d channels, %d VLs, %d dependencies; walked %d, %d, %d", i, r.Channels, r.VLs,
				r.Dependencies, len(want), numVLs, dependencies)
		}
		if g := want.girth(); g != len(r.Ring) {
			t.Errorf("case %d: a ring of %d, the shortest is of %d", i, len(r.Ring), g)
		}
		if r.Ring == nil {
			free++
		} else {
			rings++
		}
		checkRing(t, tables, r)
		for _, d := range r.Ring {
			if lid := firstLID(tables, opt.Switches, d); lid != d.LID {
				t.Errorf("case %d: the example is %+v, but LID %d is lower", i, d, lid)
			}
		}
	}
	if rings == 0 || free == 0 {
		t.Errorf("%d with rings, %d without", rings, free)
	}
}

// checkRing follows the example packets of each dependency of a ring.
func checkRing(t *testing.T, tables *fabric.Tables, r *Result) {
	t.Helper()
	for i, d := range r.Ring {
		if next := r.Ring[(i+1)%len(r.Ring)]; d.To != next.From {
			t.Errorf("%+v is followed by %+v", d, next)
		}
		if d.LID >= fabric.FirstMLID {
			continue
		}
		f := tables.Fabric
		if d.Src == fabric.None || f.PortByLID(d.LID) != d.Dst || d.Src == d.Dst {
			t.Fatalf("no packets for %+v", d)
		}
		if tables.SLs != nil && tables.SL2VL != nil {
			given := false
			for j := range 1 << f.Ports[d.Src].LMC {
				sls := slsBetween(tables, f.Ports[d.Src].LID+uint16(j), d.LID)
				given = given || slices.Contains(sls, d.SL) && d.SLs.First == sls[0] && int(d.SLs.N) == len(sls)
			}
			if !given {
				t.Errorf("no packets have SL %d, out of %s, in %+v", d.SL, d.SLs, d)
			}
		}
		found := false
		last := Channel{Port: fabric.None}
		for _, c := range channels(tables, d.Src, d.LID, d.SL) {
			found = found || last == d.From && c == d.To
			last = c
		}
		if !found {
			t.Errorf("the packets of %+v do not use these channels", d)
		}
	}
}

// TestCheckAgainstIbdmchk compares with ibdmchk on the same tables.
func TestCheckAgainstIbdmchk(t *testing.T) {
	rnd := testenv.Rand(t)
	loops, free := 0, 0
	for i := range testenv.Count(t, 15, 200) {
		tables := arriving(t, rnd, i)
		r, err := Check(t.Context(), tables, Options{})
		if err != nil {
			t.Fatal(err)
		}
		theirs := treestest.Ibdmchk(t, tables)
		if !theirs.Judged || theirs.Loop != (r.Ring != nil) {
			t.Errorf("case %d, %s: ring %+v, ibdmchk:\n%s", i, tables.Origin, r.Ring, theirs.Text)
		}
		if theirs.Loop {
			loops++
		} else {
			free++
		}
	}
	if loops == 0 || free == 0 {
		t.Errorf("%d with loops, %d without", loops, free)
	}
}

// TestSharedFabricsAgainstIbdmchk compares with ibdmchk on real clusters.
func TestSharedFabricsAgainstIbdmchk(t *testing.T) {
	for _, name := range []string{"real-qdr-11sw.topo", "real-ndr-rail-40sw.topo", "real-fdr10-8sw.topo"} {
		net, err := ibnet.ReadFile(t.Context(), testenv.SharedFile(t, "fabrics/"+name),
			ibnet.Options{Reading: ibnet.AsIbsim})
		if err != nil {
			t.Fatal(err)
		}
		f, err := fabric.AssignLIDs(net.Fabric)
		if err != nil {
			t.Fatal(err)
		}
		tables := treestest.Minhop(t, f)
		r, err := Check(t.Context(), tables, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if theirs := treestest.Ibdmchk(t, tables); !theirs.Judged || theirs.Loop != (r.Ring != nil) {
			t.Errorf("%s: ring %+v, ibdmchk:\n%s", name, r.Ring, theirs.Text)
		}
		checkRing(t, tables, r)
	}
}

// arriving returns tables that deliver all packets, by random shortest paths or by updn.
func arriving(t *testing.T, rnd *rand.Rand, i int) *fabric.Tables {
	f := treestest.Irregular(t, rnd)
	if i%3 == 0 {
		f = treestest.Made(t, []string{"torus:4x4", "torus:5x3", "fattree:2,8", "hypercube:3", "fattree:3,4",
			"dragonfly:2,2,1"}[rnd.IntN(6)])
	}
	var tables *fabric.Tables
	switch rnd.IntN(3) {
	case 0:
		tables = treestest.Updn(t, f)
	case 1:
		tables = treestest.Minhop(t, f)
	default:
		tables = scattered(rnd, f)
	}
	if rnd.IntN(3) == 0 {
		vls := 2 + rnd.IntN(3)
		tables.SL2VL = randomSL2VL(rnd, f, vls, false)
		tables.SLs = nodeSLs{f, randomSLs{rnd.Uint64(), uint64(vls)}}
	}
	return tables
}

// nodeSLs are SLs that all ports of a node share, as ibdmchk assumes, with as many VLs as SLs.
type nodeSLs struct {
	f *fabric.Fabric
	randomSLs
}

func (n nodeSLs) SL(src, dst uint16) uint8 {
	if src == 1 {
		return uint8(n.sls) - 1 // so that ibdmchk counts all SLs
	}
	return n.randomSLs.SL(src, dst)
}

// scattered returns tables in which each switch uses a random shortest path to each LID.
func scattered(rnd *rand.Rand, f *fabric.Fabric) *fabric.Tables {
	least := routing.NewDistances(f)
	lft := fabric.NewLFT(len(f.Switches), f.MaxLID)
	for _, e := range f.EndPorts {
		dst, local := f.AttachedSwitch(e)
		for s := range fabric.SwitchIndex(len(f.Switches)) {
			if s == dst {
				lft.Row(s)[f.Ports[e].LID] = local
				continue
			}
			var ports []uint8
			for p := 1; p <= int(f.SwitchNode(s).NumPorts); p++ {
				if h := least.Through(s, uint8(p), dst); h != routing.NoHops && h == least.Least(s, dst) {
					ports = append(ports, uint8(p))
				}
			}
			lft.Row(s)[f.Ports[e].LID] = ports[rnd.IntN(len(ports))]
		}
	}
	return fabric.NewTables(f, lft, "by lot")
}

// TestPlantedLoopsAreFound plants a loop of some switches into the tables for one LID, in a tree without loops.
func TestPlantedLoopsAreFound(t *testing.T) {
	rnd := testenv.Rand(t)
	for i := range testenv.Count(t, 40, 400) {
		f := treestest.Irregular(t, rnd)
		tables := treestest.Updn(t, f)
		r, err := Check(t.Context(), tables, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Ring != nil {
			t.Fatalf("case %d: updn has the ring %+v", i, r.Ring)
		}
		// Two neighbours send the packets for the host of another switch, or of one of them, to each other.
		g := routing.NewGraph(f)
		s := fabric.SwitchIndex(rnd.IntN(len(f.Switches)))
		l := g.Of(s)[rnd.IntN(len(g.Of(s)))]
		var lid uint16
		for _, e := range f.EndPorts {
			if at, port := f.AttachedSwitch(e); at == l.Peer && port != 0 {
				lid = f.Ports[e].LID
			}
		}
		tables.LFT.Row(s)[lid], tables.LFT.Row(l.Peer)[lid] = l.Port, l.PeerPort
		if r, err = Check(t.Context(), tables, Options{}); err != nil {
			t.Fatal(err)
		}
		if len(r.Ring) != 2 {
			t.Fatalf("case %d: planted a loop of two switches, found %+v", i, r.Ring)
		}
		checkRing(t, tables, r)
	}
}

// clockwise returns a ring of six switches with a host each, with all paths in one direction, and the position of each
// switch.
func clockwise(t *testing.T) (*fabric.Tables, []int) {
	t.Helper()
	f := treestest.Made(t, "torus:6x1")
	g := routing.NewGraph(f)
	place, onward := make([]int, 6), make([]uint8, 6)
	for i, s, last := 0, fabric.SwitchIndex(0), g.Of(0)[0].Peer; i < 6; i++ {
		l := g.Of(s)[0]
		if l.Peer == last {
			l = g.Of(s)[1]
		}
		place[s], onward[s] = i, l.Port
		s, last = l.Peer, s
	}
	lft := fabric.NewLFT(6, f.MaxLID)
	for _, e := range f.EndPorts {
		dst, local := f.AttachedSwitch(e)
		for s := range fabric.SwitchIndex(6) {
			lft.Row(s)[f.Ports[e].LID] = onward[s]
			if s == dst {
				lft.Row(s)[f.Ports[e].LID] = local
			}
		}
	}
	return fabric.NewTables(f, lft, "clockwise"), place
}

// byPlace are SLs by the positions of source and destination.
type byPlace struct {
	f     *fabric.Fabric
	place []int
	level func(a, b int) uint8
}

func (p byPlace) SL(src, dst uint16) uint8 {
	a, _ := p.f.AttachedSwitch(p.f.PortByLID(src))
	b, _ := p.f.AttachedSwitch(p.f.PortByLID(dst))
	return p.level(p.place[a], p.place[b])
}

// TestVLsBreakTheRing routes everything clockwise. On one VL a ring of six waits for itself. VLs break the ring if on
// each of them no path passes one of the switches, as calculated by hand: paths from a to b > a never pass 0, those
// with b <= 3 <= a not 3, those with b <= 1 <= a not 1, and (5, 4) is left.
func TestVLsBreakTheRing(t *testing.T) {
	tables, place := clockwise(t)
	check := func(want int) *Result {
		t.Helper()
		r, err := Check(t.Context(), tables, Options{})
		if err != nil || len(r.Ring) != want {
			t.Fatalf("%+v, %v, expected a ring of %d", r, err, want)
		}
		checkRing(t, tables, r)
		return r
	}
	if r := check(6); r.Cyclic != 6 || r.Rings != 1 || r.Channels != 6 || r.Dependencies != 6 || r.VLs != 1 {
		t.Errorf("%+v", r)
	}
	sls := byPlace{tables.Fabric, place, func(a, b int) uint8 {
		switch {
		case b > a:
			return 0
		case b <= 3 && 3 <= a:
			return 1
		case b <= 1 && 1 <= a:
			return 2
		}
		return 3
	}}
	tables.SLs = sls
	check(6) // without VLs, SLs change nothing
	tables.SL2VL = fabric.NewSL2VL(tables.Fabric)
	check(6) // as long as all map to VL 0
	tables.SL2VL = routing.VLPerSL(tables.Fabric, 8)
	if r := check(0); r.VLs != 4 {
		t.Errorf("%+v", r)
	}
	// The path from 5 to 4 on VL 1 passes 3, where that VL was open.
	tables.SLs = byPlace{tables.Fabric, place, func(a, b int) uint8 {
		if a == 5 && b == 4 {
			return 1
		}
		return sls.level(a, b)
	}}
	r := check(6)
	for _, d := range r.Ring {
		if d.From.VL != 1 {
			t.Errorf("%+v is not on VL 1", d)
		}
	}
	// A VL that drops packets closes nothing.
	var drop fabric.VLs
	for sl := range drop {
		drop[sl] = 15
	}
	for n := range tables.Fabric.Nodes[tables.Fabric.Switches[0]].NumPorts + 1 {
		for m := range tables.Fabric.Nodes[tables.Fabric.Switches[0]].NumPorts + 1 {
			tables.SL2VL.Set(tables.Fabric.Switches[0], n, m, drop)
		}
	}
	check(0)
}

// TestMulticast has a ring of six switches. Unicast that never passes switch 0 closes no ring, and neither does
// multicast that passes only that switch. Together they do.
func TestMulticast(t *testing.T) {
	tables, place := clockwise(t)
	f := tables.Fabric
	at := make([]fabric.SwitchIndex, 6)
	for s, p := range place {
		at[p] = fabric.SwitchIndex(s)
	}
	var outs, ins [6]uint8
	for p := range 6 {
		outs[p] = tables.Port(at[p], f.SwitchLID(at[(p+1)%6]))
		ins[(p+1)%6] = f.Ports[f.Ports[f.Port(f.Switches[at[p]], outs[p])].Peer].Num
	}
	host := func(p int) uint8 {
		for _, e := range f.EndPorts {
			if sw, port := f.AttachedSwitch(e); sw == at[p] && port != 0 {
				return port
			}
		}
		return 0
	}
	// Unicast: only pairs that do not pass switch 0 keep their entries.
	cut := func() {
		for _, e := range f.EndPorts {
			dst, port := f.AttachedSwitch(e)
			if port != 0 && place[dst] != 0 {
				tables.LFT.Row(at[0])[f.Ports[e].LID] = outs[0]
				tables.LFT.Row(at[5])[f.Ports[e].LID] = fabric.NoPath
				if place[dst] == 5 {
					tables.LFT.Row(at[5])[f.Ports[e].LID] = port
				}
			}
		}
	}
	ring := func(want int) *Result {
		t.Helper()
		r, err := Check(t.Context(), tables, Options{})
		if err != nil || len(r.Ring) != want {
			t.Fatalf("%+v, %v, expected a ring of %d", r, err, want)
		}
		checkRing(t, tables, r)
		return r
	}
	cut()
	ring(0)
	const mlid = fabric.FirstMLID + 3
	tables.MFT = fabric.NewMFT(f, mlid)
	ring(0)
	for _, p := range []int{5, 0, 1} { // host 5 - switch 5 - switch 0 - switch 1 - host 1
		if p != 5 {
			tables.MFT.Add(at[p], mlid, ins[p])
		}
		if p != 1 {
			tables.MFT.Add(at[p], mlid, outs[p])
		}
		if p != 0 {
			tables.MFT.Add(at[p], mlid, host(p))
		}
	}
	r := ring(6)
	groups := 0
	for _, d := range r.Ring {
		if d.LID == mlid && d.Dst == fabric.None && d.Src != fabric.None {
			groups++
		}
	}
	if groups != 1 {
		t.Errorf("%d of the dependencies are those of the group, want the one at switch 0: %+v", groups, r.Ring)
	}
	groupSLs(t, *tables, mlid)
	// A group that covers the whole ring waits for itself, without any unicast.
	for s := range f.NumSwitches() {
		for lid := range tables.LFT.Row(s) {
			tables.LFT.Row(s)[lid] = fabric.NoPath
		}
	}
	ring(0)
	for p := range 6 {
		tables.MFT.Add(at[p], mlid, ins[p])
		tables.MFT.Add(at[p], mlid, outs[p])
	}
	ring(6)
}

// groupSLs checks that unicast with SL 0 and a group close a ring together if both use one VL, as calculated by hand.
func groupSLs(t *testing.T, tables fabric.Tables, mlid uint16) {
	for name, c := range map[string]struct {
		sl   uint8
		vls  fabric.VLs
		want Verdict
	}{
		"the same SL":                 {0, identity, Loop},
		"another SL":                  {1, identity, None},
		"another SL of the VL":        {1, all3, Loop},
		"untold":                      {fabric.NoSL, identity, Unknown},
		"unknown, with one VL":        {fabric.NoSL, all3, Loop},
		"unknown, one may be dropped": {fabric.NoSL, not15, Unknown},
	} {
		tables.SL2VL = mapped(tables.Fabric, func(fabric.NodeIndex, uint8, uint8) fabric.VLs { return c.vls })
		r, err := Check(t.Context(), &tables, Options{GroupSL: func(is uint16) uint8 {
			if is != mlid {
				return 0
			}
			return c.sl
		}})
		if err != nil || r.Verdict != c.want || (r.Ring != nil) != (c.want == Loop) ||
			r.Unread.Groups != (c.want == Unknown) {
			t.Errorf("%s: %+v, %v, want %s", name, r, err, c.want)
		}
		if (r.Unknown() != "") != (c.want == Unknown) {
			t.Errorf("%s: unknown for %q", name, r.Unknown())
		}
	}
}

// TestNoPacketsToOneself checks that a host sends nothing to itself: packets to the first of two hosts on a switch that
// leave for another switch, by a wrong entry, use only the VL of the second one.
func TestNoPacketsToOneself(t *testing.T) {
	tables := treestest.Minhop(t, treestest.Made(t, "mesh:2x1,hosts=2"))
	f := tables.Fabric
	var hosts []fabric.PortIndex
	for _, e := range f.EndPorts {
		if sw, port := f.AttachedSwitch(e); sw == 0 && port != 0 {
			hosts = append(hosts, e)
		}
	}
	for s := range f.NumSwitches() {
		for lid := range tables.LFT.Row(s) {
			tables.LFT.Row(s)[lid] = fabric.NoPath
		}
	}
	cable := routing.NewGraph(f).Of(0)[0]
	tables.LFT.Row(0)[f.Ports[hosts[0]].LID] = cable.Port
	tables.SL2VL = fabric.NewSL2VL(f)
	for i, h := range hosts {
		_, in := f.AttachedSwitch(h)
		tables.SL2VL.Set(f.Switches[0], in, cable.Port, fabric.VLs{uint8(1 + i)})
	}
	if r, err := Check(t.Context(), tables, Options{}); err != nil || r.Channels != 1 {
		t.Errorf("%+v, %v, want one channel", r, err)
	}
}

// TestDFSSSPHasNoRing checks that dfsssp has no ring with the VLs that it uses, but has one without them.
func TestDFSSSPHasNoRing(t *testing.T) {
	for _, spec := range []string{"torus:5x5", "torus:4x4x3,hosts=2", "random:30,4,60", "dragonfly:4,2,2"} {
		f, err := gen.ParseSpec(spec)
		if err != nil {
			t.Fatal(err)
		}
		if f, err = fabric.AssignLIDs(f); err != nil {
			t.Fatal(err)
		}
		res, err := sssp.DeadlockFree{}.Route(t.Context(), f, routing.Options{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := Check(t.Context(), res.Tables, Options{})
		if err != nil || r.Ring != nil || r.VLs < 2 {
			t.Errorf("%s: %+v, %v", spec, r, err)
		}
		res.Tables.SLs = nil
		if r, err = Check(t.Context(), res.Tables, Options{}); err != nil || r.Ring == nil || r.VLs != 1 {
			t.Errorf("%s on SL 0: %+v, %v", spec, r, err)
		}
	}
}

func TestCheckStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	tables, _ := clockwise(t)
	if r, err := Check(ctx, tables, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%+v, error %v", r, err)
	}
}

func benchmark(b *testing.B, t *fabric.Tables, ring bool) {
	b.Helper()
	for b.Loop() {
		r, err := Check(context.Background(), t, Options{})
		if err != nil || (r.Ring != nil) != ring {
			b.Fatal(r, err)
		}
	}
}

func BenchmarkCheckFatTree11664(b *testing.B) {
	benchmark(b, treestest.Minhop(b, treestest.Made(b, "fattree:3,36")), false)
}

// BenchmarkCheckVLsFatTree11664 has 8 VLs and an SL for each pair.
func BenchmarkCheckVLsFatTree11664(b *testing.B) {
	t := treestest.Minhop(b, treestest.Made(b, "fattree:3,36"))
	t.SL2VL, t.SLs = routing.VLPerSL(t.Fabric, 8), spread{}
	benchmark(b, t, false)
}

func BenchmarkCheckTorus12x12x12(b *testing.B) {
	benchmark(b, treestest.Minhop(b, treestest.Made(b, "torus:12x12x12,hosts=4")), true)
}

// spread assigns different SLs to pairs.
type spread struct{}

func (spread) SL(src, dst uint16) uint8 { return uint8((src ^ dst*7) & 7) }
