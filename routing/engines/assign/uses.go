// SPDX-License-Identifier: Apache-2.0

package assign

import "math/bits"

// use is the number of uses of a port. Its low bits hold the place of the port in the order, so that the port with the
// least use comes next.
type use uint64

const (
	once use = 1 << 9
	// noBit is the index of the lowest bit of an empty set. noPort exceeds all uses.
	noBit      = 64
	noPort use = 1 << 62
)

// first returns the use of the lowest port of a set.
func (n *narrow) first(set uint64) use { return n.uses[bits.TrailingZeros64(set)&127] }

// least returns the use of the least used port of a set.
func (n *narrow) least(s0 uint64) use {
	s1 := s0 & (s0 - 1)
	s2 := s1 & (s1 - 1)
	s3 := s2 & (s2 - 1)
	s4 := s3 & (s3 - 1)
	s5 := s4 & (s4 - 1)
	s6 := s5 & (s5 - 1)
	s7 := s6 & (s6 - 1)
	least := min(min(min(n.first(s0), n.first(s1)), min(n.first(s2), n.first(s3))),
		min(min(n.first(s4), n.first(s5)), min(n.first(s6), n.first(s7))))
	for set := s7 & (s7 - 1); set != 0; set &= set - 1 {
		least = min(least, n.first(set))
	}
	return least
}

// final is like least, for the time after all uses are counted. It caches the result for some sets.
func (n *narrow) final(set uint64) use {
	known := &n.known[set*0x9e3779b97f4a7c15>>59] // Fibonacci hashing
	if known.set != set {
		known.set, known.least = set, n.least(set)
	}
	return known.least
}

// spread computes the entry for each LID by the first of the least used ports of a set.
func (n *narrow) spread(s0 uint64, lids []uint16) {
	s1 := s0 & (s0 - 1)
	s2 := s1 & (s1 - 1)
	s3 := s2 & (s2 - 1)
	s4 := s3 & (s3 - 1)
	u0, u1, u2, u3 := n.first(s0), n.first(s1), n.first(s2), n.first(s3)
	if s4 == 0 {
		n.four(u0, u1, u2, u3, lids)
		return
	}
	s5 := s4 & (s4 - 1)
	s6 := s5 & (s5 - 1)
	s7 := s6 & (s6 - 1)
	if s7&(s7-1) == 0 && len(lids) <= 8 {
		n.eight(u0, u1, u2, u3, n.first(s4), n.first(s5), n.first(s6), n.first(s7), lids)
		return
	}
	n.rounds(s0, lids)
}

// four distributes LIDs over at most four ports. It keeps the ports sorted by use.
func (n *narrow) four(u0, u1, u2, u3 use, lids []uint16) {
	u0, u1 = min(u0, u1), max(u0, u1)
	u2, u3 = min(u2, u3), max(u2, u3)
	u0, u2 = min(u0, u2), max(u0, u2)
	u1, u3 = min(u1, u3), max(u1, u3)
	u1, u2 = min(u1, u2), max(u1, u2)
	row := n.row
	for _, lid := range lids {
		row[lid] = uint8(u0)
		u0 += once
		u0, u1 = min(u0, u1), max(u0, u1)
		u1, u2 = min(u1, u2), max(u1, u2)
		u2, u3 = min(u2, u3), max(u2, u3)
	}
	n.note(u3)
	n.note(u2)
	n.note(u1)
	n.note(u0)
}

func (n *narrow) note(u use) { n.uses[(u-n.low)&127] = u }

// eight distributes at most eight LIDs over at most eight ports. Bit i of byte k of a word is set if port i is used at
// most k times more often than the least used port. The bits of the word, from the lowest on, give the order of the
// ports.
func (n *narrow) eight(u0, u1, u2, u3, u4, u5, u6, u7 use, lids []uint16) {
	least := lesser(lesser(lesser(u0, u1), lesser(u2, u3)), lesser(lesser(u4, u5), lesser(u6, u7)))
	turns := u0.turns(least) | u1.turns(least)<<1 | u2.turns(least)<<2 | u3.turns(least)<<3 |
		u4.turns(least)<<4 | u5.turns(least)<<5 | u6.turns(least)<<6 | u7.turns(least)<<7
	ports := [8]uint8{uint8(u0), uint8(u1), uint8(u2), uint8(u3), uint8(u4), uint8(u5), uint8(u6), uint8(u7)}
	row, low := n.row, uint8(n.low)
	for _, lid := range lids {
		place := ports[bits.TrailingZeros64(turns)&7]
		turns &= turns - 1
		row[lid] = place
		n.uses[(place-low)&127] += once
	}
}

// lesser returns the minimum of two uses without a branch. The compiler translates min into a branch if the result is
// used as an address.
func lesser(a, b use) use {
	d := int64(a - b)
	return b + use(d&(d>>63))
}

// turns returns a word with bit 0 set in byte k and all higher bytes. k is the difference of the use u from the least
// use.
func (u use) turns(least use) uint64 {
	return 0x0101010101010101 << ((u/once - least/once) * 8) // 0 from 8 times on
}

// rounds distributes LIDs over many ports. In each round, all least used ports take one LID, in order.
func (n *narrow) rounds(set uint64, lids []uint16) {
	for len(lids) > 0 {
		best := n.leastUsed(set)
		ports := n.list(best)
		rounds := 1
		if best == set { // and stays so
			rounds = max(1, len(lids)/len(ports))
		}
		for range rounds {
			ports = ports[:min(len(ports), len(lids))]
			for i, port := range ports {
				n.row[lids[i]] = port
			}
			lids = lids[len(ports):]
		}
		for _, port := range ports {
			n.uses[(port-uint8(n.low))&127] += use(rounds) * once
		}
	}
}

// list returns the ports of a set.
func (n *narrow) list(set uint64) []uint8 {
	ports := n.ports[:0]
	for ; set != 0; set &= set - 1 {
		ports = append(ports, uint8(bits.TrailingZeros64(set))+uint8(n.low))
	}
	return ports
}

// leastUsed returns the subset of the least used ports of a set.
func (n *narrow) leastUsed(set uint64) (best uint64) {
	least := noPort
	for ; set != 0; set &= set - 1 {
		u := n.first(set) / once
		if u < least {
			least, best = u, 0
		}
		if u == least {
			best |= set & -set
		}
	}
	return best
}
