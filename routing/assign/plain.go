// SPDX-License-Identifier: Apache-2.0

package assign

import "math/bits"

// plainBalance is what [balance] is, for sets of a word, and shares its counts.
type plainBalance struct{ word, least, more uint64 }

// spread gives each target the least used of the ports, the first where several
// are. Ports fill up in rounds: all with the least count take one target each,
// in order, then the next count is the least. It does for sets of a word what
// firstLIDs does, without options and several times as fast.
func (a *assigner) spread(set uint64, r *run) {
	if a.dor {
		set &= a.sameNode[uint8(bits.TrailingZeros64(set))][0]
	}
	if set&(set-1) == 0 {
		if set != 0 {
			a.all(set, r)
		}
		return
	}
	if set != a.word {
		a.word = set
		a.recountWord()
	}
	if !r.counted {
		for _, t := range r.targets {
			a.row[t.lid] = uint8(bits.TrailingZeros64(a.least))
		}
		return
	}
	row, least := a.row, a.least
	for _, t := range r.targets {
		port := uint8(bits.TrailingZeros64(least))
		row[t.lid] = port
		a.count[port]++
		if least &= least - 1; least == 0 {
			a.refillWord()
			least = a.least
		}
	}
	a.least = least
}

// all gives all targets the one port that there is.
func (a *assigner) all(set uint64, r *run) {
	port := uint8(bits.TrailingZeros64(set))
	for _, t := range r.targets {
		a.row[t.lid] = port
	}
	if !r.counted {
		return
	}
	a.count[port] += uint32(len(r.targets))
	if a.word&set != 0 {
		a.word = 0 // to be counted anew
	}
}

// refillWord finds the least used ports once all that were have been used once more.
func (a *assigner) refillWord() {
	if a.more == 0 {
		a.least = a.word // all are used alike again
		return
	}
	a.recountWord()
}

// recountWord finds the least used ports from the counts.
func (a *assigner) recountWord() {
	least := ^uint32(0)
	a.least = 0
	for word := a.word; word != 0; word &= word - 1 {
		count := a.count[uint8(bits.TrailingZeros64(word))]
		if count < least {
			least, a.least = count, 0
		}
		if count == least {
			a.least |= word & -word
		}
	}
	a.more = a.word &^ a.least
}
