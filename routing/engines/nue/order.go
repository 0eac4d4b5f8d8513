// SPDX-License-Identifier: Apache-2.0

package nue

import (
	"cmp"
	"math/bits"
	"slices"
)

// order keeps the channels in a sequence in which used edges lead from earlier to later ones, as long as there is no
// cycle. An edge against it is looked at from both ends, and what lies before one of them or behind the other is
// moved past it (after Marchetti-Spaccamela, Nanni and Rohnert, "Maintaining a topological order under edge
// insertions", 1996, and Alpern and others, 1990). Edges may vanish.
type order struct {
	// The sequence is a list, whose head comes after the channels, with numbers that ascend and leave room
	// (Dietz and Sleator, "Two algorithms for maintaining order in a list", 1987). In a search their low bits say which
	// side a channel is on.
	at         []uint64
	next, last []int32
	head       int32
	// Of the last search: what used edges lead to from its first channel, and what they lead from to its last one. They
	// have room for a word of channels that do not stay.
	ahead, behind []int32
	begin, end    int32
	// complete says which of the two is, 0 where the search met.
	complete uint64
}

// The sides of a search, and the bits that say them.
const (
	inAhead = iota + 1
	inBehind
	bothSides
)

func newOrder(channels int) *order {
	return &order{
		at: make([]uint64, channels), next: make([]int32, channels+1), last: make([]int32, channels+1),
		head:  int32(channels),
		ahead: make([]int32, 0, channels+wordBits), behind: make([]int32, 0, channels+wordBits),
	}
}

// reset puts the channels in the order of their numbers.
func (o *order) reset() {
	for c := range o.next {
		o.next[c], o.last[c] = int32(c+1), int32(c-1)
	}
	o.next[o.head], o.last[0] = 0, o.head
	o.number()
	o.complete = 0
}

// allNumbers is above all numbers in the sequence.
const allNumbers = 1 << 63

// number numbers the channels anew, evenly.
func (o *order) number() {
	step := uint64(allNumbers) / uint64(len(o.next)) &^ bothSides
	at := step
	for c := o.next[o.head]; c != o.head; c = o.next[c] {
		o.at[c] = at
		at += step
	}
}

// leads reports whether used edges lead from a channel to another. It searches from both in turns, among the places
// between them.
func (o *order) leads(d *dependencies, from, to int32) bool {
	if o.at[from] > o.at[to] {
		return false
	}
	o.begin, o.end, o.complete = from, to, 0
	o.ahead, o.behind = append(o.ahead[:0], from), append(o.behind[:0], to)
	o.at[from] |= inAhead
	o.at[to] |= inBehind
	met := false
	for i := 0; !met && o.complete == 0; i++ {
		switch {
		case i == len(o.ahead):
			o.complete = inAhead
		case i == len(o.behind):
			o.complete = inBehind
		default:
			met = o.forward(d, o.ahead[i]) || o.backward(d, o.behind[i])
		}
	}
	for _, c := range o.ahead {
		o.at[c] &^= bothSides
	}
	for _, c := range o.behind {
		o.at[c] &^= bothSides
	}
	return met
}

// forward takes in what used edges lead to from a channel, and reports whether that leads to the end. It has no
// branches for what is taken in, as nothing would predict them.
func (o *order) forward(d *dependencies, c int32) (met bool) {
	limit, first, at, sides := o.at[o.end], d.first[d.to[c]], o.at, uint64(0)
	for i := range d.words {
		n := len(o.ahead)
		ahead := o.ahead[:n+wordBits]
		for word := d.word(d.used, c, i); word != 0; word &= word - 1 {
			next := first + int32(bits.TrailingZeros64(word))
			was := at[next]
			taken := less(was, limit) & onNoSide(was)
			at[next], ahead[n] = was|taken*inAhead, next
			n += int(taken)
			sides |= was
		}
		o.ahead = ahead[:n]
		first += wordBits
	}
	return sides&inBehind != 0
}

// backward takes in what used edges lead from to a channel, and reports whether the beginning leads to that.
func (o *order) backward(d *dependencies, c int32) (met bool) {
	limit, first, at, sides := o.at[o.begin], d.first[d.from[c]], o.at, uint64(0)
	for i := range d.words {
		n := len(o.behind)
		behind := o.behind[:n+wordBits]
		for word := d.word(d.reverse, d.back[c], i); word != 0; word &= word - 1 {
			before := d.back[first+int32(bits.TrailingZeros64(word))]
			was := at[before]
			taken := less(limit, was) & onNoSide(was)
			at[before], behind[n] = was|taken*inBehind, before
			n += int(taken)
			sides |= was
		}
		o.behind = behind[:n]
		first += wordBits
	}
	return sides&inAhead != 0
}

// onNoSide is 1 where the place of a channel says no side, and 0 else.
func onNoSide(at uint64) uint64 { return ^(at | at>>1) & 1 }

// less is 1 where a number in the sequence is less than another, and 0 else.
func less(a, b uint64) uint64 { return (a - b) >> 63 }

// precede moves channels where one does not stand before another, and reports whether that can be: not where used
// edges lead from the second to the first.
func (o *order) precede(d *dependencies, c, next int32) bool {
	if o.at[c] < o.at[next] {
		return true
	}
	if o.complete == 0 || o.begin != next || o.end != c {
		if o.leads(d, next, c) {
			return false
		}
	}
	if o.complete == inAhead {
		o.move(o.ahead, func() int32 { return o.end })
	} else {
		o.move(o.behind, func() int32 { return o.last[o.begin] })
	}
	o.complete = 0
	return true
}

// move moves channels, in their order, behind the one that stands after they are taken out.
func (o *order) move(channels []int32, behind func() int32) {
	slices.SortFunc(channels, func(a, b int32) int { return cmp.Compare(o.at[a], o.at[b]) })
	for _, c := range channels {
		o.next[o.last[c]], o.last[o.next[c]] = o.next[c], o.last[c]
	}
	c := behind()
	low, step := o.room(c, len(channels))
	if step == 0 {
		o.number()
		low, step = o.room(c, len(channels))
	}
	for _, moved := range channels {
		low += step
		o.at[moved] = low
		o.next[moved], o.last[moved] = o.next[c], c
		o.last[o.next[c]], o.next[c] = moved, moved
		c = moved
	}
}

// room is the number of a channel, 0 for the head, and how far apart so many could be numbered behind it.
func (o *order) room(c int32, channels int) (low, step uint64) {
	high := uint64(allNumbers)
	if c != o.head {
		low = o.at[c]
	}
	if next := o.next[c]; next != o.head {
		high = o.at[next]
	}
	return low, (high - low) / uint64(channels+1) &^ bothSides
}
