// SPDX-License-Identifier: Apache-2.0

package linkload

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/routing/checks/trees/treestest"
	"example.org/ibconsole/routing/checks/walk"
)

// slow counts by walking each pair.
func slow(t *fabric.Tables, switches bool, want func(lid uint16) bool) *Loads {
	f := t.Fabric
	l := &Loads{Fabric: f, Paths: make([]int64, len(f.Ports)), Destinations: make([]int32, len(f.Ports))}
	for _, dst := range f.EndPorts {
		for n := range 1 << f.Ports[dst].LMC {
			lid := f.Ports[dst].LID + uint16(n)
			if want(lid) {
				l.to(t, dst, lid, switches)
			}
		}
	}
	return l
}

func (l *Loads) to(t *fabric.Tables, dst fabric.PortIndex, lid uint16, switches bool) {
	f := t.Fabric
	isEnd := func(e fabric.PortIndex) bool { return switches || !f.Nodes[f.Ports[e].Node].IsSwitch() }
	used := map[fabric.PortIndex]bool{}
	for _, src := range f.EndPorts {
		if src == dst || !isEnd(src) || !isEnd(dst) {
			continue
		}
		p := treestest.Walk(t, src, lid)
		if !p.Verdict.Arrives() {
			l.fails(p.Verdict)
			continue
		}
		l.Delivered++
		for _, port := range p.Out {
			l.Paths[port]++
			used[port] = true
		}
	}
	for port := range used {
		l.Destinations[port]++
	}
}

// unreachable counts the paths from and to unreachable end ports one by one.
func unreachable(f *fabric.Fabric, switches bool) (paths int64) {
	all := slices.DeleteFunc(slices.Concat(f.EndPorts, f.Unreachable), func(e fabric.PortIndex) bool {
		return !switches && f.Nodes[f.Ports[e].Node].IsSwitch()
	})
	for _, src := range all {
		for _, dst := range all {
			if src != dst && (slices.Contains(f.Unreachable, src) || slices.Contains(f.Unreachable, dst)) {
				paths += 1 << f.Ports[dst].LMC
			}
		}
	}
	return paths
}

// fails counts a path that is not known to arrive.
func (l *Loads) fails(v walk.Verdict) {
	if v == walk.Unknown {
		l.Unknown++
	} else {
		l.Lost++
	}
}

func same(t *testing.T, what string, got, want *Loads) {
	t.Helper()
	if got.Delivered != want.Delivered || got.Lost != want.Lost || got.Unknown != want.Unknown {
		t.Errorf("%s: %d paths, %d lost, %d unknown; walked %d, %d and %d", what, got.Delivered, got.Lost, got.Unknown,
			want.Delivered, want.Lost, want.Unknown)
	}
	for port := range want.Paths {
		if got.Paths[port] != want.Paths[port] || got.Destinations[port] != want.Destinations[port] {
			t.Errorf("%s: %s has %d paths to %d LIDs, walked %d to %d", what,
				want.Fabric.PortName(fabric.PortIndex(port)),
				got.Paths[port], got.Destinations[port], want.Paths[port], want.Destinations[port])
		}
	}
}

func TestLoadsAgainstWalkingEachPair(t *testing.T) {
	rnd := testenv.Rand(t)
	for i := range testenv.Count(t, 30, 300) {
		tables := treestest.Broken(rnd, treestest.Minhop(t, treestest.Random(t, rnd)), rnd.IntN(30))
		opt := Options{Switches: rnd.IntN(2) == 0}
		got, err := AllToAll(t.Context(), tables, opt)
		if err != nil {
			t.Fatal(err)
		}
		want := slow(tables, opt.Switches, func(uint16) bool { return true })
		want.Lost += unreachable(tables.Fabric, opt.Switches)
		same(t, fmt.Sprint("case ", i), got, want)
	}
}

// TestLoadsNotKnown checks that the loads of the links of an unread leaf are unknown, in both directions, because all
// these paths end there. Such links are left out of the figures.
func TestLoadsNotKnown(t *testing.T) {
	tables := treestest.Minhop(t, treestest.Made(t, "fattree:2,4"))
	f := tables.Fabric
	whole, err := AllToAll(t.Context(), tables, Options{})
	if err != nil {
		t.Fatal(err)
	}
	leaf, _ := f.AttachedSwitch(Hosts(f)[0])
	part := *tables
	part.Known = slices.Clone(tables.Known)
	part.Known[leaf] = false
	l, err := AllToAll(t.Context(), &part, Options{})
	if err != nil {
		t.Fatal(err)
	}
	// Of 8 hosts on 4 leaves, 2 are on this leaf: they have 14 paths, and 12 lead to them.
	if l.Lost != 0 || l.Unknown != 26 || l.Delivered != 30 {
		t.Errorf("%d delivered, %d lost, %d unknown, want 30, 0 and 26", l.Delivered, l.Lost, l.Unknown)
	}
	for port := range f.NumPorts() {
		want := f.Nodes[f.Ports[port].Node].Switch != leaf && f.PeerSwitch(port) != leaf
		if f.Ports[port].Linked() && (l.Known(port) != want || !whole.Known(port)) {
			t.Errorf("%s: known %v, and %v with complete tables, want %v and true", f.PortName(port), l.Known(port),
				whole.Known(port), want)
		}
	}
	for _, k := range l.Summary(0).Classes {
		if k.Unknown*4 != k.Links || k.Unused != 0 || k.Class == FromHost && k.Min != 5 {
			t.Errorf("%+v: expected a quarter unknown, none unused, and 5 paths from each other host", k)
		}
	}
	for _, k := range whole.Summary(0).Classes {
		if k.Unknown != 0 {
			t.Errorf("%+v with complete tables", k)
		}
	}
}

func TestPatternsAgainstWalkingEachPair(t *testing.T) {
	rnd := testenv.Rand(t)
	for i := range testenv.Count(t, 30, 300) {
		tables := treestest.Broken(rnd, treestest.Minhop(t, treestest.Random(t, rnd)), rnd.IntN(20))
		hosts := Hosts(tables.Fabric)
		if len(hosts) == 0 {
			continue // a failure separated the subnet manager and its switch from the rest
		}
		for name, pairs := range map[string][]Pair{
			"shift": Shift(hosts, rnd.IntN(2*len(hosts))-len(hosts)), "permutation": Permutation(hosts, rnd),
			"bisection": Bisection(hosts, rnd), "job": Among(tables.Fabric, hosts[:min(5, len(hosts))]),
			"last LIDs": lastLIDs(tables.Fabric, Permutation(hosts, rnd)),
		} {
			got, err := Measure(t.Context(), tables, pairs)
			if err != nil {
				t.Fatal(err)
			}
			want, worst, share := slowly(tables, pairs)
			same(t, fmt.Sprintf("case %d, %s", i, name), &got.Loads, want)
			for port, n := range want.Paths {
				if on := PairsOn(tables, pairs, fabric.PortIndex(port), 1<<30); int64(len(on)) != n {
					t.Errorf("case %d, %s: %d pairs on port %d, walked %d", i, name, len(on), port, n)
				}
			}
			if got.Worst != worst || math.Abs(got.Share-share) > 1e-9 {
				t.Errorf("case %d, %s: worst %d, share %g; walked %d and %g", i, name, got.Worst, got.Share,
					worst, share)
			}
		}
	}
}

// lastLIDs uses the last LID of each destination.
func lastLIDs(f *fabric.Fabric, pairs []Pair) []Pair {
	for i := range pairs {
		p := &f.Ports[pairs[i].Dst]
		pairs[i].LID = p.LID + 1<<p.LMC - 1
	}
	return pairs
}

// slowly measures a pattern by walking each pair.
func slowly(t *fabric.Tables, pairs []Pair) (l *Loads, worst int64, share float64) {
	f := t.Fabric
	lidOf := func(p Pair) uint16 {
		if p.LID != 0 {
			return p.LID
		}
		return f.Ports[p.Dst].LID
	}
	l = &Loads{Fabric: f, Paths: make([]int64, len(f.Ports)), Destinations: make([]int32, len(f.Ports))}
	to := map[string]bool{} // ports with LIDs
	for _, p := range pairs {
		path := treestest.Walk(t, p.Src, lidOf(p))
		if !path.Verdict.Arrives() {
			l.fails(path.Verdict)
			continue
		}
		l.Delivered++
		for _, port := range path.Out {
			l.Paths[port]++
			if k := fmt.Sprint(port, lidOf(p)); !to[k] {
				to[k] = true
				l.Destinations[port]++
			}
		}
	}
	for _, p := range pairs {
		path := treestest.Walk(t, p.Src, lidOf(p))
		if !path.Verdict.Arrives() {
			continue
		}
		most := int64(0)
		for _, port := range path.Out {
			most = max(most, l.Paths[port])
		}
		worst = max(worst, most)
		share += 1 / float64(most) / float64(l.Delivered)
	}
	return l, worst, share
}

// TestShiftsByHand has hosts a, b, c, d on two switches with one cable between them.
//
//	a b - S ----- T - c d
//
// In a shift by 1, b sends to c and d to a over the cable, one in each direction. In a shift by 2, a and b both send to
// the right, and c and d to the left.
func TestShiftsByHand(t *testing.T) {
	tables := treestest.Minhop(t, treestest.Made(t, "mesh:2x1,hosts=2"))
	s, err := Shifts(t.Context(), tables, Hosts(tables.Fabric), 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := (Shifted{Hosts: 4, Shifts: 3, Worst: 2, WorstBy: 2, Mean: 4.0 / 3, Free: 2}); *s != want {
		t.Errorf("%+v, want %+v", *s, want)
	}
}

func TestSummaryByHand(t *testing.T) {
	tables := treestest.Minhop(t, treestest.Made(t, "mesh:2x1,hosts=2"))
	l, err := AllToAll(t.Context(), tables, Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := l.Summary(10)
	// 12 pairs: each host sends to 3 and receives from 3, and 2 x 2 pairs cross in each direction.
	want := map[Class]Stats{
		FromHost: {Links: 4, Min: 3, Max: 3, Mean: 3}, ToHost: {Links: 4, Min: 3, Max: 3, Mean: 3},
		BetweenSwitches: {Links: 2, Min: 4, Max: 4, Mean: 4},
	}
	if len(s.Classes) != 3 || s.EdgeForwardingIndex != 4 || len(s.Worst) != 2 || s.Worst[0].Paths != 4 ||
		s.Worst[0].Destinations != 2 {
		t.Errorf("%+v", s)
	}
	for _, c := range s.Classes {
		if c.Stats != want[c.Class] {
			t.Errorf("%v: %+v, want %+v", c.Class, c.Stats, want[c.Class])
		}
	}
}

// dmodk routes a full fat-tree by Zahavi's D-Mod-K: up by the digits of the destination's number, down by the only
// path. It assumes that hosts are numbered by name and attached to the leaves in that order.
func dmodk(t testing.TB, f *fabric.Fabric) *fabric.Tables {
	t.Helper()
	hosts := Hosts(f)
	level, below := levels(f, hosts)
	lft := fabric.NewLFT(len(f.Switches), f.MaxLID)
	for s := range f.NumSwitches() {
		n := f.SwitchNode(s)
		var up []uint8
		for p := 1; p <= int(n.NumPorts); p++ {
			if peer := f.PeerSwitch(n.FirstPort + fabric.PortIndex(p)); peer != fabric.None && level[peer] > level[s] {
				up = append(up, uint8(p))
			}
		}
		divisor := 1
		for range level[s] - 1 {
			divisor *= len(up)
		}
		for d, h := range hosts {
			if port, ok := below[s][int32(d)]; ok {
				lft.Row(s)[f.Ports[h].LID] = port
			} else if len(up) > 0 {
				lft.Row(s)[f.Ports[h].LID] = up[d/divisor%len(up)]
			}
		}
	}
	return fabric.NewTables(f, lft, "d-mod-k")
}

// levels returns the levels of switches, 1 for leaves, and the ports by which each reaches the hosts below it, by their
// numbers.
func levels(f *fabric.Fabric, hosts []fabric.PortIndex) (level []int, below []map[int32]uint8) {
	level, below = make([]int, len(f.Switches)), make([]map[int32]uint8, len(f.Switches))
	for s := range below {
		below[s] = map[int32]uint8{}
	}
	var now []fabric.SwitchIndex
	for d, h := range hosts {
		s, port := f.AttachedSwitch(h)
		if level[s] == 0 {
			level[s] = 1
			now = append(now, s)
		}
		below[s][int32(d)] = port
	}
	for l := 2; len(now) > 0; l++ {
		var next []fabric.SwitchIndex
		for _, s := range now {
			n := f.SwitchNode(s)
			for p := range n.Ports() {
				up := f.PeerSwitch(p)
				if up == fabric.None || level[up] != 0 && level[up] != l {
					continue
				}
				if level[up] == 0 {
					level[up] = l
					next = append(next, up)
				}
				for d := range below[s] {
					below[up][d] = f.Ports[f.Ports[p].Peer].Num
				}
			}
		}
		now = next
	}
	return level, below
}

// TestDModKClosedForms checks known formulas. On a full fat-tree of L levels of switches with 2h ports, N = 2h^L hosts,
// D-Mod-K has N-1 paths on every host link, N-h^l on each link above level l, up and down, and no contention in any
// shift (the count: each of N-h^l hosts elsewhere receives from the h^l hosts below a switch of level l over h^l up
// links).
func TestDModKClosedForms(t *testing.T) {
	for _, tc := range []struct{ levels, ports int }{{2, 8}, {3, 4}, {3, 8}, {2, 36}} {
		f := treestest.Made(t, fmt.Sprintf("fattree:%d,%d", tc.levels, tc.ports))
		tables := dmodk(t, f)
		hosts := Hosts(f)
		level, _ := levels(f, hosts)
		n, h := int64(len(hosts)), int64(tc.ports/2)
		l, err := AllToAll(t.Context(), tables, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if l.Delivered != n*(n-1) {
			t.Fatalf("%d paths arrive, want %d", l.Delivered, n*(n-1))
		}
		for port, paths := range l.Paths {
			want := n - 1
			switch ClassOf(f, fabric.PortIndex(port)) {
			case None:
				want = 0
			case BetweenSwitches:
				lower := min(level[f.Nodes[f.Ports[port].Node].Switch], level[f.PeerSwitch(fabric.PortIndex(port))])
				want = n
				below := int64(1)
				for range lower {
					below *= h
				}
				want -= below
			}
			if paths != want {
				t.Fatalf("fattree:%d,%d: %s has %d paths, want %d", tc.levels, tc.ports,
					f.PortName(fabric.PortIndex(port)), paths, want)
			}
		}
		s, err := Shifts(t.Context(), tables, hosts, 200, nil)
		if err != nil {
			t.Fatal(err)
		}
		if s.Worst != 1 || s.Free != s.Shifts {
			t.Errorf("fattree:%d,%d: %+v", tc.levels, tc.ports, s)
		}
	}
}

var ibdmchkDLIDs = regexp.MustCompile(`(?s)NUM-DLIDS NUM-SWITCH-PORTS\n(.*?)\n---`)

// TestDestinationsAgainstIbdmchk compares with ibdmchk, which counts the LIDs that leave each switch port towards
// another switch.
func TestDestinationsAgainstIbdmchk(t *testing.T) {
	rnd := testenv.Rand(t)
	for i := range testenv.Count(t, 10, 60) {
		f := treestest.Irregular(t, rnd)
		if i%2 == 0 {
			f = treestest.Made(t, []string{"fattree:3,4", "torus:4x4", "dragonfly:2,2,1", "hypercube:4"}[rnd.IntN(4)])
		}
		tables := treestest.Minhop(t, f)
		l, err := AllToAll(t.Context(), tables, Options{})
		if err != nil {
			t.Fatal(err)
		}
		ours := map[int32]int{}
		for port, n := range l.Destinations {
			if n > 0 && ClassOf(f, fabric.PortIndex(port)) == BetweenSwitches {
				ours[n]++
			}
		}
		text := treestest.Ibdmchk(t, tables).Text
		m := ibdmchkDLIDs.FindStringSubmatch(text)
		theirs := map[int32]int{}
		for line := range strings.Lines(m[1]) {
			var lids int32
			var ports int
			if n, _ := fmt.Sscan(line, &lids, &ports); n == 2 && lids > 0 {
				theirs[lids] = ports
			}
		}
		if fmt.Sprint(ours) != fmt.Sprint(theirs) {
			t.Errorf("case %d: %v ports by LIDs, ibdmchk has %v\n%s", i, ours, theirs, text)
		}
	}
}

// TestEffectiveBisectionBandwidthOfDModK compares with the published figure for d-mod-k on a full tree of 3,456 hosts,
// 0.686 from a simulation of the same measure. Bisections vary little at this size.
func TestEffectiveBisectionBandwidthOfDModK(t *testing.T) {
	f := treestest.Made(t, "fattree:3,24")
	b, err := Bisections(t.Context(), dmodk(t, f), Hosts(f), 20, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	if b.Hosts != 3456 || math.Abs(b.Mean-0.686) > 0.01 || b.StdDev > 0.01 || b.Min > b.Mean || b.Max < b.Mean {
		t.Errorf("%+v", b)
	}
}

func TestBisectionsReplay(t *testing.T) {
	tables := treestest.Minhop(t, treestest.Made(t, "torus:4x4"))
	a, errA := Bisections(t.Context(), tables, Hosts(tables.Fabric), 50, 7, nil)
	b, errB := Bisections(t.Context(), tables, Hosts(tables.Fabric), 50, 7, nil)
	c, errC := Bisections(t.Context(), tables, Hosts(tables.Fabric), 50, 8, nil)
	if errA != nil || errB != nil || errC != nil || *a != *b || a.Mean == c.Mean {
		t.Errorf("%+v, %+v, %+v", a, b, c)
	}
}

func TestPatterns(t *testing.T) {
	hosts := []fabric.PortIndex{5, 6, 7, 8, 9}
	if got := Shift(hosts, -2); !slices.Equal(got, []Pair{{Src: 5, Dst: 8}, {Src: 6, Dst: 9}, {Src: 7, Dst: 5},
		{Src: 8, Dst: 6}, {Src: 9, Dst: 7}}) {
		t.Errorf("shift by -2: %v", got)
	}
	if got := Shift([]fabric.PortIndex{5, fabric.None, 7}, 1); !slices.Equal(got, []Pair{{Src: 7, Dst: 5}}) {
		t.Errorf("shift by 1 with a gap: %v", got)
	}
	if len(Shift(hosts, 10)) != 0 || len(Shift(nil, 1)) != 0 {
		t.Error("a shift onto itself sends")
	}
	r := rand.New(rand.NewPCG(1, 1))
	used := map[fabric.PortIndex]int{}
	for _, p := range Bisection(hosts, r) {
		used[p.Src]++
		used[p.Dst]++
	}
	if len(used) != 4 {
		t.Errorf("a bisection of five hosts uses %v", used)
	}
	f := treestest.Made(t, "fattree:2,4")
	for lmc, want := range []int{5 * 4, 5 * 4 * 2, 5 * 4 * 4} {
		a, err := fabric.AssignLIDsWith(f, fabric.LIDOptions{LMC: uint8(lmc)})
		if err != nil {
			t.Fatal(err)
		}
		if n := len(Among(a.Fabric, Hosts(a.Fabric)[:5])); n != want {
			t.Errorf("%d paths among five hosts with LMC %d, want %d", n, lmc, want)
		}
	}
}

func BenchmarkAllToAllFatTree11664(b *testing.B) {
	t := treestest.Minhop(b, treestest.Made(b, "fattree:3,36"))
	for b.Loop() {
		l, err := AllToAll(context.Background(), t, Options{})
		if err != nil || l.Delivered != 11664*11663 {
			b.Fatal(l, err)
		}
		l.Summary(20)
	}
}

func BenchmarkBisections1000FatTree11664(b *testing.B) {
	t := treestest.Minhop(b, treestest.Made(b, "fattree:3,36"))
	hosts := Hosts(t.Fabric)
	for b.Loop() {
		r, err := Bisections(context.Background(), t, hosts, 1000, 1, nil)
		if err != nil || r.Lost != 0 {
			b.Fatal(r, err)
		}
		b.ReportMetric(r.Mean, "eBB")
	}
}

func BenchmarkShifts60FatTree11664(b *testing.B) {
	t := treestest.Minhop(b, treestest.Made(b, "fattree:3,36"))
	hosts := Hosts(t.Fabric)
	for b.Loop() {
		r, err := Shifts(context.Background(), t, hosts, 60, nil)
		if err != nil || r.Lost != 0 {
			b.Fatal(r, err)
		}
		b.ReportMetric(float64(r.Worst), "worst")
	}
}
