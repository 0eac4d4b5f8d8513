// SPDX-License-Identifier: Apache-2.0

// Package heap4 implements a heap in which each place has four children. The order of elements with equal distance
// affects the tables of sssp, dfsssp and nue. Therefore elements move as in OpenSM's heap (complib, cl_heap.c).
package heap4

// Heap is a heap of numbered elements, sorted by distance.
type Heap struct {
	// Elements holds the distance of an element in the high half of the word, and its number in the low half.
	Elements []uint64
	Place    []int32 // by number
}

const (
	// Branches is the number of children of each place.
	Branches = 4
	// Infinity is the distance of an element that was not reached. A path of this length or more does not count.
	Infinity = 0x7fffffff
)

// Element returns an element of the heap. The argument distance must fit in 32 bits.
func Element(distance uint64, number int32) uint64 { return distance<<32 | uint64(uint32(number)) }

// Nearer lowers the distance of an element.
func (h *Heap) Nearer(number int32, distance uint64) {
	h.raise(int(h.Place[number]), Element(distance, number))
}

// Insert adds an element.
func (h *Heap) Insert(number int32, distance uint64) {
	h.Elements = append(h.Elements, 0)
	h.raise(len(h.Elements)-1, Element(distance, number))
}

// Take removes and returns the nearest element. The heap must not be empty.
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

// Delete removes an element of the heap. The last element takes its place and moves on from there.
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

// Put sets the element of a place.
func (h *Heap) Put(i int, e uint64) {
	h.Elements[i] = e
	h.Place[uint32(e)] = int32(i)
}

// raise moves element e up from place i until it is no nearer than its parent.
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

// sink moves element e down from place i until no child is nearer. Of equally near children the last one moves up. The
// nearest of four children is found without branches, because the branches would be unpredictable.
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

// lesser returns the lesser of two numbers. Both must have less than 63 bits.
func lesser(a, b uint64) uint64 {
	less := int64(a - b)
	return b + uint64(less&(less>>63))
}

// lastOfLeast returns the place of the nearest element, starting at a place. Of equally near elements it returns the
// last.
func lastOfLeast(elements []uint64, least int) int {
	for c := least + 1; c < len(elements); c++ {
		if elements[c]>>32 <= elements[least]>>32 {
			least = c
		}
	}
	return least
}
