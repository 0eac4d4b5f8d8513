// SPDX-License-Identifier: Apache-2.0

package nue

import (
	"math"
	"slices"
)

// heap is OpenSM's heap of switches by distance, in which a place has four below it and which of several equally near
// switches comes first shows in the tables. It moves them as heap4 does, but goes down through all of its levels without
// branches, as nothing would predict them: behind its elements it is empty to the end of the last level.
type heap struct {
	elements []uint64 // distances in the high half, and switches in the low one
	n        int
	place    []int32 // by switch, and of what is empty
}

// distanceBits are those of an element that hold the distance.
const distanceBits = math.MaxUint32 << 32

func newHeap(switches int) *heap {
	places := 1
	for places < switches {
		places = below(places)
	}
	empty := infinity<<32 | uint64(switches)
	return &heap{elements: slices.Repeat([]uint64{empty}, places+1), place: make([]int32, switches+1)}
}

// below is the first place below another.
func below(place int) int { return 4*place + 1 }

// empty is what stands in empty places: the last one always is.
func (h *heap) empty() uint64 { return h.elements[len(h.elements)-1] }

func (h *heap) put(i int, e uint64) {
	h.elements[i] = e
	h.place[uint32(e)] = int32(i)
}

// insert adds a switch.
func (h *heap) insert(sw int32, distance uint64) {
	h.raise(h.n, distance<<32|uint64(uint32(sw)))
	h.n++
}

// nearest is the switch that comes next out of the heap, which must not be empty, and its distance.
func (h *heap) nearest() (sw int32, distance uint64) {
	return int32(uint32(h.elements[0])), h.elements[0] >> 32
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
	last := h.elements[h.n]
	h.elements[h.n] = h.empty()
	return last
}

// remove takes a switch out of the heap: the last one comes to its place, and moves on from there.
func (h *heap) remove(sw int32) {
	i := int(h.place[sw])
	last := h.last()
	switch {
	case i == h.n:
	case i > 0 && h.elements[(i-1)/4]>>32 > last>>32:
		h.raise(i, last)
	default:
		level := below(0)
		for level <= i {
			level = below(level)
		}
		h.sink(i, level, last)
	}
}

// clear takes all out.
func (h *heap) clear() {
	empty := h.empty()
	for i := range h.elements[:h.n] {
		h.elements[i] = empty
	}
	h.n = 0
}

// raise moves an element up from i as far as it is nearer than those above.
func (h *heap) raise(i int, e uint64) {
	for i > 0 {
		above := (i - 1) / 4
		if h.elements[above]>>32 <= e>>32 {
			break
		}
		h.put(i, h.elements[above])
		i = above
	}
	h.put(i, e)
}

// sink moves an element down from i as far as there is a nearer one below, of equally near ones the last. The level below
// begins at a place. Where the element stays those below it come to their own places.
func (h *heap) sink(i, level int, e uint64) {
	elements, place := h.elements, h.place
	for ; level < h.n; level = below(level) {
		four := elements[below(i):][:4]
		d0, d1, d2, d3 := four[0]>>32, four[1]>>32, four[2]>>32, four[3]>>32
		low, high := min(d0, d1), min(d2, d3)
		k := notFarther(d1, d0)
		k ^= (k ^ (2 | notFarther(d3, d2))) & -notFarther(high, low)
		up, down := four[k&3], e
		if e>>32 <= min(low, high) {
			up, down = e, up
		}
		elements[i], place[uint32(up)] = up, int32(i)
		i, e = below(i)+int(k), down
	}
	elements[i], place[uint32(e)] = e, int32(i)
}

// notFarther is 1 where a distance is not greater than another, and 0 else.
func notFarther(a, b uint64) uint64 {
	if a <= b {
		return 1
	}
	return 0
}
