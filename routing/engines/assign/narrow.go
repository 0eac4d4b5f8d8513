// SPDX-License-Identifier: Apache-2.0

package assign

import (
	"math/bits"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// narrow distributes the first LIDs of all targets over the ports of a switch if only the uses of the ports matter. It
// has the same result as [assigner.spread], but is faster if the set of ports changes from run to run. It requires that
// the places of all ports in sets fit in one 64-bit word. They fit on a switch with fewer than 64 ports. They usually
// also fit if the cables to switches are at ports of one word.
type narrow struct {
	// low is the place of bit 0 of a set. uses is indexed by bit. The use at noBit is greater than all others.
	low  use
	uses [128]use

	sw      fabric.SwitchIndex
	row     []byte
	placeOf *[256]uint8

	// Scratch:
	words []uint64
	ports [64]uint8
	known [32]struct {
		set   uint64
		least use
	}
}

// window returns sets of ports as words. ok reports whether every set fits in a word.
func (n *narrow) window(sets routing.PortSets) (words []uint64, ok bool) {
	if words, ok := sets.Single(); ok {
		n.low = 0
		return words, true
	}
	low, high := sets.Range()
	if high-low > 63 {
		return nil, false
	}
	n.low = use(low)
	n.words = n.words[:0]
	for i := range sets.Len() {
		words := sets.Words(fabric.SwitchIndex(i))
		word := words[low>>6] >> (low & 63)
		if low>>6+1 < len(words) {
			word |= words[low>>6+1] << (64 - low&63)
		}
		n.words = append(n.words, word)
	}
	return n.words, true
}

// begin prepares the work on a switch. The argument count holds the uses of its ports.
func (n *narrow) begin(sw fabric.SwitchIndex, row []byte, placeOf *[256]uint8, count []uint32) {
	n.sw, n.row, n.placeOf = sw, row, placeOf
	for bit, c := range n.inSets(count) {
		n.uses[bit] = use(c)*once | n.low + use(bit)
	}
	n.uses[noBit] = noPort | n.low + noBit
}

// end writes the uses of the ports back to the slice count.
func (n *narrow) end(count []uint32) {
	for bit := range n.inSets(count) {
		n.inSets(count)[bit] = uint32(n.uses[bit] / once)
	}
}

// inSets returns the counts by bit.
func (n *narrow) inSets(count []uint32) []uint32 {
	return count[n.low:min(len(count), int(n.low)+noBit)]
}

// routeCounted computes the entries for the first LIDs of those runs whose routes count as uses. The argument sets
// holds the set of ports towards each switch. If a set is empty, the LIDs get no routes.
func (n *narrow) routeCounted(t *targets, runs []run, sets []uint64) {
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
			u := &n.uses[bits.TrailingZeros64(set)&127]
			n.all(uint8(*u), lids)
			*u += use(len(lids)) * once
		}
	}
}

// routeUncounted computes the entries for the first LIDs of those runs whose routes do not count as uses.
func (n *narrow) routeUncounted(t *targets, runs []run, sets []uint64) {
	clear(n.known[:])
	for i := range runs {
		r := &runs[i]
		set := sets[r.sw]
		lids := t.lids[r.first:r.end]
		switch {
		case set == 0:
			n.local(t, r)
		case set&(set-1) == 0:
			n.all(uint8(n.first(set)), lids)
		default:
			n.all(uint8(n.final(set)), lids)
		}
	}
}

// routeKeeping computes the entries for the first LIDs of runs. It keeps an existing port if the port is in the set of
// the run.
func (n *narrow) routeKeeping(t *targets, runs []run, sets []uint64, now []byte) {
	for i := range runs {
		r := &runs[i]
		set := sets[r.sw]
		if set == 0 {
			n.local(t, r)
			continue
		}
		more := use(0)
		if r.counted {
			more = once
		}
		n.keep(set, t.lids[r.first:r.end], more, now)
	}
}

// keep computes the entries for LIDs with the same set of ports. It adds the argument more to the use of each port that
// it takes.
func (n *narrow) keep(set uint64, lids []uint16, more use, now []byte) {
	low := uint8(n.low)
	for _, lid := range lids {
		bit := uint8(noBit)
		if int(lid) < len(now) {
			bit = n.placeOf[now[lid]] - low // above 63 it is in no set
		}
		if set>>bit&1 == 0 {
			bit = uint8(n.least(set)) - low
		}
		n.uses[bit&127] += more
		n.row[lid] = bit + low
	}
}

// local computes the entries for the targets of a run on the switch itself. If no ports lead to the switch of the run,
// its targets get no route.
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
