// SPDX-License-Identifier: Apache-2.0

package nue

import "slices"

// heap is OpenSM's heap of switches by distance. Each place has four children. The order of equally near switches
// affects the tables. heap moves elements like package heap4, but goes through its levels without branches, because the
// branches would be unpredictable. For this purpose the places after the last element are empty up to the end of the
// last level.
type heap struct {
	// groups holds the elements, which are steps to switches, without a place. The root is the last element of the
	// first group. The four children of element i form group i+1. An empty group follows the last one.
	groups [][branches]step
	n      int
	place  []int32 // by switch, and of the empty element
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

// below returns the first child of a place.
func below(place int) int { return branches*place + 1 }

// at returns the element of a place.
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

// nearest returns the least step in the heap. The heap must not be empty.
func (h *heap) nearest() step { return h.groups[0][branches-1] }

// take removes and returns the least step. The heap must not be empty.
func (h *heap) take() step {
	nearest := h.nearest()
	last := h.last()
	if h.n > 0 {
		h.sink(0, below(0), last)
	}
	return nearest
}

// last removes the last element.
func (h *heap) last() step {
	h.n--
	place := h.at(h.n)
	last := *place
	*place = h.empty
	return last
}

// remove removes a switch from the heap. The last element takes its place and moves on from there.
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

// drain removes all switches, in any order.
func (h *heap) drain(yield func(sw int32)) {
	for h.n > 0 {
		yield(int32(h.last().to()))
	}
}

// raise moves element e up from place i until it is no nearer than its parent.
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

// sink moves element e down from place i until no child is nearer. Of equally near children the last one moves up,
// because the places that are added for the comparison descend. The argument level is the first place of the level
// below. If the element stays, its children are written to their own places.
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
