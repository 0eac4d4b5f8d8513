// SPDX-License-Identifier: Apache-2.0

package incremental

import (
	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// far is the number of hops of what is not reached.
const far = 255

// repair is the work on one set of tables. Entries for one LID do not depend on
// those for another, but for how many there are by each port.
type repair struct {
	f, wasFabric *fabric.Fabric
	unread       fabric.Unread
	// links are the cables of a switch, and column the entries for a LID.
	links  func(s fabric.SwitchIndex) []routing.SwitchLink
	column func(lid uint16) []uint8
	// depth is over how many links packets reached the switch of the LID, and attached
	// which one that is and the port that leads on from there.
	depth    func(lid uint16, target fabric.SwitchIndex) []uint8
	attached func(lid uint16) (sw fabric.SwitchIndex, port uint8)
	// count counts the entries of a switch by port.
	count func(s fabric.SwitchIndex, used []uint16)
	// oldPeer is the switch, by its index now, to which a port led before.
	oldPeer func(s fabric.SwitchIndex, port uint8) fabric.SwitchIndex

	// used are the numbers of entries by port of the switches in counted.
	used    [][]uint16
	counted []fabric.SwitchIndex
	isIn    []bool

	edits     []fabric.Edit
	lids      int
	looked    int
	unreached []Unreached

	// Of the LID at hand: the entries, the switches that have lost their path, in the
	// order in which they were found, and the hops of all that were asked about.
	entries []uint8
	lost    []fabric.SwitchIndex
	state   []uint8
	// reached are the lost ones that have found a path, the nearest first.
	reached []fabric.SwitchIndex
	// depths are the hops of those that are as they were, hops of the others.
	depths, hops []uint8
	// queue are the switches that may have a path of so many hops, up to deepest.
	queue   [64][]fabric.SwitchIndex
	deepest int
}

// The states of a switch for the LID at hand.
const (
	asIs uint8 = iota
	lost
	found
)

func (r *repair) init(f *fabric.Fabric) {
	n := len(f.Switches)
	r.used, r.isIn = newCounts(f), make([]bool, n)
	r.state, r.hops = make([]uint8, n), make([]uint8, n)
}

// newCounts has a number for each port of each switch.
func newCounts(f *fabric.Fabric) [][]uint16 {
	ports := 0
	for _, n := range f.Switches {
		ports += int(f.Nodes[n].NumPorts) + 1
	}
	counts, all := make([][]uint16, len(f.Switches)), make([]uint16, ports)
	for s, n := range f.Switches {
		ports := int(f.Nodes[n].NumPorts) + 1
		counts[s], all = all[:ports:ports], all[ports:]
	}
	return counts
}

// countEntries adds entries of a switch to those by each of its ports. Those that name no port of it are nobody's.
func countEntries(used []uint16, entries []uint8) {
	for _, port := range entries {
		if int(port) < len(used) {
			used[port]++
		}
	}
}

// unreadOf says what is not known of adapted tables: hosts and lanes keep the service
// levels and mappings that they have, which nobody fits to other routes.
func unreadOf(was *fabric.Tables) fabric.Unread {
	if was.SLs != nil {
		return fabric.Unread{SLs: true, SL2VL: true}
	}
	return was.Unread
}

func (r *repair) result(lft *fabric.LFT) *Result {
	tables := fabric.NewTables(r.f, lft, "incremental")
	tables.Unread = r.unread
	return &Result{
		Tables: tables, Touched: len(r.edits), Switches: switches(r.edits), Unreached: r.unreached,
		Looked: r.looked, LIDs: r.lids, Changes: Verdicts(r.wasFabric, r.f),
	}
}

// owned reports whether a LID is to be routed: a port of the subnet has it.
func (r *repair) owned(lid uint16) bool { return r.f.PortByLID(lid) != fabric.None }

// switches counts those that have edits.
func switches(edits []fabric.Edit) int {
	seen := map[fabric.SwitchIndex]bool{}
	for _, e := range edits {
		seen[e.Switch] = true
	}
	return len(seen)
}

// set writes an entry.
func (r *repair) set(s fabric.SwitchIndex, lid uint16, port uint8) {
	if was := r.entries[s]; was != port {
		r.change(s, lid, was, port)
	}
}

// change writes an entry that is another one than was.
func (r *repair) change(s fabric.SwitchIndex, lid uint16, was, port uint8) {
	used := r.usage(s)
	if int(was) < len(used) && used[was] != gone {
		used[was]--
	}
	used[port]++
	r.edits = append(r.edits, fabric.Edit{Switch: s, LID: lid, Port: port})
}

// usage counts the entries of a switch by port.
func (r *repair) usage(s fabric.SwitchIndex) []uint16 {
	used := r.used[s]
	if !r.isIn[s] {
		r.isIn[s] = true
		r.counted = append(r.counted, s)
		r.count(s, used)
	}
	return used
}

// lid repairs the entries for one LID.
func (r *repair) lid(d task) {
	lid := d.lid
	target, port := r.attached(lid)
	if target == fabric.None {
		return
	}
	r.begin()
	r.entries = r.column(lid)
	r.depths = r.depth(lid, target)
	if d.anew {
		for s := range r.f.NumSwitches() {
			if r.f.SwitchNode(s).InSubnet {
				r.lose(s)
			}
		}
	}
	for _, s := range d.broken {
		r.lose(s)
	}
	if r.entries[target] != port {
		r.lose(target)
	}
	r.loseFeeders()
	if r.state[target] == lost {
		r.set(target, lid, port)
		r.state[target], r.hops[target] = found, 0
	}
	r.findPaths(lid)
}

func (r *repair) begin() {
	for _, s := range r.lost {
		r.state[s] = asIs
	}
	r.lost = r.lost[:0]
}

func (r *repair) lose(s fabric.SwitchIndex) {
	if r.state[s] == asIs {
		r.state[s], r.hops[s] = lost, far
		r.lost = append(r.lost, s)
	}
}

// loseFeeders finds the switches whose path leads through one that is lost.
func (r *repair) loseFeeders() {
	for i := 0; i < len(r.lost); i++ {
		links := r.links(r.lost[i])
		r.looked += len(links)
		for _, l := range links {
			if r.entries[l.Peer] == l.PeerPort {
				r.lose(l.Peer)
			}
		}
	}
}

// findPaths gives each switch that is lost the path of the fewest hops.
func (r *repair) findPaths(lid uint16) {
	r.findHops()
	for _, s := range r.reached {
		r.set(s, lid, r.choose(s, r.hops[s]))
	}
	r.noteUnreached(lid)
}

// noteUnreached notes the switches that are lost still.
func (r *repair) noteUnreached(lid uint16) {
	for _, s := range r.lost {
		if r.state[s] == lost {
			r.unreached = append(r.unreached, Unreached{s, lid})
		}
	}
}

// findHops finds the fewest hops of each switch that is lost, the nearest first.
func (r *repair) findHops() {
	r.emptyQueue()
	r.reached = r.reached[:0]
	for _, s := range r.lost {
		if r.state[s] == found {
			r.spread(s)
			continue
		}
		best := uint8(far)
		for _, l := range r.links(s) {
			best = min(best, r.hopsOf(l.Peer))
		}
		if best < 62 {
			r.enqueue(int(best)+1, s)
		}
	}
	for h := 1; h <= r.deepest; h++ {
		for i := 0; i < len(r.queue[h]); i++ {
			if s := r.queue[h][i]; r.state[s] == lost {
				r.state[s], r.hops[s] = found, uint8(h)
				r.reached = append(r.reached, s)
				r.spread(s)
			}
		}
	}
}

// hopsOf is over how many links packets of a switch arrive, far where they do not.
func (r *repair) hopsOf(s fabric.SwitchIndex) uint8 {
	if r.state[s] == asIs {
		return r.depths[s]
	}
	return r.hops[s]
}

func (r *repair) emptyQueue() {
	for i := range r.deepest + 1 {
		r.queue[i] = r.queue[i][:0]
	}
	r.deepest = 0
}

func (r *repair) enqueue(h int, s fabric.SwitchIndex) {
	r.queue[h] = append(r.queue[h], s)
	r.deepest = max(r.deepest, h)
}

// spread lets the neighbours of a switch that has found its path try that.
func (r *repair) spread(s fabric.SwitchIndex) {
	h := int(r.hops[s]) + 1
	if h >= len(r.queue) {
		return
	}
	for _, l := range r.links(s) {
		if r.state[l.Peer] == lost {
			r.enqueue(h, l.Peer)
		}
	}
}

// choose is the port of a switch whose path has h hops: the one it has, else one that leads to the switch to
// which it led, else any; of equals the one with the fewest entries.
func (r *repair) choose(s fabric.SwitchIndex, h uint8) uint8 {
	now := r.entries[s]
	used, oldPeer := r.usage(s), r.oldPeer(s, now)
	best, bestRank, bestUsed := now, 3, uint16(0)
	for _, l := range r.links(s) {
		if r.hopsOf(l.Peer)+1 != h {
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
