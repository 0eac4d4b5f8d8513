// SPDX-License-Identifier: Apache-2.0

package assign

import (
	"math/bits"

	"example.org/ibconsole/fabric"
)

// narrow spreads the first LIDs of all targets over the ports of a switch with fewer than 64 of them, where their use
// alone decides: the same ports as [assigner.spread], faster where the set of ports changes from run to run.
type narrow struct {
	// uses are by place. That of noPlace is greater than all.
	uses [128]use

	sw      fabric.SwitchIndex
	row     []byte
	placeOf *[256]uint8
}

// use is how often a port was used, and its place in the low byte: the least is next.
type use uint64

const (
	once    use = 1 << 8
	noPlace     = 64 // is where the lowest bit of an empty set is
)

// begin turns to a switch, whose ports were used before.
func (n *narrow) begin(sw fabric.SwitchIndex, row []byte, placeOf *[256]uint8, count []uint32) {
	n.sw, n.row, n.placeOf = sw, row, placeOf
	for place, c := range count {
		n.uses[place] = use(c)*once | use(place)
	}
	n.uses[noPlace] = 1<<62 | noPlace
}

// end gives back how often they are used.
func (n *narrow) end(count []uint32) {
	for place := range count {
		count[place] = uint32(n.uses[place] / once)
	}
}

// counted routes to the first LIDs of runs that count, by the set of ports towards each switch. Where there are none
// nothing is routed.
func (n *narrow) counted(t *targets, runs []run, sets []uint64) {
	for i := 0; i < len(runs); {
		r := &runs[i]
		set, end := sets[r.sw], r.end
		for i++; set != 0 && i < len(runs) && sets[runs[i].sw] == set; i++ {
			end = runs[i].end
		}
		lids := t.lids[r.first:end]
		switch {
		case set == 0:
			n.local(t, r)
		case set&(set-1) != 0:
			n.spread(set, lids)
		default:
			place := uint8(bits.TrailingZeros64(set))
			n.all(place, lids)
			n.uses[place&127] += use(len(lids)) * once
		}
	}
}

// uncounted routes to the first LIDs of runs that do not count.
func (n *narrow) uncounted(t *targets, runs []run, sets []uint64) {
	last, place := uint64(0), uint8(0)
	for i := range runs {
		r := &runs[i]
		set := sets[r.sw]
		if set == 0 {
			n.local(t, r)
			continue
		}
		if set != last {
			last, place = set, uint8(n.least(set))
		}
		n.all(place, t.lids[r.first:r.end])
	}
}

// local routes to the targets of a run towards whose switch no ports lead, where that is the switch itself.
func (n *narrow) local(t *targets, r *run) {
	if r.sw != n.sw {
		return
	}
	for _, target := range t.of(r) {
		n.row[target.lid] = n.placeOf[target.local]
	}
}

func (n *narrow) all(place uint8, lids []uint16) {
	row := n.row
	for _, lid := range lids {
		row[lid] = place
	}
}

// first is the use of the first port of a set.
func (n *narrow) first(set uint64) use { return n.uses[bits.TrailingZeros64(set)&127] }

// least is the least used port of a set.
func (n *narrow) least(s0 uint64) use {
	s1 := s0 & (s0 - 1)
	s2 := s1 & (s1 - 1)
	s3 := s2 & (s2 - 1)
	least := min(min(n.first(s0), n.first(s1)), min(n.first(s2), n.first(s3)))
	for set := s3 & (s3 - 1); set != 0; set &= set - 1 {
		least = min(least, n.first(set))
	}
	return least
}

// spread gives each LID the least used of the ports, the first where several are.
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

// four spreads over up to four ports, which it keeps sorted by use.
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
	n.keep(u3)
	n.keep(u2)
	n.keep(u1)
	n.keep(u0)
}

func (n *narrow) keep(u use) { n.uses[u&127] = u }

// eight spreads up to eight LIDs over up to eight ports. Bit i of byte k of a word says that port i is used at most k times
// more than the least: the bits from the lowest on are whose turn it is.
func (n *narrow) eight(u0, u1, u2, u3, u4, u5, u6, u7 use, lids []uint16) {
	least := lesser(lesser(lesser(u0, u1), lesser(u2, u3)), lesser(lesser(u4, u5), lesser(u6, u7)))
	turns := u0.turns(least) | u1.turns(least)<<1 | u2.turns(least)<<2 | u3.turns(least)<<3 |
		u4.turns(least)<<4 | u5.turns(least)<<5 | u6.turns(least)<<6 | u7.turns(least)<<7
	places := [8]uint8{uint8(u0), uint8(u1), uint8(u2), uint8(u3), uint8(u4), uint8(u5), uint8(u6), uint8(u7)}
	row := n.row
	for _, lid := range lids {
		place := places[bits.TrailingZeros64(turns)&7]
		turns &= turns - 1
		row[lid] = place
		n.uses[place&127] += once
	}
}

// lesser is the minimum without a branch: for what becomes an address the compiler makes one of min.
func lesser(a, b use) use {
	d := int64(a - b)
	return b + use(d&(d>>63))
}

// turns has bit 0 of each byte from that on of how many times more the port is used than the least.
func (u use) turns(least use) uint64 {
	return 0x0101010101010101 << ((u/once - least/once) * 8) // 0 from 8 times on
}

// rounds spreads over many ports. All that are used the least take one LID each, in order, then the next are the least.
func (n *narrow) rounds(set uint64, lids []uint16) {
	for len(lids) > 0 {
		best := n.leastUsed(set)
		i := 0
		for ; best != 0 && i < len(lids); i++ {
			place := uint8(bits.TrailingZeros64(best))
			best &= best - 1
			n.row[lids[i]] = place
			n.uses[place&127] += once
		}
		lids = lids[i:]
	}
}

// leastUsed are the ports of a set that are used the least.
func (n *narrow) leastUsed(set uint64) (best uint64) {
	least := ^use(0)
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
