// SPDX-License-Identifier: Apache-2.0

package nue

import "slices"

// heap is OpenSM's heap of switches by distance, in which a place has four below it and which of several equally near
// switches comes first shows in the tables. It moves them as heap4 does, but goes down through all of its levels
// without branches, as nothing would predict them: behind its elements it is empty to the end of the last level.
type heap struct {
	// groups are elements, steps to switches with no place: from the last of the first group on, the four below the
	// i-th are group i+1, and after these an empty one.
	groups [][branches]step
	n      int
	place  []int32 // by switch, and of what is empty
	empty  step
}

const branches = 4

func newHeap(switches int) *heap {
	places := 1
	for places < switches {
		places = below(places)
	}
	h := &heap{place: make([]int32, switches+1), empty: stepTo(int32(switches), infinity)}
	h.groups = slices.Repeat([][branches]step{{h.empty, h.empty, h.empty, h.empty}}, 1+places/branches)
	return h
}

// below is the first place below another.
func below(place int) int { return branches*place + 1 }

// at is the element in a place.
func (h *heap) at(i int) *step {
	k := uint(i) + branches - 1
	return &h.groups[k/branches][k%branches]
}

func (h *heap) put(i int, e step) {
	*h.at(i) = e
	h.place[e.to()] = int32(i)
}

// insert adds a step to a switch.
func (h *heap) insert(e step) {
	h.raise(h.n, e.withoutPlace())
	h.n++
}

// nearest is the step that comes next out of the heap, which must not be empty.
func (h *heap) nearest() step { return h.groups[0][branches-1] }

// take takes the nearest switch out of the heap, which must not be empty.
func (h *heap) take() step {
	nearest := h.nearest()
	last := h.last()
	if h.n > 0 {
		h.sink(0, below(0), last)
	}
	return nearest
}

// last takes the last element out.
func (h *heap) last() step {
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
	case i > 0 && h.at((i-1)/branches).only() > last.only():
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
		yield(int32(h.last().to()))
	}
}

// raise moves an element up from i as far as it is nearer than those above.
func (h *heap) raise(i int, e step) {
	for i > 0 {
		above := (i - 1) / branches
		if h.at(above).only() <= e {
			break
		}
		h.put(i, *h.at(above))
		i = above
	}
	h.put(i, e)
}

// sink moves an element down from i as far as there is a nearer one below, of equally near ones the last: the places
// that it gives to four elements, by which it compares them too, descend. The level below begins at a place of the
// heap. Where the element stays those below it come to their own places.
func (h *heap) sink(i, level int, e step) {
	groups, place := h.groups, h.place
	to := h.at(i)
	for ; level < h.n; level = below(level) {
		four := &groups[i+1]
		least := min(min(four[0]|placeOf(3), four[1]|placeOf(2)), min(four[2]|placeOf(1), four[3]))
		k := one(least&placeOf(1) == 0) + 2*one(least&placeOf(2) == 0)
		up, down := least.withoutPlace(), e
		if e.only() <= least {
			up, down = e, up
		}
		*to, place[up.to()] = up, int32(i)
		to, i, e = &four[k%branches], below(i)+int(k), down
	}
	*to, place[e.to()] = e, int32(i)
}
