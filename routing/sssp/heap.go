// SPDX-License-Identifier: Apache-2.0

package sssp

// heap is a heap of switches in which a place has four below it. Which of several
// equally near switches comes first shows in the tables, so it moves them as
// OpenSM's does (complib, cl_heap.c).
type heap struct {
	// elements are distances in the high half and switches in the low one.
	elements []uint64
	place    []int32 // by switch
}

const (
	branches = 4
	// infinity is the distance of what is not reached; a way of this length or more
	// does not count.
	infinity = 0x7fffffff
)

func element(distance uint64, sw int32) uint64 { return distance<<32 | uint64(uint32(sw)) }

// raise moves the element at i up as far as it is nearer than those above.
func (h *heap) raise(i int, e uint64) {
	for i > 0 {
		above := (i - 1) / branches
		if h.elements[above]>>32 <= e>>32 {
			break
		}
		h.put(i, h.elements[above])
		i = above
	}
	h.put(i, e)
}

// nearer gives a switch a smaller distance.
func (h *heap) nearer(sw int32, distance uint64) {
	h.raise(int(h.place[sw]), element(distance, sw))
}

// take removes the nearest element. The heap must not be empty.
func (h *heap) take() uint64 {
	least := h.elements[0]
	last := len(h.elements) - 1
	e := h.elements[last]
	h.elements = h.elements[:last]
	if last > 0 {
		h.sink(e)
	}
	return least
}

// sink puts an element at the top and moves it down as far as there is a nearer
// one below; of equally near ones the last moves up.
func (h *heap) sink(e uint64) {
	i := 0
	for {
		child := i*branches + 1
		if child >= len(h.elements) {
			break
		}
		least := child
		for c := child + 1; c < min(child+branches, len(h.elements)); c++ {
			if h.elements[c]>>32 <= h.elements[least]>>32 {
				least = c
			}
		}
		if e>>32 <= h.elements[least]>>32 {
			break
		}
		h.put(i, h.elements[least])
		i = least
	}
	h.put(i, e)
}

func (h *heap) put(i int, e uint64) {
	h.elements[i] = e
	h.place[uint32(e)] = int32(i)
}
