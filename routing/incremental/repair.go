// SPDX-License-Identifier: Apache-2.0

package incremental

import (
	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// far is the number of hops of what is not reached.
const far = 255

// repair is the work on one set of tables.
type repair struct {
	f     *fabric.Fabric
	old   *fabric.Tables
	lft   *fabric.LFT
	graph *routing.Graph
	// before is the old index of each switch.
	before []int32
	// used are the numbers of entries by port of the switches that were touched.
	used map[int32]*[256]int32

	touched   map[int32]bool
	entries   int
	looked    int
	unreached []Unreached

	// Of the LID at hand: the switches that have lost their way, in the order in
	// which they were found, and the hops of all that were asked about.
	lost  []int32
	state []uint8
	hops  []uint8
	seen  []int32
	queue [64][]int32
}

// The states of a switch for the LID at hand.
const (
	asIs uint8 = iota
	lost
	found
)

func newRepair(f *fabric.Fabric, old *fabric.Tables) *repair {
	r := &repair{
		f: f, old: old, graph: routing.NewGraph(f), before: make([]int32, len(f.Switches)), used: map[int32]*[256]int32{},
		touched: map[int32]bool{}, state: make([]uint8, len(f.Switches)), hops: make([]uint8, len(f.Switches)),
	}
	same := len(f.Switches) == len(old.Fabric.Switches)
	for sw := range f.Switches {
		guid := f.SwitchNode(int32(sw)).GUID
		r.before[sw] = int32(sw)
		if !same || old.Fabric.SwitchNode(int32(sw)).GUID != guid {
			same = false
			r.before[sw] = old.Fabric.SwitchByGUID(guid)
		}
	}
	if same && f.MaxLID <= old.LFT.MaxLID {
		r.lft = old.LFT.Clone()
		return r
	}
	r.lft = fabric.NewLFT(len(f.Switches), max(f.MaxLID, old.LFT.MaxLID))
	for sw, was := range r.before {
		if was != fabric.None {
			copy(r.lft.Row(int32(sw)), old.LFT.Row(was))
		}
	}
	return r
}

func (r *repair) result() *Result {
	t := fabric.NewTables(r.f, r.lft, "incremental")
	return &Result{
		Tables: t, Touched: r.entries, Switches: len(r.touched), Unreached: r.unreached, Looked: r.looked,
		Changes: Verdicts(r.old.Fabric, r.f),
	}
}

// set writes an entry.
func (r *repair) set(s int32, lid uint16, port uint8) {
	row := r.lft.Row(s)
	if row[lid] == port {
		return
	}
	used := r.usage(s)
	used[row[lid]]--
	used[port]++
	row[lid] = port
	r.entries++
	r.touched[s] = true
}

// usage counts the entries of a switch by port.
func (r *repair) usage(s int32) *[256]int32 {
	used, ok := r.used[s]
	if !ok {
		used = new([256]int32)
		for _, port := range r.lft.Row(s)[1 : int(r.f.MaxLID)+1] {
			used[port]++
		}
		r.used[s] = used
	}
	return used
}

// lid repairs the entries for one LID.
func (r *repair) lid(lid uint16, broken []int32, anew bool) {
	owner := r.f.PortByLID(lid)
	target, port := r.f.AttachedSwitch(owner)
	if target == fabric.None {
		return
	}
	r.begin()
	if anew {
		for s := range r.f.Switches {
			if r.f.SwitchNode(int32(s)).InSubnet {
				r.lose(int32(s))
			}
		}
	}
	for _, s := range broken {
		r.lose(s)
	}
	if r.lft.Port(target, lid) != port {
		r.lose(target)
	}
	r.loseFeeders(lid)
	if r.state[target] == lost {
		r.set(target, lid, port)
		r.state[target], r.hops[target] = found, 0
	}
	r.findWays(lid, target)
}

func (r *repair) begin() {
	for _, s := range r.lost {
		r.state[s] = asIs
	}
	for _, s := range r.seen {
		r.hops[s] = 0
	}
	r.lost, r.seen = r.lost[:0], r.seen[:0]
}

func (r *repair) lose(s int32) {
	if r.state[s] == asIs {
		r.state[s] = lost
		r.lost = append(r.lost, s)
	}
}

// loseFeeders finds the switches whose way leads through one that is lost.
func (r *repair) loseFeeders(lid uint16) {
	for i := 0; i < len(r.lost); i++ {
		for _, l := range r.graph.Of(r.lost[i]) {
			r.looked++
			if r.lft.Row(l.Peer)[lid] == l.PeerPort {
				r.lose(l.Peer)
			}
		}
	}
}

// hopsFrom is the number of links from a switch to the target by the entries, far
// where they do not lead there.
func (r *repair) hopsFrom(s int32, lid uint16, target int32) uint8 {
	switch {
	case r.state[s] == lost:
		return far
	case r.state[s] == found:
		return r.hops[s]
	case r.hops[s] > 0:
		return r.hops[s] - 1
	}
	n := uint8(0)
	for at := s; at != target; n++ {
		port := r.f.PortAt(r.f.Switches[at], int(r.lft.Row(at)[lid]))
		next := fabric.None
		if port != fabric.None {
			next = r.f.PeerSwitch(port)
		}
		if next == fabric.None || n >= 63 || r.state[next] == lost {
			n = far - 1
			break
		}
		at = next
	}
	r.hops[s] = n + 1
	r.seen = append(r.seen, s)
	return n
}

// findWays gives each switch that is lost the way of the fewest hops, the nearest
// first.
func (r *repair) findWays(lid uint16, target int32) {
	for i := range r.queue {
		r.queue[i] = r.queue[i][:0]
	}
	for _, s := range r.lost {
		if r.state[s] == found {
			r.spread(s)
			continue
		}
		best := uint8(far)
		for _, l := range r.graph.Of(s) {
			best = min(best, r.hopsFrom(l.Peer, lid, target))
		}
		if best < 62 {
			r.queue[best+1] = append(r.queue[best+1], s)
		}
	}
	for h := 1; h < len(r.queue); h++ {
		for i := 0; i < len(r.queue[h]); i++ {
			if s := r.queue[h][i]; r.state[s] == lost {
				r.set(s, lid, r.choose(s, lid, target, uint8(h)))
				r.state[s], r.hops[s] = found, uint8(h)
				r.spread(s)
			}
		}
	}
	for _, s := range r.lost {
		if r.state[s] == lost {
			r.unreached = append(r.unreached, Unreached{s, lid})
		}
	}
}

// spread lets the neighbours of a switch that has found its way try that.
func (r *repair) spread(s int32) {
	h := int(r.hops[s]) + 1
	if h >= len(r.queue) {
		return
	}
	for _, l := range r.graph.Of(s) {
		if r.state[l.Peer] == lost {
			r.queue[h] = append(r.queue[h], l.Peer)
		}
	}
}

// choose is the port of a switch whose way has h hops: the one it has, else one
// that leads to the switch to which it led, else any; of equals the one with the
// fewest entries.
func (r *repair) choose(s int32, lid uint16, target int32, h uint8) uint8 {
	now := r.lft.Row(s)[lid]
	oldPeer := r.oldPeer(s, now)
	used := r.usage(s)
	var best uint8
	bestRank, bestUsed := 3, int32(0)
	for _, l := range r.graph.Of(s) {
		if r.state[l.Peer] == lost || r.hopsFrom(l.Peer, lid, target)+1 != h {
			continue
		}
		rank := 2
		switch {
		case l.Port == now:
			rank = 0
		case l.Peer == oldPeer:
			rank = 1
		}
		if rank < bestRank || rank == bestRank && used[l.Port] < bestUsed {
			best, bestRank, bestUsed = l.Port, rank, used[l.Port]
		}
	}
	return best
}

// oldPeer is the switch, by its index now, to which a port led before.
func (r *repair) oldPeer(s int32, port uint8) int32 {
	was := r.before[s]
	if was == fabric.None {
		return fabric.None
	}
	p := r.old.Fabric.PortAt(r.old.Fabric.Switches[was], int(port))
	if p == fabric.None {
		return fabric.None
	}
	peer := r.old.Fabric.PeerNode(p)
	if peer == fabric.None {
		return fabric.None
	}
	return r.f.SwitchByGUID(r.old.Fabric.Nodes[peer].GUID)
}
