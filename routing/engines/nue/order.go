// SPDX-License-Identifier: Apache-2.0

package nue

import (
	"cmp"
	"math/bits"
	"slices"
)

// order keeps the channels in a sequence in which used edges lead from earlier to later channels, unless the edges have
// a cycle. If a new edge contradicts the sequence, both of its ends are searched. The channels before one end, or those
// after the other end, are then moved past the other (after Marchetti-Spaccamela, Nanni and Rohnert, "Maintaining a
// topological order under edge insertions", 1996, and Alpern and others, 1990). Edges may be removed.
type order struct {
	// The sequence is a list. Its head is the number after the channels. The channels in the list have ascending
	// numbers with gaps (Dietz and Sleator, "Two algorithms for maintaining order in a list", 1987). During a search
	// the low bits of a number hold the side of the channel.
	at         []uint64
	next, last []int32
	head       int32
	// Results of the last search: ahead lists the channels to which used edges lead from begin, behind those from which
	// used edges lead to end. The slices have capacity for one extra word that is written and ignored.
	ahead, behind []int32
	begin, end    int32
	// complete is the side of the search that is complete, or 0 if the two sides met.
	complete uint64
}

// The sides of a search, as bits.
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

// reset orders the channels by number.
func (o *order) reset() {
	for c := range o.next {
		o.next[c], o.last[c] = int32(c+1), int32(c-1)
	}
	o.next[o.head], o.last[0] = 0, o.head
	o.number()
	o.complete = 0
}

// allNumbers is greater than all numbers in the sequence.
const allNumbers = 1 << 63

// number renumbers the channels evenly.
func (o *order) number() {
	step := uint64(allNumbers) / uint64(len(o.next)) &^ bothSides
	at := step
	for c := o.next[o.head]; c != o.head; c = o.next[c] {
		o.at[c] = at
		at += step
	}
}

// leads reports whether used edges lead from one channel to another. It searches alternately from both channels, and
// only among the channels between them.
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

// forward adds to ahead the channels to which used edges lead from channel c. It reports whether one of them leads to
// the end. It is branchless because the branches would be unpredictable.
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

// backward adds to behind the channels from which used edges lead to channel c. It reports whether begin leads to one
// of them.
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

// onNoSide returns 1 if a channel is on no side of the search, and 0 otherwise.
func onNoSide(at uint64) uint64 { return ^(at | at>>1) & 1 }

// less returns 1 if number a in the sequence is less than number b, and 0 otherwise.
func less(a, b uint64) uint64 { return (a - b) >> 63 }

// precede moves channels so that c comes before another channel. It reports whether this is possible. It is impossible
// if used edges lead from the other channel to c.
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

// move removes channels from the list and inserts them, in their order, after another channel. It calls the function
// behind for this channel after the removal.
func (o *order) move(channels []int32, behind func() int32) {
	slices.SortFunc(channels, func(a, b int32) int { return cmp.Compare(o.at[a], o.at[b]) })
	for _, c := range channels {
		o.next[o.last[c]], o.last[o.next[c]] = o.next[c], o.last[c]
	}
	c := behind()
	low, step := o.gap(c, len(channels))
	if step == 0 {
		o.number()
		low, step = o.gap(c, len(channels))
	}
	for _, moved := range channels {
		low += step
		o.at[moved] = low
		o.next[moved], o.last[moved] = o.next[c], c
		o.last[o.next[c]], o.next[c] = moved, moved
		c = moved
	}
}

// gap returns the number of channel c, or 0 for the head, and the distance between numbers if so many channels are
// inserted after it.
func (o *order) gap(c int32, channels int) (low, step uint64) {
	high := uint64(allNumbers)
	if c != o.head {
		low = o.at[c]
	}
	if next := o.next[c]; next != o.head {
		high = o.at[next]
	}
	return low, (high - low) / uint64(channels+1) &^ bothSides
}
