// SPDX-License-Identifier: Apache-2.0

package incremental

import (
	"context"
	"math"
	"math/bits"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/hugepages"
	"example.org/ibconsole/routing"
)

// least holds data about LIDs to which all packets take the fewest possible hops.
type least struct {
	// lids marks them. The entry of their last switch is right as well.
	lids []bool
	// nearer holds, by the switch of such a LID, the cables of all switches that lead a hop nearer to it: bit i of the
	// words of a switch, which start at first, is its cable at port lowest + i.
	nearer [][]uint64
	first  []int32
	lowest []uint8
	// parallel marks the switches that have several cables to one other switch.
	parallel []bool
}

// part returns the words of one switch.
func (l *least) part(words []uint64, s fabric.SwitchIndex) []uint64 {
	return words[l.first[s]:l.first[s+1]]
}

// words returns the number of words that hold a bit for each cable of a switch.
func (l *least) words(s fabric.SwitchIndex) int32 { return l.first[s+1] - l.first[s] }

// among reports whether a port belongs to a set of cables of a switch.
func (l *least) among(s fabric.SwitchIndex, cables []uint64, port uint8) bool {
	bit := int(port) - int(l.lowest[s])
	return bit >= 0 && bit < 64*len(cables) && cables[bit/64]>>(bit%64)&1 == 1
}

// add adds the cable at a port to a set of cables of a switch.
func (l *least) add(s fabric.SwitchIndex, cables []uint64, port uint8) {
	bit := port - l.lowest[s]
	cables[bit/64] |= 1 << (bit % 64)
}

// mostHops is less than the length of the queue.
const mostHops = 60

// Measured returns the base with additional data, which makes routing failures faster for LIDs to which all packets
// take the fewest hops. The resulting entries are the same. It adds one bit for each cable and switch. O(cables x
// switches) on all processors.
func (b *Base) Measured(ctx context.Context) (*Base, error) {
	l, err := b.findLeast(ctx)
	if err != nil {
		return nil, err
	}
	graph, switches := b.Graph, fabric.SwitchIndex(len(b.used))
	l.first, l.lowest, l.parallel = make([]int32, 1, switches+1), make([]uint8, switches), make([]bool, switches)
	for s := range switches {
		words := int32(0)
		if links := graph.Of(s); len(links) > 0 {
			l.lowest[s], l.parallel[s] = links[0].Port, parallel(links)
			words = int32(links[len(links)-1].Port-links[0].Port)/64 + 1
		}
		l.first = append(l.first, l.first[s]+words)
	}
	l.nearer = make([][]uint64, switches)
	depths := make([][]uint8, switches)
	targets := 0
	for lid, at := range b.At {
		if l.lids[lid] && depths[at] == nil {
			depths[at] = b.Depth(uint16(lid))
			targets++
		}
	}
	words := int(l.first[switches])
	all := hugepages.Make[uint64](targets * words)
	for at := range depths {
		if depths[at] != nil {
			l.nearer[at], all = all[:words:words], all[words:]
		}
	}
	err = routing.ForEach(ctx, len(depths), nil, func(_, at int) {
		if depths[at] != nil {
			l.findNearer(l.nearer[at], graph, depths[at])
		}
	})
	return &Base{Forest: b.Forest, used: b.used, least: l}, err
}

// parallel reports whether two cables lead to one switch.
func parallel(links []routing.SwitchLink) bool {
	peers := make([]fabric.SwitchIndex, len(links))
	for i, l := range links {
		peers[i] = l.Peer
	}
	slices.Sort(peers)
	return len(slices.Compact(peers)) < len(links)
}

// findNearer finds the cables that lead nearer to a switch from the depths below it.
func (l *least) findNearer(words []uint64, graph *routing.Graph, depth []uint8) {
	for s := range depth {
		own := l.part(words, fabric.SwitchIndex(s))
		for _, link := range graph.Of(fabric.SwitchIndex(s)) {
			if depth[link.Peer]+1 == depth[s] {
				l.add(fabric.SwitchIndex(s), own, link.Port)
			}
		}
	}
}

// findLeast finds the LIDs to which all packets take the fewest hops.
func (b *Base) findLeast(ctx context.Context) (*least, error) {
	// LIDs with the same depths are examined once, as the first of them.
	first, at := make([]uint16, len(b.At)), map[*uint8]uint16{}
	var some []uint16
	for lid := range b.At {
		depth := &b.Depth(uint16(lid))[0]
		was, ok := at[depth]
		if !ok {
			was = uint16(lid)
			at[depth] = was
			some = append(some, was)
		}
		first[lid] = was
	}
	takes := make([]bool, len(b.At))
	err := routing.ForEach(ctx, len(some), nil, func(_, i int) { takes[some[i]] = b.takesLeast(some[i]) })
	lids := make([]bool, len(b.At))
	for lid, at := range b.At {
		lids[lid] = takes[first[lid]] && b.Column(uint16(lid))[at] == b.Local[lid]
	}
	return &least{lids: lids}, err
}

// takesLeast reports whether no switch would need fewer hops to the switch of a LID through another neighbour.
func (b *Base) takesLeast(lid uint16) bool {
	if b.At[lid] == fabric.None {
		return false
	}
	depth := b.Depth(lid)
	for s := range b.Tables.Fabric.NumSwitches() {
		if int(depth[s]) >= mostHops && b.Tables.Fabric.SwitchNode(s).InSubnet {
			return false
		}
		for _, l := range b.Graph.Of(s) {
			if int(depth[l.Peer])+1 < int(depth[s]) {
				return false
			}
		}
	}
	return true
}

// keepHops replaces the entries of switches for a LID by others with the same number of hops where possible, and
// otherwise also those of the switches that feed them. Where packets take the fewest hops and links are only removed,
// no other path changes: paths through a switch that keeps its number of hops stay.
func (w *Worker) keepHops(d task) {
	if w.keepAll(d) {
		return
	}
	o, entries := w.loss(d.lid), w.base.Column(d.lid)
	for _, x := range o.cut {
		if entries[x.at] == x.port {
			w.replace(x.at, d.lid, x.port, o.cables[x.first:x.first+w.base.least.words(x.at)])
		}
	}
	for _, x := range o.farther {
		cables := o.cables[x.first : x.first+w.base.least.words(x.at)]
		if was := entries[x.at]; !w.base.least.among(x.at, cables, was) {
			w.replace(x.at, d.lid, was, cables)
		}
	}
	for _, s := range o.unreached {
		w.unreached = append(w.unreached, Unreached{s, d.lid})
	}
}

// keepAll replaces the broken entries for a LID by others that lead nearer, if all these switches have such cables.
func (w *Worker) keepAll(d task) bool {
	ok, near := true, w.near
	for _, s := range d.broken {
		n := w.base.least.words(s)
		ok = ok && w.anyLeft(s, near[:n])
		near = near[n:]
	}
	if ok {
		near = w.near
		for _, s := range d.broken {
			n := w.base.least.words(s)
			// The row of a switch for the LIDs of one port is more local in memory than the column of one LID.
			w.replace(s, d.lid, w.base.Tables.LFT.Row(s)[d.lid], near[:n])
			near = near[n:]
		}
	}
	w.near = near
	return ok
}

// gather collects the cables that lead nearer for the switches with broken entries, in the order in which keepAll uses
// them. In a loop of its own the reads from memory overlap.
func (w *Worker) gather() {
	l := w.base.least
	near := w.nearAll[:0]
	for i := range w.tasks {
		d := &w.tasks[i]
		if !l.lids[d.lid] {
			continue
		}
		nearer := l.nearer[w.base.At[d.lid]]
		for _, s := range d.broken {
			near = append(near, l.part(nearer, s)...)
		}
	}
	w.nearAll, w.near = near, near
}

// anyLeft reports whether a cable of a set has not failed.
func (w *Worker) anyLeft(s fabric.SwitchIndex, cables []uint64) bool {
	used := w.usage(s)[w.base.least.lowest[s]:]
	for i, word := range cables {
		for ; word != 0; word &= word - 1 {
			if used[i*64+bits.TrailingZeros64(word)] != gone {
				return true
			}
		}
	}
	return false
}

// replace does the same as [repair.choose] among a set of cables of a switch of which at least one has not failed.
func (w *Worker) replace(s fabric.SwitchIndex, lid uint16, was uint8, cables []uint64) {
	if w.base.least.parallel[s] {
		cables = w.preferred(s, cables, w.oldPeer(s, was))
	}
	w.change(s, lid, was, w.fewest(s, cables))
}

// preferred returns the cables of a set that lead to another switch, or the whole set if none does.
func (w *Worker) preferred(s fabric.SwitchIndex, cables []uint64, to fabric.SwitchIndex) []uint64 {
	only, found := w.only[:len(cables)], false
	clear(only)
	for _, l := range w.links(s) {
		if l.Peer == to && w.base.least.among(s, cables, l.Port) {
			w.base.least.add(s, only, l.Port)
			found = true
		}
	}
	if found {
		return only
	}
	return cables
}

// fewest returns the port with the fewest entries in a set of cables of a switch, the lowest of several.
func (w *Worker) fewest(s fabric.SwitchIndex, cables []uint64) uint8 {
	lowest := w.base.least.lowest[s]
	used := w.usage(s)[lowest:]
	best := uint32(math.MaxUint32)
	for i, word := range cables {
		for ; word != 0; word &= word - 1 {
			bit := i*64 + bits.TrailingZeros64(word)
			best = min(best, uint32(used[bit])<<8|uint32(bit))
		}
	}
	return lowest + uint8(best)
}
