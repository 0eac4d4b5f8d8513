// SPDX-License-Identifier: Apache-2.0

package assign

import "math/bits"

// balance counts the uses of each port of a switch. It tracks the least used ports of one set of ports, the current
// set. Ports are identified by their place in the switch's search order.
type balance[S set] struct {
	count [256]uint32
	// set is the current set. sum is the total number of uses of its ports.
	set S
	sum uint32
	// best contains the least used ports of the current set. ahead contains the ports that are used once more than
	// these, and possibly other ports.
	best, ahead S
}

// use makes s the current set. s must not be empty.
func (b *balance[S]) use(s S) {
	if s != b.set {
		b.set = s
		b.recount()
	}
}

// forget invalidates the current set if it contains a port. The next use then recounts the set.
func (b *balance[S]) forget(port uint8) {
	if has(b.set, port) {
		var none S
		b.set = none
	}
}

// take counts a use of any port.
func (b *balance[S]) take(port uint8) {
	b.count[port]++
	if !has(b.set, port) {
		return
	}
	b.sum++
	if !has(b.best, port) {
		b.ahead = with(b.ahead, port)
		return
	}
	if b.best = without(b.best, port); empty(b.best) {
		b.refill()
	}
}

// refill finds the least used ports after all ports of best have been used once more.
func (b *balance[S]) refill() {
	if empty(b.ahead) {
		b.best = b.set // all have the same use again
		return
	}
	b.recount()
}

// recount finds the least used ports of the current set from the counts. O(ports of the set).
func (b *balance[S]) recount() {
	least, sum := ^uint32(0), uint32(0)
	var none, best S
	for w := range len(b.set) {
		for word := b.set[w]; word != 0; word &= word - 1 {
			count := b.count[uint8(w<<6|bits.TrailingZeros64(word))]
			sum += count
			if count < least {
				least, best = count, none
			}
			if count == least {
				best[w] |= word & -word
			}
		}
	}
	b.sum, b.best, b.ahead = sum, best, minus(b.set, best)
}

// turn returns the number of ports of the current set that the search skips with port_shifting: the mean number of uses
// of the ports, modulo the number of ports (osm_switch.c, osm_switch_recommend_path).
func (b *balance[S]) turn() int {
	n := uint32(size(b.set))
	return int(b.sum / n % n)
}
