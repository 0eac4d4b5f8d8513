// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/write"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/routing/changes/plan"
	"example.org/ibconsole/routing/checks/trees/treestest"
)

// someGroup returns a random tree over switches with the given hosts on it, as ports by switch. It is empty without
// members.
func someGroup(rnd *rand.Rand, f *fabric.Fabric, members []fabric.PortIndex) map[fabric.SwitchIndex][]uint8 {
	ports := map[fabric.SwitchIndex][]uint8{}
	if len(members) == 0 {
		return ports
	}
	root, _ := f.AttachedSwitch(members[0])
	up := map[fabric.SwitchIndex]fabric.PortIndex{root: fabric.None} // the port towards the root
	for grown := []fabric.SwitchIndex{root}; len(grown) > 0; {
		k := rnd.IntN(len(grown))
		n := f.SwitchNode(grown[k])
		more := false
		for _, num := range rnd.Perm(int(n.NumPorts)) {
			peer := f.Ports[n.FirstPort+fabric.PortIndex(num)+1].Peer
			if peer == fabric.None || !f.Nodes[f.Ports[peer].Node].IsSwitch() {
				continue
			}
			next := f.Nodes[f.Ports[peer].Node].Switch
			if _, seen := up[next]; !seen {
				up[next], more = peer, true
				grown = append(grown, next)
				break
			}
		}
		if !more {
			grown = slices.Delete(grown, k, k+1)
		}
	}
	add := func(sw fabric.SwitchIndex, port uint8) bool {
		if slices.Contains(ports[sw], port) {
			return false
		}
		ports[sw] = append(ports[sw], port)
		return true
	}
	for _, m := range members {
		sw, port := f.AttachedSwitch(m)
		if _, reached := up[sw]; !reached {
			continue
		}
		add(sw, port)
		for up[sw] != fabric.None {
			p := up[sw]
			above := f.Nodes[f.Ports[f.Ports[p].Peer].Node].Switch
			if !add(sw, f.Ports[p].Num) {
				break
			}
			add(above, f.Ports[f.Ports[p].Peer].Num)
			sw = above
		}
	}
	return ports
}

// someGroups returns tables of random groups. Each has the given members and a few random ones.
func someGroups(rnd *rand.Rand, f *fabric.Fabric, always [][]fabric.PortIndex) *fabric.MFT {
	t := fabric.NewMFT(f, uint16(fabric.FirstMLID+len(always)-1))
	var hosts []fabric.PortIndex
	for _, e := range f.EndPorts {
		if sw, _ := f.AttachedSwitch(e); sw != fabric.None && f.Nodes[f.Ports[e].Node].InSubnet {
			hosts = append(hosts, e)
		}
	}
	for i, members := range always {
		for range rnd.IntN(3) {
			members = append(slices.Clip(members), hosts[rnd.IntN(len(hosts))])
		}
		for sw, ports := range someGroup(rnd, f, members) {
			for _, p := range ports {
				t.Add(sw, uint16(fabric.FirstMLID+i), p)
			}
		}
	}
	return t
}

// cast holds the multicast tables of the switches.
type cast struct {
	t   *testing.T
	f   *fabric.Fabric
	has map[[3]int]bool // switch, LID from 0 on, port
}

func newCast(t *testing.T, live *fabric.Tables) *cast {
	c := &cast{t, live.Fabric, map[[3]int]bool{}}
	for sw := range c.f.NumSwitches() {
		for i := range live.MFT.LIDs() {
			for p := range int(c.f.SwitchNode(sw).NumPorts) + 1 {
				if live.MFT.Has(sw, uint16(fabric.FirstMLID+i), uint8(p)) {
					c.has[[3]int{int(sw), i, p}] = true
				}
			}
		}
	}
	return c
}

func (c *cast) write(b *write.MFTBlock) {
	for i := range 32 {
		for p := range 16 {
			key := [3]int{int(b.Switch), int(b.Num)*32 + i, int(b.Position)*16 + p}
			if old := b.Old[i]>>p&1 != 0; old != c.has[key] {
				c.t.Errorf("block %d of switch %d for ports from %d on differs from the plan's old content",
					b.Num, b.Switch,
					16*b.Position)
			}
			delete(c.has, key)
			if b.New[i]>>p&1 != 0 {
				c.has[key] = true
			}
		}
	}
}

// send follows all copies of a packet that a port sends to a group. It returns the ports of hosts and of switches that
// receive it, and whether one receives it twice or a packet visits a switch twice.
func (c *cast) send(src fabric.PortIndex, lid int) (heard map[fabric.PortIndex]bool, twice bool) {
	heard = map[fabric.PortIndex]bool{}
	type copyOf struct{ sw, in int }
	sw, in := c.f.AttachedSwitch(src)
	todo := []copyOf{{int(sw), int(in)}}
	met := map[int]bool{}
	for len(todo) > 0 && !twice {
		at := todo[0]
		todo = todo[1:]
		twice = met[at.sw]
		met[at.sw] = true
		n := c.f.SwitchNode(fabric.SwitchIndex(at.sw))
		for p := range int(n.NumPorts) + 1 {
			if p == at.in || !c.has[[3]int{at.sw, lid, p}] {
				continue
			}
			port := n.FirstPort + fabric.PortIndex(p)
			if p > 0 {
				port = c.f.Ports[port].Peer
			}
			if port == fabric.None {
				continue
			}
			if next := c.f.Nodes[c.f.Ports[port].Node].Switch; next != fabric.None && p > 0 {
				todo = append(todo, copyOf{int(next), int(c.f.Ports[port].Num)})
				continue
			}
			twice = twice || heard[port]
			heard[port] = true
		}
	}
	return heard, twice
}

// TestNoMulticastComesTwice carries out random plans write by write, and follows the packets of every member and of
// other hosts after each. It shares no code with the planner.
func TestNoMulticastComesTwice(t *testing.T) {
	rnd := testenv.Rand(t)
	hit, spared, apart := 0, 0, 0
	for i := range testenv.Count(t, 40, 500) {
		f := treestest.Random(t, rnd).Activated()
		if len(f.Switches) == 0 || !f.SwitchNode(0).InSubnet {
			continue
		}
		always := make([][]fabric.PortIndex, 1+rnd.IntN(40))
		for g := range always {
			for range rnd.IntN(4) {
				e := f.EndPorts[rnd.IntN(len(f.EndPorts))]
				if sw, _ := f.AttachedSwitch(e); sw != fabric.None && f.Nodes[f.Ports[e].Node].InSubnet {
					always[g] = append(always[g], e)
				}
			}
		}
		_, live := someRoutes(t, rnd, f)
		one, other := *live, *live
		one.MFT, other.MFT = someGroups(rnd, f, always[:1+rnd.IntN(len(always))]), someGroups(rnd, f, always)
		if rnd.IntN(3) == 0 { // groups that only grow
			other.MFT = one.MFT.Clone()
		}
		p := made(t, &one, &other)
		if len(p.Blocks)+len(p.Tops)+len(p.LIDs) > 0 {
			t.Fatalf("case %d: not only multicast: %+v", i, p.Totals())
		}
		for _, dir := range []struct {
			from, to *fabric.Tables
			p        *plan.Plan
		}{{&one, &other, p}, {&other, &one, made(t, &other, &one)}} {
			carryOut(t, rnd, dir.from, dir.to, dir.p)
		}
		if t.Failed() {
			t.Fatalf("case %d: %d switches, %d groups: %+v", i, len(f.Switches), len(always), p.Totals())
		}
		hit += len(p.Hit.Groups)
		for _, b := range p.MFTs {
			if !b.Grow {
				apart++
			}
		}
		spared += len(always) - len(p.Hit.Groups)
	}
	if hit == 0 || spared == 0 || apart == 0 {
		t.Errorf("some cases did not occur: %d groups interrupted, %d not, %d blocks that remove branches", hit,
			spared, apart)
	}
	t.Logf("%d groups interrupted, %d not, %d blocks that remove branches", hit, spared, apart)
}

func carryOut(t *testing.T, rnd *rand.Rand, from, to *fabric.Tables, p *plan.Plan) {
	t.Helper()
	now, then := newCast(t, from), newCast(t, to)
	lids := max(from.MFT.LIDs(), to.MFT.LIDs())
	before := newCast(t, from)
	type key struct{ src, dst fabric.PortIndex }
	kept := make([]map[key]bool, lids) // pairs that reach one another before and after
	for lid := range lids {
		kept[lid] = map[key]bool{}
		if slices.Contains(p.Hit.Groups, uint16(fabric.FirstMLID+lid)) {
			continue
		}
		for _, src := range from.Fabric.EndPorts {
			sw, in := from.Fabric.AttachedSwitch(src)
			if sw == fabric.None || !before.has[[3]int{int(sw), lid, int(in)}] ||
				!then.has[[3]int{int(sw), lid, int(in)}] {
				continue
			}
			a, _ := before.send(src, lid)
			b, _ := then.send(src, lid)
			for dst := range a {
				if b[dst] {
					kept[lid][key{src, dst}] = true
				}
			}
		}
	}
	check := func(first int) {
		for lid := first; lid < min(first+32, lids); lid++ {
			for _, src := range from.Fabric.EndPorts {
				if sw, _ := from.Fabric.AttachedSwitch(src); sw == fabric.None {
					continue
				}
				heard, twice := now.send(src, lid)
				if twice {
					t.Errorf("a packet of %s to group %d arrives twice", from.Fabric.PortName(src), lid)
					return
				}
				for _, dst := range from.Fabric.EndPorts {
					if kept[lid][key{src, dst}] && !heard[dst] {
						t.Errorf("group %d is not reported as interrupted: %s to %s", lid, from.Fabric.PortName(src),
							from.Fabric.PortName(dst))
						return
					}
				}
			}
		}
	}
	for _, grow := range []bool{false, true} {
		for _, i := range rnd.Perm(len(p.MFTs)) {
			if b := &p.MFTs[i]; b.Grow == grow && !t.Failed() {
				now.write(b)
				check(int(b.Num) * 32)
			}
		}
	}
	if len(now.has) != len(then.has) {
		t.Errorf("%d entries in the end, want %d", len(now.has), len(then.has))
	}
	for k := range then.has {
		if !now.has[k] {
			t.Errorf("entry %v is missing in the end", k)
		}
	}
}
