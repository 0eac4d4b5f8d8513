// SPDX-License-Identifier: Apache-2.0

package assign

import (
	"math/bits"

	"example.org/ibconsole/routing"
)

// balance counts how often each port of a switch is used, and knows the least
// used ones of one set of ports at a time. Ports are named by their place in the
// switch's search order.
type balance struct {
	count [256]uint32
	// set is the current set, and sum what its ports are used together.
	set routing.PortSet
	sum uint32
	// best are the ports of the set that are used the least. Those that may be used
	// more than once more than that are in ahead.
	best, ahead routing.PortSet
}

// use makes a set that is not empty the current one.
func (b *balance) use(set *routing.PortSet) {
	if *set != b.set {
		b.set = *set
		b.recount()
	}
}

// take counts one more use of a port, of the current set or not.
func (b *balance) take(port uint8) {
	b.count[port]++
	if !b.set.Has(port) {
		return
	}
	b.sum++
	if !b.best.Has(port) {
		b.ahead.Add(port)
		return
	}
	if b.best.Remove(port); b.best.Empty() {
		b.refill()
	}
}

// refill finds the least used ports once all that were have been used once more.
func (b *balance) refill() {
	if b.ahead.Empty() {
		b.best = b.set // all are used alike again
		return
	}
	b.recount()
}

// recount finds the least used ports from the counts. O(ports of the set).
func (b *balance) recount() {
	least := ^uint32(0)
	b.best, b.sum = routing.PortSet{}, 0
	for w, word := range b.set {
		for ; word != 0; word &= word - 1 {
			port := uint8(w<<6 | bits.TrailingZeros64(word))
			count := b.count[port]
			b.sum += count
			if count < least {
				least, b.best = count, routing.PortSet{}
			}
			if count == least {
				b.best.Add(port)
			}
		}
	}
	b.ahead = b.set.Without(&b.best)
}

// turn is how many ports of the set the search passes over at first with
// port_shifting: the mean use of the ports, as a number of one of them
// (osm_switch.c, osm_switch_recommend_path).
func (b *balance) turn() int {
	n := uint32(b.set.Len())
	return int(b.sum / n % n)
}
