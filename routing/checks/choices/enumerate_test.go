// SPDX-License-Identifier: Apache-2.0

package choices

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/testenv"
	"example.org/ibconsole/routing/checks/linkload"
	"example.org/ibconsole/routing/checks/trees/treestest"
)

// tried is what a plain walk finds that tries every choice of every switch, one path after the other.
type tried struct {
	endings      Endings
	fewest, most int
	paths, steps int
	loads        map[fabric.PortIndex]float64 // of paths that arrive, by their shares
	share        float64
}

// stop is how many steps a walk may take.
const stop = 300

// try follows a packet that comes to a port slot: port 0 of a switch where it begins there.
func (r *tried) try(t *fabric.Tables, at fabric.PortIndex, lid uint16, sl uint8, share float64, took []fabric.PortIndex, been []int) {
	f := t.Fabric
	if r.steps++; r.steps > stop {
		return
	}
	ends := func(e Endings) {
		r.endings |= e
		r.paths++
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
	var a fabric.AdaptiveSwitch
	if t.Adaptive != nil {
		a = t.Adaptive.Switches[sw]
	}
	table := 0
	if i := int(f.Ports[at].Num)*16 + int(sl); i < len(a.Private) && int(a.Private[i]) < len(a.Tables) {
		table = int(a.Private[i])
	}
	if slices.Contains(been, int(sw)*fabric.MaxTables+table) {
		r.endings |= Loops
		return
	}
	been = append(slices.Clone(been), int(sw)*fabric.MaxTables+table)
	static, entry := int(t.Port(sw, lid)), fabric.AdaptiveEntry(0)
	if len(a.Tables) > 0 && int(lid) < len(a.Tables[0].Entries) && lid <= a.Tables[0].Top {
		entry = a.Tables[0].Entries[lid]
	}
	if table > 0 {
		for _, p := range a.Tables[table].Private {
			if p.LID == lid {
				static, entry = int(p.Port), p.Entry
			}
		}
	}
	isUp := func(p int) bool {
		return p == 0 || p <= int(n.NumPorts) && f.Ports[n.FirstPort+fabric.PortIndex(p)].Peer != fabric.None
	}
	var up []int
	if g := entry.Group(); g < len(a.Groups) {
		for p := 1; p < 255; p++ {
			for _, sub := range a.Groups[g] {
				if slices.Contains(sub, uint8(p)) && isUp(p) && !slices.Contains(up, p) {
					up = append(up, p)
				}
			}
		}
	}
	free := a.Enabled && (a.SLs>>sl&1 == 1 && entry.State() != fabric.StateStatic || a.HashSLs>>sl&1 == 1 && entry.State() == fabric.StateHash)
	over := a.FastReroute && !isUp(static) && entry != 0
	if !free && !over || len(up) == 0 {
		up = []int{static}
	}
	for _, p := range up {
		switch {
		case p == 0:
			judge(n.FirstPort)
			continue
		case !isUp(p):
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

// random gives the switches of tables random groups, most of them of ports that lead on, some of any.
func random(r *rand.Rand, t *fabric.Tables) *fabric.Adaptive {
	f := t.Fabric
	a := &fabric.Adaptive{Switches: make([]fabric.AdaptiveSwitch, len(f.Switches))}
	dense := 1 + r.IntN(8)
	mask := func() uint16 { return [...]uint16{0xffff, 0xffff, 0x0001, 0xfffe}[r.IntN(4)] }
	for s := range a.Switches {
		sw := &a.Switches[s]
		if r.IntN(8) == 0 {
			continue
		}
		*sw = fabric.AdaptiveSwitch{Enabled: r.IntN(6) > 0, FastReroute: r.IntN(3) == 0, SLs: mask(), HashSLs: mask()}
		n := f.SwitchNode(fabric.SwitchIndex(s))
		for range r.IntN(5) {
			var g fabric.PortGroup
			for range r.IntN(3) {
				var sub []uint8
				for range r.IntN(3) {
					sub = append(sub, uint8(r.IntN(int(n.NumPorts)+2)))
				}
				g = append(g, sub)
			}
			sw.Groups = append(sw.Groups, g)
		}
		entry := func() fabric.AdaptiveEntry {
			return fabric.NewAdaptiveEntry(fabric.AdaptiveState(r.IntN(4)), r.IntN(6))
		}
		table := fabric.AdaptiveTable{Top: t.LFT.MaxLID - uint16(r.IntN(3)), Entries: make([]fabric.AdaptiveEntry, int(t.LFT.MaxLID)+1)}
		for lid := range table.Entries {
			if near := f.PortByLID(uint16(lid)); near != fabric.None && r.IntN(dense) == 0 {
				table.Entries[lid] = entry()
			}
		}
		sw.Tables = append(sw.Tables, table)
		if r.IntN(4) != 0 {
			continue
		}
		for range 1 + r.IntN(2) {
			var p fabric.AdaptiveTable
			for lid := uint16(1); lid <= t.LFT.MaxLID; lid++ {
				if r.IntN(4) == 0 {
					p.Private = append(p.Private, fabric.PrivateEntry{LID: lid, Port: uint8(r.IntN(int(n.NumPorts) + 1)), Entry: entry()})
				}
			}
			sw.Tables = append(sw.Tables, p)
		}
		sw.Private = make([]uint8, (int(n.NumPorts)+1)*16)
		for i := range sw.Private {
			sw.Private[i] = uint8(r.IntN(len(sw.Tables)))
		}
	}
	return a
}

// oddSLs gives paths SL 0 or 1.
type oddSLs struct{}

func (oddSLs) SL(src, dst uint16) uint8 { return uint8(src+dst) & 1 }

// TestAgainstEnumeration: on random fabrics with random groups, private tables, switches that are off and tables that are
// broken, what is found by graphs is what a walk along each single path finds: endings, hops, counts, shares, loads.
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
			tables.Adaptive = random(r, &tables)
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

// compare reports whether the paths were few enough to try them all.
func compare(t *testing.T, i int, tables *fabric.Tables, switches bool, seen map[Reach]int, loops, many *int) bool {
	t.Helper()
	f := tables.Fabric
	var want Counts
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
			for lid := f.Ports[dst].LID; src != dst && lid < f.Ports[dst].LID+1<<f.Ports[dst].LMC; lid++ {
				p := from(tables, src, lid)
				if p.steps > stop {
					return false
				}
				want.Paths++
				reach := p.endings.Reach()
				*[]*int64{Sure: &want.Sure, Luck: &want.Luck, Never: &want.Never, Unknown: &want.Unknown}[reach]++
				seen[reach]++
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
			t.Errorf("case %d: port %d of %s carries %v, walked %v; classes %v tables %d", i, f.Ports[port].Num, f.Nodes[f.Ports[port].Node].Desc, n, loads[fabric.PortIndex(port)], NewNet(tables).classes, NewNet(tables).tables)
		}
	}
	if tables.Adaptive == nil {
		same(t, tables, l, switches)
	}
	return true
}

// same: without adaptive routing the loads are those of the static count.
func same(t *testing.T, tables *fabric.Tables, l *Loads, switches bool) {
	t.Helper()
	static, err := linkload.AllToAll(t.Context(), tables, linkload.Options{Switches: switches})
	if err != nil {
		t.Fatal(err)
	}
	for port, n := range static.Paths {
		if math.Abs(float64(n)-l.Paths[port]) > 1e-6 {
			t.Errorf("port %d: %d static, %v shared out", port, n, l.Paths[port])
		}
	}
}
