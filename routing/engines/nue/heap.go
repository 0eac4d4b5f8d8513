// SPDX-License-Identifier: Apache-2.0

package nue

import "slices"

// heap is OpenSM's heap of switches by distance, in which a place has four below it and which of several equally near
// switches comes first shows in the tables. It moves them as heap4 does, but goes down through all of its levels without
// branches, as nothing would predict them: behind its elements it is empty to the end of the last level.
type heap struct {
	// groups are elements, distances in the high half and switches in the low one: from the last of the first group on, the
	// four below the i-th are group i+1, and after these an empty one.
	groups [][branches]uint64
	n      int
	place  []int32 // by switch, and of what is empty
	empty  uint64
}

const branches = 4

func newHeap(switches int) *heap {
	places := 1
	for places < switches {
		places = below(places)
	}
	h := &heap{place: make([]int32, switches+1), empty: infinity<<32 | uint64(switches)}
	h.groups = slices.Repeat([][branches]uint64{{h.empty, h.empty, h.empty, h.empty}}, 1+places/branches)
	return h
}

// below is the first place below another.
func below(place int) int { return branches*place + 1 }

// at is the element in a place.
func (h *heap) at(i int) *uint64 {
	k := uint(i) + branches - 1
	return &h.groups[k/branches][k%branches]
}

func (h *heap) put(i int, e uint64) {
	*h.at(i) = e
	h.place[uint32(e)] = int32(i)
}

// insert adds a switch.
func (h *heap) insert(sw int32, distance uint64) {
	h.raise(h.n, distance<<32|uint64(uint32(sw)))
	h.n++
}

// nearest is the switch that comes next out of the heap, which must not be empty, and its distance.
func (h *heap) nearest() (sw int32, distance uint64) {
	e := h.groups[0][branches-1]
	return int32(uint32(e)), e >> 32
}

// drop takes the nearest switch out of the heap, which must not be empty.
func (h *heap) drop() {
	last := h.last()
	if h.n > 0 {
		h.sink(0, below(0), last)
	}
}

// last takes the last element out.
func (h *heap) last() uint64 {
	h.n--
	place := h.at(h.n)
	last := *place
	*place = h.empty
	return last
}

// remove takes a switch out of the heap: the last one comes to its place, and moves on from there.
func (h *heap) remove(sw int32) {
	i := int(h.place[sw])
	last := h.last()
	switch {
	case i == h.n:
	case i > 0 && *h.at((i - 1) / branches)>>32 > last>>32:
		h.raise(i, last)
	default:
		level := below(0)
		for level <= i {
			level = below(level)
		}
		h.sink(i, level, last)
	}
}

// drain takes all out, in any order.
func (h *heap) drain(yield func(sw int32)) {
	for h.n > 0 {
		yield(int32(uint32(h.last())))
	}
}

// raise moves an element up from i as far as it is nearer than those above.
func (h *heap) raise(i int, e uint64) {
	for i > 0 {
		above := (i - 1) / branches
		if *h.at(above)>>32 <= e>>32 {
			break
		}
		h.put(i, *h.at(above))
		i = above
	}
	h.put(i, e)
}

// sink moves an element down from i as far as there is a nearer one below, of equally near ones the last. The level below
// begins at a place. Where the element stays those below it come to their own places.
func (h *heap) sink(i, level int, e uint64) {
	groups, place := h.groups, h.place
	to := h.at(i)
	for ; level < h.n; level = below(level) {
		four := &groups[i+1]
		d0, d1, d2, d3 := four[0]>>32, four[1]>>32, four[2]>>32, four[3]>>32
		low, high := min(d0, d1), min(d2, d3)
		k := notFarther(d1, d0)
		k ^= (k ^ (2 | notFarther(d3, d2))) & -notFarther(high, low)
		child := &four[k%branches]
		up, down := *child, e
		if e>>32 <= min(low, high) {
			up, down = e, up
		}
		*to, place[uint32(up)] = up, int32(i)
		to, i, e = child, below(i)+int(k), down
	}
	*to, place[uint32(e)] = e, int32(i)
}

// notFarther is 1 where a distance is not greater than another, and 0 else.
func notFarther(a, b uint64) uint64 {
	if a <= b {
		return 1
	}
	return 0
}
