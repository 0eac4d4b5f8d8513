// SPDX-License-Identifier: Apache-2.0

package incremental

import (
	"context"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// Measure finds the LIDs to which all packets take the fewest hops that there are. A failure of such a LID is routed in
// less time from then on, by the same entries. O(links x LIDs) on all processors.
func (b *Base) Measure(ctx context.Context) error {
	least := make([]bool, len(b.At))
	err := routing.ForEach(ctx, len(least), nil, func(_, lid int) { least[lid] = !b.likeBefore(lid) && b.takesLeast(uint16(lid)) })
	if err != nil {
		return err
	}
	minimal := make([]bool, len(b.At))
	for lid, at := range b.At {
		least[lid] = least[lid] || b.likeBefore(lid) && least[lid-1]
		minimal[lid] = least[lid] && b.Column(uint16(lid))[at] == b.Local[lid]
	}
	b.minimal = minimal
	return nil
}

// likeBefore reports whether a LID has the same depths as that before, in the same memory.
func (b *Base) likeBefore(lid int) bool {
	return lid > 0 && b.At[lid] != fabric.None && b.At[lid] == b.At[lid-1] && &b.Depth(uint16(lid))[0] == &b.Depth(uint16(lid - 1))[0]
}

// mostHops is below what the queue has room for.
const mostHops = 60

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

// nearBy puts switches by the hops that they had, and reports whether all had some that can be kept.
func (r *repair) nearBy(broken []fabric.SwitchIndex) bool {
	for _, s := range broken {
		if h := r.depths[s]; h == 0 || int(h) >= mostHops {
			return false
		}
	}
	for i := range r.queue {
		r.queue[i] = r.queue[i][:0]
	}
	r.deepest = 0
	for _, s := range broken {
		r.enqueue(int(r.depths[s]), s)
	}
	return true
}

// keepHops gives the switches in the queue other entries by as many hops as they had, and loses those that have none,
// from which their feeders go into the queue. Where packets take the fewest hops and links are only gone, no other switch
// has another path: those through a switch that keeps its hops stay.
func (r *repair) keepHops(lid uint16) {
	for h := 1; h <= r.deepest; h++ {
		for i := 0; i < len(r.queue[h]); i++ {
			s := r.queue[h][i]
			links := r.links(s)
			r.looked += len(links)
			if port, ok := r.another(s, uint8(h), links); ok {
				r.set(s, lid, port)
				continue
			}
			r.lose(s)
			for _, l := range links {
				if r.entries[l.Peer] == l.PeerPort {
					r.enqueue(h+1, l.Peer)
				}
			}
		}
	}
}
