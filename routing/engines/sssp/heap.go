// SPDX-License-Identifier: Apache-2.0

package sssp

import (
	"math/bits"

	"example.org/ibconsole/fabric"
)

// heap is a heap of switches in which a place has four below it. Which of several equally near switches comes
// first shows in the tables, so it moves them as OpenSM's does (complib, cl_heap.c).
type heap struct {
	// elements are distances in the high half and switches in the low one.
	elements []uint64
	place    []int32 // by switch
}

const (
	branches = 4
	// infinity is the distance of what is not reached; a way of this length or more does not count.
	infinity = 0x7fffffff
)

func element(distance uint64, sw fabric.SwitchIndex) uint64 { return distance<<32 | uint64(uint32(sw)) }

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
func (h *heap) nearer(sw fabric.SwitchIndex, distance uint64) {
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
	elements, i := h.elements, 0
	for {
		child := i*branches + 1
		if child >= len(elements) {
			break
		}
		least := child
		if below := elements[child:]; len(below) >= branches {
			least += leastOf4((*[branches]uint64)(below))
		} else {
			for c := range below {
				if below[c]>>32 <= elements[least]>>32 {
					least = child + c
				}
			}
		}
		if e>>32 <= elements[least]>>32 {
			break
		}
		h.put(i, elements[least])
		i = least
	}
	h.put(i, e)
}

// leastOf4 is which of four elements is the nearest, the last of several, without branches: nothing would predict
// them.
func leastOf4(e *[branches]uint64) int {
	_, low := bits.Sub64(e[0]>>32, e[1]>>32, 0) // 1 where the first is the nearer one
	_, high := bits.Sub64(e[2]>>32, e[3]>>32, 0)
	i, j := 1-low, 3-high
	_, lower := bits.Sub64(e[i&3]>>32, e[j&3]>>32, 0)
	return int(j + (i-j)*lower)
}

func (h *heap) put(i int, e uint64) {
	h.elements[i] = e
	h.place[uint32(e)] = int32(i)
}
