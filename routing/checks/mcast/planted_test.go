// SPDX-License-Identifier: Apache-2.0

package mcast_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/internal/base/verdict"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/checks/mcast"
	"example.org/ibconsole/routing/checks/trees/treestest"
)

// routed returns a random fabric with the trees of some groups.
func routed(t *testing.T, r *rand.Rand, states ...fabric.JoinState) (*fabric.Tables, []fabric.Group) {
	t.Helper()
	good := treestest.Minhop(t, treestest.Random(t, r))
	f := good.Fabric
	var groups []fabric.Group
	for i := range 3 {
		g := fabric.Group{MLID: fabric.FirstMLID + uint16(i)}
		for range 2 + r.IntN(max(1, len(f.EndPorts))) {
			if len(f.EndPorts) == 0 {
				break
			}
			g.Members = append(g.Members, fabric.Member{GUID: f.Ports[f.EndPorts[r.IntN(len(f.EndPorts))]].GUID,
				Join: states[r.IntN(len(states))]})
		}
		g.Members = fabric.SortMembers(g.Members)
		groups = append(groups, g)
	}
	res, err := mcast.Route(t.Context(), f, mcast.Router(f, routing.NewDistances(f), nil), groups, nil)
	if err != nil {
		t.Fatal(err)
	}
	tables := *good
	tables.MFT = res.MFT
	return &tables, groups
}

// slow follows the packets of each member, one copy at a time.
func slow(t *fabric.Tables, groups []fabric.Group) (c mcast.Counts) {
	for _, l := range mcast.ByLID(t.Fabric, groups) {
		circles := false
		for _, m := range l.Members {
			got, circling := send(t, m.End, l.MLID)
			circles = circles || circling
			for _, n := range l.Members {
				if n.End == m.End {
					if got[n.End] > 0 {
						c.Echoes++
					}
					continue
				}
				if !n.Join.Receives() {
					continue
				}
				c.Pairs++
				if got[n.End] == 0 {
					c.Missing++
				}
				if got[n.End] > 1 {
					c.Double++
				}
			}
		}
		if circles {
			c.Cycles++
		}
	}
	return c
}

// send counts the copies that end ports receive. Each copy is followed until it returns to a port on its own path.
func send(t *fabric.Tables, src fabric.PortIndex, mlid uint16) (got map[fabric.PortIndex]int, circles bool) {
	f := t.Fabric
	got = map[fabric.PortIndex]int{}
	type packet struct {
		sw  fabric.SwitchIndex
		in  uint8
		way []fabric.PortIndex
	}
	sw, in := f.AttachedSwitch(src)
	if sw == fabric.None {
		return got, false
	}
	packets := []packet{{sw, in, nil}}
	for n := 0; len(packets) > 0; n++ {
		p := packets[0]
		packets = packets[1:]
		if n > 5000 {
			return got, true
		}
		node := f.SwitchNode(p.sw)
		for out := range int(node.NumPorts) + 1 {
			if !t.MFT.Has(p.sw, mlid, uint8(out)) || out == int(p.in) {
				continue
			}
			if end := f.EndBehind(p.sw, out); end != fabric.None {
				got[end]++
				continue
			}
			port := node.FirstPort + fabric.PortIndex(out)
			next := f.PeerSwitch(port)
			if next == fabric.None {
				continue
			}
			if slices.Contains(p.way, port) {
				circles = true
				continue
			}
			packets = append(packets, packet{next, f.Ports[f.Ports[port].Peer].Num, append(slices.Clone(p.way), port)})
		}
	}
	return got, circles
}

// TestCheckAgainstFollowingEachCopy flips entries of good tables at random.
func TestCheckAgainstFollowingEachCopy(t *testing.T) {
	r := testenv.Rand(t)
	var all mcast.Counts
	whole := 0
	for i := range testenv.Count(t, 400, 4000) {
		tables, groups := routed(t, r, fabric.JoinFull, fabric.JoinFull, fabric.JoinNon, fabric.JoinSendOnly,
			fabric.JoinSendOnlyFull)
		f := tables.Fabric
		for range r.IntN(4) {
			flip(r, tables)
		}
		report, err := mcast.Check(t.Context(), tables, groups, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, want := report.Counts, slow(tables, groups)
		if got.Pairs != want.Pairs || got.Missing != want.Missing {
			t.Fatalf("case %d: %d of %d pairs missing, followed one by one %d of %d", i, got.Missing, got.Pairs,
				want.Missing,
				want.Pairs)
		}
		if want.Cycles > 0 && got.Cycles == 0 {
			t.Fatalf("case %d: no cycle is found in %d switches", i, len(f.Switches))
		}
		if got.Cycles == 0 && (got.Double != want.Double || got.Echoes != want.Echoes) {
			t.Fatalf("case %d: %d doubles and %d echoes, followed one by one %d and %d", i, got.Double, got.Echoes,
				want.Double, want.Echoes)
		}
		if got.Verdict() == verdict.OK {
			whole++
		}
		all.Missing += got.Missing
		all.Double += got.Double
		all.Cycles += got.Cycles
	}
	if all.Missing == 0 || all.Double == 0 || all.Cycles == 0 || whole == 0 {
		t.Errorf("some kinds did not occur: %+v, %d whole", all, whole)
	}
}

func flip(r *rand.Rand, t *fabric.Tables) {
	if len(t.Fabric.Switches) == 0 {
		return
	}
	sw := fabric.SwitchIndex(r.IntN(len(t.Fabric.Switches)))
	out := r.IntN(int(t.Fabric.SwitchNode(sw).NumPorts) + 1)
	t.MFT.Ports(sw, fabric.FirstMLID+uint16(r.IntN(3)))[out>>6] ^= 1 << (out & 63)
}

// link is a cable between switches, used by a group or not.
type link struct{ a, b fabric.PortIndex }

func links(t *fabric.Tables, mlid uint16, used bool) (found []link) {
	f := t.Fabric
	for _, l := range f.Links() {
		sa, sb := f.Nodes[f.Ports[l.A].Node].Switch, f.Nodes[f.Ports[l.B].Node].Switch
		if sa == fabric.None || sb == fabric.None || sa == sb || !t.MFT.Any(sa, mlid) || !t.MFT.Any(sb, mlid) {
			continue
		}
		if t.MFT.Has(sa, mlid, f.Ports[l.A].Num) == used {
			found = append(found, link{l.A, l.B})
		}
	}
	return found
}

func set(t *fabric.Tables, mlid uint16, port fabric.PortIndex, on bool) {
	p := &t.Fabric.Ports[port]
	words := t.MFT.Ports(t.Fabric.Nodes[p.Node].Switch, mlid)
	words[p.Num>>6] &^= 1 << (p.Num & 63)
	if on {
		words[p.Num>>6] |= 1 << (p.Num & 63)
	}
}

// TestPlantedFaults plants one fault of a known kind into good tables of members that all send and receive. The check
// must find that kind.
func TestPlantedFaults(t *testing.T) {
	r := testenv.Rand(t)
	planted := map[string]int{}
	for range testenv.Count(t, 400, 4000) {
		tables, groups := routed(t, r, fabric.JoinFull)
		l := mcast.ByLID(tables.Fabric, groups)
		if len(l) == 0 || len(l[0].Members) < 2 {
			continue
		}
		before, err := mcast.Check(t.Context(), tables, groups, nil)
		if err != nil || before.Verdict() != verdict.OK {
			t.Fatalf("of good tables: %+v, %v", before, err)
		}
		what, kinds := plant(r, tables, l[0].MLID, l[0].Members[r.IntN(len(l[0].Members))].End)
		if what == "" {
			continue
		}
		planted[what]++
		after, err := mcast.Check(t.Context(), tables, groups, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range kinds {
			if !slices.ContainsFunc(after.Faults, func(f mcast.Fault) bool {
				return f.Kind == k && f.MLID == l[0].MLID
			}) {
				t.Fatalf("a %s was planted, and no %s is found: %+v", what, k, after)
			}
		}
	}
	t.Logf("planted: %v", planted)
	for _, what := range []string{"cycle", "missing branch", "missing member", "double delivery", "stranger",
		"dead port"} {
		if planted[what] == 0 {
			t.Errorf("no %s was planted", what)
		}
	}
}

// plant puts a fault into the tables of a LID, and returns the kind that must be found.
func plant(r *rand.Rand, t *fabric.Tables, mlid uint16, member fabric.PortIndex) (what string, kinds []mcast.Kind) {
	f := t.Fabric
	unused, used := links(t, mlid, false), links(t, mlid, true)
	sw, num := f.AttachedSwitch(member)
	switch r.IntN(6) {
	case 0: // an additional link in both directions
		if len(unused) > 0 {
			l := unused[r.IntN(len(unused))]
			set(t, mlid, l.a, true)
			set(t, mlid, l.b, true)
			return "cycle", []mcast.Kind{mcast.Cycle}
		}
	case 1: // a link of the tree in both directions
		if len(used) > 0 {
			l := used[r.IntN(len(used))]
			set(t, mlid, l.a, false)
			set(t, mlid, l.b, false)
			return "missing branch", []mcast.Kind{mcast.Missing}
		}
	case 2:
		set(t, mlid, f.SwitchNode(sw).FirstPort+fabric.PortIndex(num), false)
		return "missing member", []mcast.Kind{mcast.Missing}
	case 3: // a second path to a leaf of the tree, which sends nothing back
		for _, l := range unused {
			for _, l := range []link{l, {l.b, l.a}} {
				var ups []link
				tip := f.Ports[l.b].Node
				for _, u := range used {
					if f.Ports[u.a].Node == tip {
						ups = append(ups, u)
					} else if f.Ports[u.b].Node == tip {
						ups = append(ups, link{u.b, u.a})
					}
				}
				if len(ups) == 1 {
					set(t, mlid, l.a, true)
					set(t, mlid, ups[0].a, false)
					return "double delivery", []mcast.Kind{mcast.Double, mcast.OneWay}
				}
			}
		}
	case 4:
		for _, p := range r.Perm(len(f.EndPorts)) {
			if s, port := f.AttachedSwitch(f.EndPorts[p]); s != fabric.None && t.MFT.Any(s, mlid) &&
				!t.MFT.Has(s, mlid, port) {
				set(t, mlid, f.SwitchNode(s).FirstPort+fabric.PortIndex(port), true)
				return "stranger", []mcast.Kind{mcast.Stranger}
			}
		}
	case 5:
		for p := range fabric.PortIndex(f.SwitchNode(sw).NumPorts) {
			if port := f.SwitchNode(sw).FirstPort + 1 + p; !f.Ports[port].Linked() {
				set(t, mlid, port, true)
				return "dead port", []mcast.Kind{mcast.DeadPort}
			}
		}
	}
	return "", nil
}

// TestNoTreeWithoutFullMember checks that a group has a tree only as long as one of its members in the subnet is a full
// one (osm_multicast.c of OpenSM 3.3.23, osm_mgrp_cleanup).
func TestNoTreeWithoutFullMember(t *testing.T) {
	f, err := gen.ParseSpec("fattree:2,4")
	if err != nil {
		t.Fatal(err)
	}
	if f, err = fabric.AssignLIDs(f); err != nil {
		t.Fatal(err)
	}
	var hosts []uint64
	for _, e := range f.EndPorts {
		if !f.Nodes[f.Ports[e].Node].IsSwitch() {
			hosts = append(hosts, f.Ports[e].GUID)
		}
	}
	const gone = 0x1234
	member := func(guid uint64, join fabric.JoinState) fabric.Member { return fabric.Member{GUID: guid, Join: join} }
	for _, k := range []struct {
		members []fabric.Member
		tree    bool
	}{
		{[]fabric.Member{member(hosts[0], fabric.JoinFull), member(hosts[5], fabric.JoinSendOnly)}, true},
		{[]fabric.Member{member(hosts[0], fabric.JoinNon), member(hosts[5], fabric.JoinSendOnly)}, false},
		{
			[]fabric.Member{
				member(gone, fabric.JoinFull), member(hosts[0], fabric.JoinNon), member(hosts[5], fabric.JoinSendOnly),
			}, false,
		},
		{
			[]fabric.Member{member(hosts[0], fabric.JoinFull|fabric.JoinSendOnly), member(hosts[5], fabric.JoinNon)},
			true,
		},
	} {
		groups := []fabric.Group{{MLID: fabric.FirstMLID, Members: k.members}}
		res, err := mcast.Route(t.Context(), f, mcast.Router(f, routing.NewDistances(f), nil), groups, nil)
		if err != nil || (res.LIDs == 1) != k.tree {
			t.Errorf("%v: %+v, %v", k.members, res, err)
		}
	}
}
