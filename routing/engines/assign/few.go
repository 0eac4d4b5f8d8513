// SPDX-License-Identifier: Apache-2.0

package assign

import "math/bits"

// few does as spread for a set of few ports that differs from the one before, and reports whether it was one: with
// such sets, to keep what was counted for the next target costs more than to compare all ports. Where a set stays the
// same for many targets that is the other way round.
func (a *assigner[S]) few(ports S, r *run) bool {
	word := ports[0]
	switch n := bits.OnesCount64(word); {
	case len(ports) > 1 || n > 8: // or of a large switch
		return false
	case !r.counted:
		least := noPort
		for ; word != 0; word &= word - 1 {
			least = min(least, a.useOf(word))
		}
		for i := range r.targets {
			a.row[r.targets[i].lid] = uint8(least)
		}
		return true
	case n > 4:
		a.eight(word, r.targets)
	default:
		a.four(word, r.targets)
	}
	if !empty(and(ports, a.set)) {
		var none S
		a.set = none // to be counted anew
	}
	return true
}

// use is how often a port was used, and its place: the least is next.
type use uint64

// noPort is greater than all.
const noPort = ^use(0)

// useOf is that of the first place of a set.
func (b *balance[S]) useOf(word uint64) use {
	place := bits.TrailingZeros64(word)
	u := use(b.count[place])<<8 | use(place)
	if word == 0 {
		u = noPort
	}
	return u
}

// next is the use once the place was used, if it is the one that is.
func (u use) next(used use) use {
	if u == used {
		u += 1 << 8
	}
	return u
}

func (b *balance[S]) keep(u use) { b.count[uint8(u)] = uint32(u >> 8) }

func (a *assigner[S]) four(word uint64, targets []target) {
	w1 := word & (word - 1)
	w2 := w1 & (w1 - 1)
	w3 := w2 & (w2 - 1)
	u0, u1, u2, u3 := a.useOf(word), a.useOf(w1), a.useOf(w2), a.useOf(w3)
	for i := range targets {
		u := min(min(u0, u1), min(u2, u3))
		a.row[targets[i].lid] = uint8(u)
		u0, u1, u2, u3 = u0.next(u), u1.next(u), u2.next(u), u3.next(u)
	}
	a.keep(u3)
	a.keep(u2)
	a.keep(u1)
	a.keep(u0)
}

func (a *assigner[S]) eight(word uint64, targets []target) {
	var uses [8]use
	for i := range uses {
		uses[i] = a.useOf(word)
		word &= word - 1
	}
	u0, u1, u2, u3, u4, u5, u6, u7 := uses[0], uses[1], uses[2], uses[3], uses[4], uses[5], uses[6], uses[7]
	for i := range targets {
		u := min(min(min(u0, u1), min(u2, u3)), min(min(u4, u5), min(u6, u7)))
		a.row[targets[i].lid] = uint8(u)
		u0, u1, u2, u3 = u0.next(u), u1.next(u), u2.next(u), u3.next(u)
		u4, u5, u6, u7 = u4.next(u), u5.next(u), u6.next(u), u7.next(u)
	}
	for _, u := range [8]use{u0, u1, u2, u3, u4, u5, u6, u7} {
		a.keep(u)
	}
}
