// SPDX-License-Identifier: Apache-2.0

// Package heap4 is a heap in which a place has four below it. Which of several equally near elements comes first
// shows in the tables of sssp, dfsssp and nue, so it moves them as OpenSM's does (complib, cl_heap.c).
package heap4

// Heap is a heap of numbered elements by distance.
type Heap struct {
	// Elements are distances in the high half and numbers in the low one.
	Elements []uint64
	Place    []int32 // by number
}

const (
	// Branches is how many places are below each.
	Branches = 4
	// Infinity is the distance of what is not reached; a path of this length or more does not count.
	Infinity = 0x7fffffff
)

// Element is an element of the heap. The distance has 32 bits at most.
func Element(distance uint64, number int32) uint64 { return distance<<32 | uint64(uint32(number)) }

// Nearer gives an element a smaller distance.
func (h *Heap) Nearer(number int32, distance uint64) {
	h.raise(int(h.Place[number]), Element(distance, number))
}

// Insert adds an element.
func (h *Heap) Insert(number int32, distance uint64) {
	h.Elements = append(h.Elements, 0)
	h.raise(len(h.Elements)-1, Element(distance, number))
}

// Take removes the nearest element. The heap must not be empty.
func (h *Heap) Take() uint64 {
	least := h.Elements[0]
	last := len(h.Elements) - 1
	e := h.Elements[last]
	h.Elements = h.Elements[:last]
	if last > 0 {
		h.sink(0, e)
	}
	return least
}

// Delete removes an element of the heap: the last one comes to its place, and moves on from there.
func (h *Heap) Delete(number int32) {
	i, last := int(h.Place[number]), len(h.Elements)-1
	e := h.Elements[last]
	h.Elements = h.Elements[:last]
	switch {
	case i == last:
	case i > 0 && h.Elements[(i-1)/Branches]>>32 > e>>32:
		h.raise(i, e)
	default:
		h.sink(i, e)
	}
}

// Put sets what stands in a place.
func (h *Heap) Put(i int, e uint64) {
	h.Elements[i] = e
	h.Place[uint32(e)] = int32(i)
}

// raise moves an element up from i as far as it is nearer than those above.
func (h *Heap) raise(i int, e uint64) {
	for i > 0 {
		above := (i - 1) / Branches
		if h.Elements[above]>>32 <= e>>32 {
			break
		}
		h.Put(i, h.Elements[above])
		i = above
	}
	h.Put(i, e)
}

// sink moves an element down from i as far as there is a nearer one below; of
// equally near ones the last moves up. Which of four that is, is found without branches: nothing would predict them.
func (h *Heap) sink(i int, e uint64) {
	elements, place := h.Elements, h.Place
	for {
		child := i*Branches + 1
		if child+Branches <= len(elements) {
			below := elements[child:][:Branches]
			first := lesser(below[0]>>32<<2|3, below[1]>>32<<2|2)
			child += int(^lesser(first, lesser(below[2]>>32<<2|1, below[3]>>32<<2)) & 3)
		} else if child < len(elements) {
			child = lastOfLeast(elements, child)
		} else {
			break
		}
		least := elements[child]
		if e>>32 <= least>>32 {
			break
		}
		elements[i], place[uint32(least)] = least, int32(i)
		i = child
	}
	elements[i], place[uint32(e)] = e, int32(i)
}

// lesser is the lesser of two numbers of less than 63 bits.
func lesser(a, b uint64) uint64 {
	less := int64(a - b)
	return b + uint64(less&(less>>63))
}

// lastOfLeast is the place of the last of the nearest elements from one on.
func lastOfLeast(elements []uint64, least int) int {
	for c := least + 1; c < len(elements); c++ {
		if elements[c]>>32 <= elements[least]>>32 {
			least = c
		}
	}
	return least
}
