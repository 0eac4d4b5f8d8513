// SPDX-License-Identifier: Apache-2.0

package incremental

import (
	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// far is the hop count of a switch without a path.
const far = 255

// repair repairs one set of tables, LID by LID. The entries for one LID depend on the entries for other LIDs only
// through the number of entries at each port.
type repair struct {
	f, wasFabric *fabric.Fabric
	unread       fabric.Unread
	// links returns the cables of a switch. column returns the entries of all switches for a LID.
	links  func(s fabric.SwitchIndex) []routing.SwitchLink
	column func(lid uint16) []uint8
	// depth returns the number of links from each switch to the switch of the LID. attached returns the switch of the
	// LID and its port to the LID.
	depth    func(lid uint16, target fabric.SwitchIndex) []uint8
	attached func(lid uint16) (sw fabric.SwitchIndex, port uint8)
	// count writes to used the number of entries of a switch by port.
	count func(s fabric.SwitchIndex, used []uint16)
	// oldPeer returns the switch to which a port led in the old fabric, by its index in the new fabric.
	oldPeer func(s fabric.SwitchIndex, port uint8) fabric.SwitchIndex

	// used holds the number of entries by port, for the switches listed in counted. isIn marks these switches.
	used    [][]uint16
	counted []fabric.SwitchIndex
	isIn    []bool

	edits     []fabric.Edit
	lids      int
	looked    int
	unreached []Unreached

	// The fields below describe the current LID. entries holds the entries of all switches. lost lists the switches
	// that have lost their path, in the order in which they were found. state holds the state of each switch.
	entries []uint8
	lost    []fabric.SwitchIndex
	state   []uint8
	// reached lists the lost switches that have found a new path, the nearest first.
	reached []fabric.SwitchIndex
	// The field depths holds the hop counts of the unchanged switches, hops those of the changed switches.
	depths, hops []uint8
	// queue[h] lists the switches that may have a path of h hops. deepest is the highest h in use.
	queue   [64][]fabric.SwitchIndex
	deepest int
}

// The states of a switch for the current LID.
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

// newCounts returns a counter for each port of each switch.
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

// countEntries counts entries of a switch by port. It skips entries that are not the number of a port of the switch.
func countEntries(used []uint16, entries []uint8) {
	for _, port := range entries {
		if int(port) < len(used) {
			used[port]++
		}
	}
}

// unreadOf returns which parts of adapted tables are unknown. The service levels and the SL2VL tables are not adapted
// to the new routes. They count as unread if the old tables have service levels.
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

// owned reports whether a port of the subnet has a LID. Only such LIDs are routed.
func (r *repair) owned(lid uint16) bool { return r.f.PortByLID(lid) != fabric.None }

// switches returns the number of distinct switches in edits.
func switches(edits []fabric.Edit) int {
	seen := map[fabric.SwitchIndex]bool{}
	for _, e := range edits {
		seen[e.Switch] = true
	}
	return len(seen)
}

// set sets an entry.
func (r *repair) set(s fabric.SwitchIndex, lid uint16, port uint8) {
	if was := r.entries[s]; was != port {
		r.change(s, lid, was, port)
	}
}

// change replaces an entry by a different entry.
func (r *repair) change(s fabric.SwitchIndex, lid uint16, was, port uint8) {
	used := r.usage(s)
	if int(was) < len(used) && used[was] != gone {
		used[was]--
	}
	used[port]++
	r.edits = append(r.edits, fabric.Edit{Switch: s, LID: lid, Port: port})
}

// usage returns the number of entries of a switch by port.
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
	if d.all {
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

// loseFeeders finds the switches whose path uses a lost switch, and marks them as lost as well.
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

// findPaths sets, for each lost switch, an entry on a path of the fewest hops.
func (r *repair) findPaths(lid uint16) {
	r.findHops()
	for _, s := range r.reached {
		r.set(s, lid, r.choose(s, r.hops[s]))
	}
	r.noteUnreached(lid)
}

// noteUnreached records the switches that are still lost.
func (r *repair) noteUnreached(lid uint16) {
	for _, s := range r.lost {
		if r.state[s] == lost {
			r.unreached = append(r.unreached, Unreached{s, lid})
		}
	}
}

// findHops finds the fewest hops of each lost switch, visiting the nearest switches first.
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

// hopsOf returns the number of links on the path of a switch to the current LID, or far if it has no path.
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

// spread adds the lost neighbours of a switch that has found its path to the queue.
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

// choose returns a port of a switch through which the path has h hops. It prefers the present port, then a port that
// leads to the same switch as before, then any other port. Among equal ports it returns the port with the fewest
// entries.
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
