// SPDX-License-Identifier: Apache-2.0

package incremental

import (
	"context"
	"math/bits"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/hugepages"
	"example.org/ibconsole/routing"
)

// least is what is known of LIDs to which all packets take the fewest hops that there are.
type least struct {
	// lids are these, of which the last switch has the right entry, too.
	lids []bool
	// nearer has by the switch of such a LID which cables of all switches lead a hop nearer to it: bit i of the words
	// from first of a switch on is its cable i.
	nearer [][]uint64
	first  []int32
	// parallel says which switches have several cables to one other.
	parallel []bool
}

// of are the cables of a switch that lead nearer to another one.
func (l *least) of(s, to fabric.SwitchIndex) []uint64 { return l.nearer[to][l.first[s]:l.first[s+1]] }

// mostHops is below what the queue has room for.
const mostHops = 60

// Measured is the base with what it takes to route failures of LIDs to which all packets take the fewest hops in less
// time, by the same entries. It has a bit more for each cable and switch. O(cables x switches) on all processors.
func (b *Base) Measured(ctx context.Context) (*Base, error) {
	l, err := b.findLeast(ctx)
	if err != nil {
		return nil, err
	}
	graph, switches := b.Graph, fabric.SwitchIndex(len(b.used))
	l.first, l.parallel = make([]int32, 1, switches+1), make([]bool, switches)
	for s := range switches {
		links := graph.Of(s)
		l.first = append(l.first, l.first[s]+int32(len(links)+63)/64)
		l.parallel[s] = parallel(links)
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

// findNearer finds by the depths below a switch which cables lead nearer to it.
func (l *least) findNearer(words []uint64, graph *routing.Graph, depth []uint8) {
	for s := range depth {
		own := words[l.first[s]:l.first[s+1]]
		for i, link := range graph.Of(fabric.SwitchIndex(s)) {
			if depth[link.Peer]+1 == depth[s] {
				own[i/64] |= 1 << (i % 64)
			}
		}
	}
}

// findLeast finds the LIDs to which all packets take the fewest hops.
func (b *Base) findLeast(ctx context.Context) (*least, error) {
	// LIDs with the same depths are looked at once, as the first of them.
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

// takesLeast reports whether no switch would get to that of a LID by fewer hops by way of another neighbour.
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

// keepHops gives switches other entries for a LID by as many hops as they had, and loses those that have none, with which
// their feeders need others. Where packets take the fewest hops and links are only gone, no other switch has another
// path: those through a switch that keeps its hops stay.
func (w *Worker) keepHops(d task) {
	w.repair.begin()
	w.entries = w.base.Column(d.lid)
	to := w.base.At[d.lid]
	if len(d.broken) == 1 {
		// What a switch has for the LIDs of one port is nearer in memory than what all have for one of them.
		s := d.broken[0]
		if was := w.base.Tables.LFT.Row(s)[d.lid]; w.keeps(s, d.lid, was, w.takeNear(s)) {
			return
		}
	}
	w.depths = w.base.Depth(d.lid)
	w.emptyQueue()
	for _, s := range d.broken {
		w.enqueue(int(w.depths[s]), s)
	}
	for h := 1; h <= w.deepest; h++ {
		for i := 0; i < len(w.queue[h]); i++ {
			s := w.queue[h][i]
			if w.keeps(s, d.lid, w.entries[s], w.base.least.of(s, to)) {
				continue
			}
			w.lose(s)
			for _, l := range w.links(s) {
				if w.entries[l.Peer] == l.PeerPort {
					w.enqueue(h+1, l.Peer)
				}
			}
		}
	}
	if len(w.lost) > 0 {
		w.takePaths(d.lid, to)
	}
}

// keeps gives a switch another entry than was among the cables that lead nearer, and reports whether there is one.
func (w *Worker) keeps(s fabric.SwitchIndex, lid uint16, was uint8, nearer []uint64) bool {
	port, ok := w.pick(s, nearer, was)
	if ok {
		w.change(s, lid, was, port)
	}
	return ok
}

// gather lays out what takeNear takes: in a loop of its own one such is read from memory while the next already is.
func (w *Worker) gather() {
	l := w.base.least
	w.near = w.near[:0]
	for i := range w.tasks {
		if d := &w.tasks[i]; len(d.broken) == 1 && l.lids[d.lid] {
			s := d.broken[0]
			nearer := l.nearer[w.base.At[d.lid]]
			for at := l.first[s]; at < l.first[s+1]; at++ {
				w.near = append(w.near, nearer[at])
			}
		}
	}
	w.nearLeft = w.near
}

// takeNear are the cables that lead nearer of the only switch whose entry for the LID at hand is broken.
func (w *Worker) takeNear(s fabric.SwitchIndex) []uint64 {
	n := w.base.least.first[s+1] - w.base.least.first[s]
	nearer := w.nearLeft[:n]
	w.nearLeft = w.nearLeft[n:]
	return nearer
}

// pick is [repair.choose] among cables of a switch, those to switches that are lost left out; ok is false where none is left.
func (w *Worker) pick(s fabric.SwitchIndex, cables []uint64, was uint8) (port uint8, ok bool) {
	const other, elsewhere, none = 1 << 48, 1 << 49, 1 << 62
	links, used := w.base.Graph.Of(s), w.usage(s)
	oldPeer := fabric.SwitchIndex(fabric.None)
	if w.base.least.parallel[s] {
		oldPeer = w.oldPeer(s, was)
	}
	best := uint64(none)
	for i, word := range cables {
		for ; word != 0; word &= word - 1 {
			cable := i*64 + bits.TrailingZeros64(word)
			l := &links[cable]
			if w.state[l.Peer] == lost || used[l.Port] >= gone/2 {
				continue
			}
			key := uint64(used[l.Port])<<8 | uint64(cable)
			if l.Port != was {
				key |= other
			}
			if l.Peer != oldPeer {
				key |= elsewhere
			}
			best = min(best, key)
		}
	}
	return links[best&0xff].Port, best != none
}
