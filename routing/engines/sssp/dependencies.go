// SPDX-License-Identifier: Apache-2.0

package sssp

import "math/bits"

// dependencies records which channels follow one another on paths. A channel is an arc of the fabric's graph (Dally and
// Seitz, "Deadlock-Free Message Routing in Multiprocessor Interconnection Networks", 1987).
type dependencies struct {
	*graph
	// A slot is the number of a pair of channels of which the second can follow the first. The slots of channel c begin
	// at slot[c], one for each arc of the switch between the two channels. has holds a bit for each slot.
	slot []int32
	has  []uint64
}

func newDependencies(g *graph) dependencies {
	d := dependencies{graph: g, slot: make([]int32, len(g.to))}
	slots := int32(0)
	for c, sw := range g.to {
		d.slot[c] = slots - g.first[sw]
		slots += g.first[sw+1] - g.first[sw]
	}
	d.has = make([]uint64, (slots+63)/64)
	return d
}

// add records that one channel (argument then) follows another (argument from). It reports whether this is new.
func (d *dependencies) add(from, then int32) bool {
	slot := d.slot[from] + then
	word, bit := &d.has[slot/64], uint64(1)<<(slot%64)
	isNew := *word&bit == 0
	*word |= bit
	return isNew
}

// The method after appends the channels that follow channel c to a slice.
func (d *dependencies) after(c int32, list []int32) []int32 {
	sw := d.to[c]
	end := d.slot[c] + d.first[sw+1]
	for at := d.slot[c] + d.first[sw]; at < end; {
		word := d.has[at/64] >> (at % 64)
		if word == 0 {
			at = (at/64 + 1) * 64
			continue
		}
		if at += int32(bits.TrailingZeros64(word)); at < end {
			list = append(list, at-d.slot[c])
		}
		at++
	}
	return list
}

// cyclic reports whether the dependencies have a cycle, so that packets can wait for one another. In this case the
// channels have no topological order (Kahn, "Topological sorting of large networks", CACM 5, 1962). O(channels +
// dependencies).
func (d *dependencies) cyclic() bool {
	var next, order []int32
	before := make([]int32, len(d.to)) // the number of preceding channels that are not in the order
	for c := range d.to {
		next = d.after(int32(c), next[:0])
		for _, then := range next {
			before[then]++
		}
	}
	for c, n := range before {
		if n == 0 {
			order = append(order, int32(c))
		}
	}
	for i := 0; i < len(order); i++ {
		next = d.after(order[i], next[:0])
		for _, then := range next {
			if before[then]--; before[then] == 0 {
				order = append(order, then)
			}
		}
	}
	return len(order) < len(d.to)
}
