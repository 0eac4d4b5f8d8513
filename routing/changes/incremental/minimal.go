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
	minimal := make([]bool, len(b.At))
	err := routing.ForEach(ctx, len(minimal), nil, func(_, lid int) { minimal[lid] = b.isMinimal(uint16(lid)) })
	if err == nil {
		b.minimal = minimal
	}
	return err
}

// mostHops is below what the queue has room for.
const mostHops = 60

// isMinimal reports whether no switch would get to a LID by fewer hops by way of another neighbour.
func (b *Base) isMinimal(lid uint16) bool {
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
