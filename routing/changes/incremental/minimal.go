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

// least describes the LIDs to which all packets take the fewest possible hops. It holds data that speeds up rerouting
// to these LIDs.
type least struct {
	// lids marks these LIDs. The switch to which the LID's port is attached must also have the right entry for it.
	lids []bool
	// nearer holds a bit set of cables for each target switch that has such a LID. The set contains the cables of all
	// switches that lead one hop nearer to the target. Switch s has words first[s] to first[s+1]-1; bit i of these
	// words is its cable at port lowest[s] + i.
	nearer [][]uint64
	first  []int32
	lowest []uint8
	// parallel marks the switches that have several cables to the same neighbour.
	parallel []bool
}

// part returns the words of one switch.
func (l *least) part(words []uint64, s fabric.SwitchIndex) []uint64 {
	return words[l.first[s]:l.first[s+1]]
}

// words returns the number of words that hold a bit for each cable of a switch.
func (l *least) words(s fabric.SwitchIndex) int32 { return l.first[s+1] - l.first[s] }

// among reports whether a port of a switch belongs to a bit set of cables of this switch.
func (l *least) among(s fabric.SwitchIndex, cables []uint64, port uint8) bool {
	bit := int(port) - int(l.lowest[s])
	return bit >= 0 && bit < 64*len(cables) && cables[bit/64]>>(bit%64)&1 == 1
}

// add adds the cable at a port to a bit set of cables of this switch.
func (l *least) add(s fabric.SwitchIndex, cables []uint64, port uint8) {
	bit := port - l.lowest[s]
	cables[bit/64] |= 1 << (bit % 64)
}

// mostHops is the maximum number of hops to a LID in [least]. It is less than the length of the queue in [repair].
const mostHops = 60

// Measured returns a copy of the base with additional data for LIDs to which all packets take the fewest hops. The data
// speeds up routing failures; the resulting entries are the same. The data takes one bit for each cable and switch.
// O(cables x switches) on all processors.
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

// parallel reports whether two of the cables lead to the same switch.
func parallel(links []routing.SwitchLink) bool {
	peers := make([]fabric.SwitchIndex, len(links))
	for i, l := range links {
		peers[i] = l.Peer
	}
	slices.Sort(peers)
	return len(slices.Compact(peers)) < len(links)
}

// findNearer sets in the bit set words the cables that lead nearer to a switch. The argument depth holds the number of
// hops from each switch to this switch.
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
	// LIDs with the same depths are examined once, for the first of them.
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

// takesLeast reports whether every switch takes the fewest possible hops to the switch of a LID.
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

// keepHops repairs the broken entries for a LID in [least]. It replaces each broken entry by an entry with the same
// number of hops where possible. Otherwise it also replaces the entries of switches whose paths lead to the broken one.
// Only links were removed and packets take the fewest hops, so a path through a switch that keeps its number of hops
// does not change.
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

// keepAll replaces the broken entries for a LID by entries that lead nearer. It does so only if every switch with a
// broken entry still has a cable that leads nearer, and reports whether this is the case.
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
			// Reading the row of a switch for all LIDs of one port is more local in memory than reading the column of
			// one LID.
			w.replace(s, d.lid, w.base.Tables.LFT.Row(s)[d.lid], near[:n])
			near = near[n:]
		}
	}
	w.near = near
	return ok
}

// gather collects the cables that lead nearer, for each switch with a broken entry, in the order in which keepAll uses
// them. It does so in a separate loop because there the memory reads overlap.
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

// anyLeft reports whether at least one cable of a bit set has not failed.
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

// replace replaces an entry as [repair.choose] would, restricted to a bit set of cables of the switch. At least one of
// these cables must not have failed.
func (w *Worker) replace(s fabric.SwitchIndex, lid uint16, was uint8, cables []uint64) {
	if w.base.least.parallel[s] {
		cables = w.preferred(s, cables, w.oldPeer(s, was))
	}
	w.change(s, lid, was, w.fewest(s, cables))
}

// preferred returns the cables of a bit set that lead to a certain switch. If no cable leads there, it returns the
// whole set.
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

// fewest returns the port with the fewest entries among a bit set of cables of a switch. Among equal ports it returns
// the lowest.
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
