// SPDX-License-Identifier: Apache-2.0

package sssp

import (
	"context"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// behind lists, for each edge, the destinations whose paths use the edge. It takes 2 bytes for each destination and
// switch.
type behind struct {
	dests []uint16
	spans []span // in dests, by slot
}

type span struct{ begin, end int32 }

// of returns the destinations whose paths use the edge at a slot, in ascending order.
func (b *behind) of(slot int32) []uint16 { return b.dests[b.spans[slot].begin:b.spans[slot].end] }

// listBehind lists the destinations of all edges, on all processors. Edges from channels of one switch are consecutive.
func listBehind(ctx context.Context, d *deadlocks, deps *dependencies) (behind, error) {
	n := len(d.dests)
	b := behind{dests: make([]uint16, len(d.members)*n), spans: make([]span, len(deps.has)*64)}
	slots := make([][]int32, routing.Workers())
	for i := range slots {
		slots[i] = make([]int32, n)
	}
	err := routing.ForEach(ctx, len(d.members), nil, func(worker, i int) {
		s, own := d.members[i], slots[worker]
		row := d.lft.Row(s)
		for k := range d.dests {
			own[k] = d.slotAt(deps, s, row, &d.dests[k])
			if own[k] != fabric.None {
				b.spans[own[k]].end++ // a count so far
			}
		}
		at := int32(i * n)
		for c := d.first[s]; c < d.first[s+1]; c++ {
			via := d.to[c]
			for then := d.first[via]; then < d.first[via+1]; then++ {
				of := &b.spans[deps.slot[c]+then]
				*of, at = span{at, at}, at+of.end
			}
		}
		for k, slot := range own {
			if slot != fabric.None {
				of := &b.spans[slot]
				b.dests[of.end] = uint16(k)
				of.end++
			}
		}
	})
	return b, err
}

// slotAt returns the slot of the edge on the path from switch s to a destination, or none. The argument row is the
// table of the switch.
func (d *deadlocks) slotAt(deps *dependencies, s fabric.SwitchIndex, row []uint8, t *dest) int32 {
	c := d.channelTo(s, row, t)
	if c == fabric.None {
		return fabric.None
	}
	via := d.to[c]
	then := d.channelTo(via, d.lft.Row(via), t)
	if then == fabric.None {
		return fabric.None
	}
	return deps.slot[c] + then
}

// channelTo returns the channel by which switch s sends to a destination, or none if it sends to no other switch. The
// argument row is the table of the switch.
func (d *deadlocks) channelTo(s fabric.SwitchIndex, row []uint8, t *dest) int32 {
	if port := row[t.lid]; port != fabric.NoPath && s != t.sw {
		return d.arc(s, port)
	}
	return fabric.None
}
