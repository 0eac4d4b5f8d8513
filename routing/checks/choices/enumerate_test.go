// SPDX-License-Identifier: Apache-2.0

package choices

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/routing/checks/linkload"
	"example.org/ibconsole/routing/checks/trees/treestest"
)

// tried is the result of a simple walk that tries every choice of every switch, one path after another.
type tried struct {
	endings      Endings
	fewest, most int
	paths, steps int
	loads        map[fabric.PortIndex]float64 // of paths that arrive, by their shares
	share        float64
	all          []string // of the paths
	went         []way    // the paths; loops are included up to the point where they do
}

// way is the ports by which packets leave on one path, and its share of the packets.
type way struct {
	ports []fabric.PortIndex
	share float64
}

// stop is the maximum number of steps of a walk.
const stop = 300

// try follows a packet that enters by a port: port 0 of a switch where it originates.
func (r *tried) try(t *fabric.Tables, at fabric.PortIndex, lid uint16, sl uint8, share float64, took []fabric.PortIndex,
	been []int) {
	f := t.Fabric
	if r.steps++; r.steps > stop {
		return
	}
	ends := func(e Endings) {
		r.endings |= e
		r.paths++
		r.all = append(r.all, fmt.Sprint(e, took))
		r.went = append(r.went, way{took, share})
		if e != Arrives {
			return
		}
		if n := len(took); r.share == 0 {
			r.fewest, r.most = n, n
		} else {
			r.fewest, r.most = min(r.fewest, n), max(r.most, n)
		}
		r.share += share
		for _, p := range took {
			r.loads[p] += share
		}
	}
	judge := func(end fabric.PortIndex) {
		if f.PortByLID(lid) == end {
			ends(Arrives)
			return
		}
		ends(Misdelivered)
	}
	n := &f.Nodes[f.Ports[at].Node]
	if !n.IsSwitch() {
		judge(at)
		return
	}
	sw := n.Switch
	if !t.Known[sw] {
		ends(Unread)
		return
	}
	table, up := treestest.Exits(t, at, lid, sl)
	if slices.Contains(been, int(sw)*fabric.MaxTables+table) {
		r.endings |= Loops
		r.went = append(r.went, way{took, 0})
		return
	}
	been = append(slices.Clone(been), int(sw)*fabric.MaxTables+table)
	for _, p := range up {
		switch {
		case p == 0:
			judge(n.FirstPort)
			continue
		case !treestest.Up(t.Fabric, sw, p):
			ends(DeadEnd)
			continue
		}
		port := n.FirstPort + fabric.PortIndex(p)
		r.try(t, f.Ports[port].Peer, lid, sl, share/float64(len(up)), append(slices.Clone(took), port), been)
	}
}

// from follows the packets of an end port.
func from(t *fabric.Tables, src fabric.PortIndex, lid uint16) *tried {
	f := t.Fabric
	r := &tried{loads: map[fabric.PortIndex]float64{}}
	sl, _ := t.SL(f.Ports[src].LID, lid)
	switch {
	case f.Nodes[f.Ports[src].Node].IsSwitch():
		r.try(t, src, lid, sl, 1, nil, nil)
	case f.Ports[src].Peer == fabric.None:
		r.endings, r.paths = DeadEnd, 1
	default:
		r.try(t, f.Ports[src].Peer, lid, sl, 1, []fabric.PortIndex{src}, nil)
	}
	return r
}

// oddSLs assigns SL 0 or 1 to paths.
type oddSLs struct{}

func (oddSLs) SL(src, dst uint16) uint8 { return uint8(src+dst) & 1 }

// TestAgainstEnumeration compares results on random fabrics, with random groups, private tables, switches without
// adaptive routing and broken tables, with walks along each single path: endings, hops, counts, shares, loads.
func TestAgainstEnumeration(t *testing.T) {
	r := testenv.Rand(t)
	seen := map[Reach]int{}
	loops, many := 0, 0
	left := 0
	for i, want := 0, testenv.Count(t, 40, 500); i < want && !t.Failed(); {
		f := treestest.Random(t, r)
		tables := *treestest.Minhop(t, f)
		if r.IntN(2) == 0 {
			tables = *treestest.Broken(r, &tables, r.IntN(4))
		}
		if r.IntN(10) > 0 {
			tables.Adaptive = treestest.RandomAdaptive(r, &tables)
		}
		if r.IntN(2) == 0 {
			tables.SLs = oddSLs{}
		}
		if compare(t, i, &tables, r.IntN(2) == 0, seen, &loops, &many) {
			i++
		} else {
			left++
		}
	}
	t.Logf("pairs: %v, %d of them with loops, %d with several paths; %d fabrics had too many", seen, loops, many, left)
	for _, kind := range []Reach{Sure, Luck, Never, Unknown} {
		if seen[kind] == 0 {
			t.Errorf("no pair was reached %s", kind)
		}
	}
	if loops == 0 || many == 0 {
		t.Error("want loops, and several paths")
	}
}

// compare reports whether the paths were few enough to try all.
func compare(t *testing.T, i int, tables *fabric.Tables, switches bool, seen map[Reach]int, loops, many *int) bool {
	t.Helper()
	f := tables.Fabric
	var want Counts
	var pairs [Unknown + 1]int64 // by the worst of their paths
	fewest, most, loads := map[int]int64{}, map[int]int64{}, map[fabric.PortIndex]float64{}
	delivered, looping := 0.0, int64(0)
	var ends []fabric.PortIndex
	for _, p := range f.EndPorts {
		if switches || !f.Nodes[f.Ports[p].Node].IsSwitch() {
			ends = append(ends, p)
		}
	}
	for _, dst := range ends {
		for _, src := range ends {
			worst := Reach(0)
			for lid := f.Ports[dst].LID; src != dst && lid < f.Ports[dst].LID+1<<f.Ports[dst].LMC; lid++ {
				p := from(tables, src, lid)
				if p.steps > stop {
					return false
				}
				want.Paths++
				reach := p.endings.Reach()
				*[]*int64{Sure: &want.Sure, Luck: &want.Luck, Never: &want.Never, Unknown: &want.Unknown}[reach]++
				seen[reach]++
				if worst == 0 || worst != Never &&
					(reach == Never || worst != Luck && (reach == Luck || worst == Sure)) {
					worst = reach
				}
				if p.endings&Arrives != 0 {
					fewest[p.fewest]++
				}
				if p.endings&Loops != 0 {
					want.Loops++
					want.Many++
					looping++
					continue
				}
				if p.endings&Arrives != 0 {
					most[p.most]++
				}
				if p.paths > 1 {
					want.Many++
				}
				delivered += p.share
				for port, n := range p.loads {
					loads[port] += n
				}
			}
			pairs[worst]++
		}
	}
	for _, p := range f.Unreachable {
		if switches || !f.Nodes[f.Ports[p].Node].IsSwitch() {
			ends = append(ends, p)
		}
	}
	for _, dst := range ends {
		for _, src := range ends {
			if src != dst && (slices.Contains(f.Unreachable, src) || slices.Contains(f.Unreachable, dst)) {
				pairs[Never]++
				want.Paths += 1 << f.Ports[dst].LMC
				want.Never += 1 << f.Ports[dst].LMC
			}
		}
	}
	*loops += int(want.Loops)
	*many += int(want.Many)
	got, err := Check(t.Context(), tables, Options{Switches: switches})
	if err != nil {
		t.Fatal(err)
	}
	if got.Counts != want {
		t.Errorf("case %d: counted %+v, walked %+v", i, got.Counts, want)
	}
	if got.LostPairs != pairs[Never] || got.LuckPairs != pairs[Luck] || got.UnknownPairs != pairs[Unknown] {
		t.Errorf("case %d: counted %+v, walked %v pairs by their worst path", i, got, pairs)
	}
	for name, c := range map[string]struct {
		got  []int64
		want map[int]int64
	}{"fewest": {got.Fewest, fewest}, "most": {got.Most, most}} {
		counted := map[int]int64{}
		for links, n := range c.got {
			if n > 0 {
				counted[links] = n
			}
		}
		if !maps.Equal(counted, c.want) {
			t.Errorf("case %d: %s %v, walked %v", i, name, counted, c.want)
		}
	}
	l, err := AllToAll(t.Context(), tables, Options{Switches: switches})
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(l.Delivered-delivered) > 1e-6 || l.Looping != looping {
		t.Errorf("case %d: %v delivered, %d loop; walked %v and %d", i, l.Delivered, l.Looping, delivered, looping)
	}
	for port, n := range l.Paths {
		if math.Abs(n-loads[fabric.PortIndex(port)]) > 1e-6 {
			t.Errorf("case %d: port %d of %s carries %v, walked %v; classes %v tables %d", i, f.Ports[port].Num,
				f.Nodes[f.Ports[port].Node].Desc, n, loads[fabric.PortIndex(port)], NewNet(tables).classes,
				NewNet(tables).tables)
		}
	}
	if tables.Adaptive == nil {
		same(t, tables, l, switches)
	}
	return true
}

// same checks that without adaptive routing the loads are those of the linear tables.
func same(t *testing.T, tables *fabric.Tables, l *Loads, switches bool) {
	t.Helper()
	static, err := linkload.AllToAll(t.Context(), tables, linkload.Options{Switches: switches})
	if err != nil {
		t.Fatal(err)
	}
	for port, n := range static.Paths {
		if math.Abs(float64(n)-l.Paths[port]) > 1e-6 {
			t.Errorf("port %d: %d paths by the linear tables, %v by choices", port, n, l.Paths[port])
		}
	}
}
