// SPDX-License-Identifier: Apache-2.0

package nue

import "sync"

// levels are the switches that are reached from one, by hops.
type levels struct {
	order []int32
	ends  []int32 // where in the order each level ends
	more  []uint8 // 1 for a switch that is not in the order yet, which has room for one that does not stay
}

func newLevels(n *network) *levels {
	k := len(n.switches)
	return &levels{order: make([]int32, k+1), more: make([]uint8, k)}
}

// find finds the levels around a switch. O(channels).
func (l *levels) find(n *network, root int32) {
	for s := range l.more {
		l.more[s] = 1
	}
	order, more := l.order[:cap(l.order)], l.more
	order[0], more[root] = root, 0
	l.ends = l.ends[:0]
	for low, high := 0, 1; low < high; {
		l.ends = append(l.ends, int32(high))
		low, high = high, n.nextLevel(order, low, high, more)
	}
	l.order = order[:l.ends[len(l.ends)-1]]
}

// nextLevel appends to switches the level after the one from low to high, and returns its end: the neighbours of these for
// which there is more. It has no branches: nothing would predict them.
func (n *network) nextLevel(switches []int32, low, high int, more []uint8) int {
	end := high
	for _, u := range switches[low:high] {
		for _, v := range n.to[n.first[u]:n.first[u+1]] {
			switches[end] = v
			end += int(more[v])
			more[v] = 0
		}
	}
	return end
}

// inBatch is for how many switches levels are found at a time.
const inBatch = 16

// levelsOfAll are the levels around each switch in turn. Another processor finds those of the next switches meanwhile: no
// length of a channel shows in them.
func (n *network) levelsOfAll(yield func(*levels) bool) {
	used, found := make(chan []*levels, 2), make(chan []*levels, 2)
	for range cap(used) {
		batch := make([]*levels, inBatch)
		for i := range batch {
			batch[i] = newLevels(n)
		}
		used <- batch
	}
	var finder sync.WaitGroup
	finder.Go(func() {
		defer close(found)
		for root := int32(0); int(root) < len(n.switches); {
			batch, more := <-used
			if !more {
				return
			}
			batch = batch[:min(inBatch, len(n.switches)-int(root))]
			for _, l := range batch {
				l.find(n, root)
				root++
			}
			found <- batch
		}
	})
	defer finder.Wait()
	defer close(used)
	for batch := range found {
		for _, l := range batch {
			if !yield(l) {
				return
			}
		}
		used <- batch
	}
}
