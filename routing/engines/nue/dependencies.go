// SPDX-License-Identifier: Apache-2.0

package nue

import (
	"math"
	"math/bits"
	"slices"
)

// dependencies is the complete channel dependency graph of one VL. From each channel, edges lead to all channels that
// leave the switch at its end, except back to the switch where it begins. Paths are searched from the destination, so
// edges point against the direction of packets. Each switch has an additional channel, with which a search from this
// switch begins.
type dependencies struct {
	*network
	// ends holds the switch where each channel ends. A channel has a row of edges with one bit for each channel that
	// leaves this switch. A row takes several words, or the part of one word that mask selects. The width of such a
	// part is a power of two.
	ends         []int32
	words, width int // of a row; the width in bits
	mask         uint64
	// The state of edges. An edge that is not open would close a cycle. A used edge is part of paths. A tentative edge
	// is used only by paths to the current destination.
	open, used, tentative edges
	// reverse holds the reverse of each used edge between real channels. The reverse of the edge from c to d leads from
	// the opposite channel of d to the opposite channel of c.
	reverse edges
	painted []turn // the edges that became tentative
	colours
	order *order
	// cyclic is set if the used edges have a cycle. Then order is invalid.
	cyclic bool
	visit  visit
}

// turn is an edge between two channels.
type turn struct{ c, next int32 }

func newDependencies(n *network) *dependencies {
	channels, most := len(n.to), int32(1)
	d := &dependencies{network: n, ends: slices.Clone(n.to), order: newOrder(channels)}
	for s := range int32(len(n.switches)) {
		d.ends = append(d.ends, s)
		low, high := n.out(s)
		most = max(most, high-low)
	}
	d.words = (int(most) + wordBits - 1) / wordBits
	d.width = min(1<<bits.Len(uint(most-1)), d.words*wordBits)
	d.mask = math.MaxUint64 >> max(0, wordBits-d.width)
	rows := (d.width*len(d.ends) + wordBits - 1) / wordBits
	d.open, d.used, d.tentative, d.reverse = make(edges, rows), make(edges, rows), make(edges, rows), make(edges, rows)
	d.visit.marks = make([]bool, channels)
	return d
}

// reset prepares the graph for a VL. lids is the number of destinations of the VL.
func (d *dependencies) reset(lids int) {
	for i := range d.open {
		d.open[i] = math.MaxUint64
	}
	for c, back := range d.back {
		d.open.unset(d.edge(int32(c), back))
	}
	clear(d.used)
	clear(d.tentative)
	clear(d.reverse)
	d.painted = d.painted[:0]
	d.colours.reset(len(d.ends), lids)
	d.order.reset()
	d.cyclic = false
}

// start returns the additional channel with which a search from switch s begins.
func (d *dependencies) start(s int32) int32 { return int32(len(d.to)) + s }

// edge returns the edge from channel c to another channel, which must leave the switch where c ends.
func (d *dependencies) edge(c, next int32) uint32 {
	return uint32(c)*uint32(d.width) + uint32(next-d.first[d.ends[c]])
}

// word returns word i of the row that holds the edges from channel c.
func (d *dependencies) word(e edges, c int32, i int) uint64 {
	at := uint(int(c)*d.width + i*wordBits)
	return e[at/wordBits] >> (at % wordBits) & d.mask
}

// escape makes the edge between two channels part of the escape paths.
func (d *dependencies) escape(c, next int32) {
	if !d.used.has(d.edge(c, next)) {
		d.connect(c, next)
	}
}

// use makes the edge between two channels part of paths, unless the edge closes a cycle. It reports whether the edge is
// now part of paths. An edge that would close a cycle is no longer open afterwards. Like OpenSM, use searches for a
// cycle only if both channels have the current colour.
func (d *dependencies) use(c, next int32, current int32) bool {
	e := d.edge(c, next)
	switch {
	case d.used.has(e):
		return true
	case d.of(next) == current:
		if d.leads(next, c) {
			d.open.unset(e)
			return false
		}
	case d.colour[next] == noColour:
		d.take(next, c)
	default:
		d.merge(c, next)
	}
	d.connect(c, next)
	d.tentative.set(e)
	d.painted = append(d.painted, turn{c, next})
	return true
}

// undo releases a tentative edge.
func (d *dependencies) undo(c, next int32) {
	e := d.edge(c, next)
	if !d.tentative.has(e) {
		return
	}
	d.tentative.unset(e)
	d.used.unset(e)
	if int(c) < len(d.to) {
		d.reverse.unset(d.edge(d.back[next], d.back[c]))
	}
}

// connect marks the edge between two channels as used, and updates the order of channels.
func (d *dependencies) connect(c, next int32) {
	if int(c) < len(d.to) {
		if !d.cyclic && !d.order.precede(d, c, next) {
			d.cyclic = true
		}
		d.reverse.set(d.edge(d.back[next], d.back[c]))
	}
	d.used.set(d.edge(c, next))
}

// leads reports whether used edges lead from one channel to another.
func (d *dependencies) leads(from, to int32) bool {
	switch {
	case int(to) >= len(d.to):
		return false // no edge leads to the start of a search
	case d.cyclic:
		return d.visit.leads(d, from, to)
	}
	return d.order.leads(d, from, to)
}

// visit is a search along used edges that works without an order of channels.
type visit struct {
	marks []bool
	stack []int32
}

func (v *visit) leads(d *dependencies, from, to int32) bool {
	clear(v.marks)
	v.stack = append(v.stack[:0], from)
	v.marks[from] = true
	for len(v.stack) > 0 {
		c := v.stack[len(v.stack)-1]
		v.stack = v.stack[:len(v.stack)-1]
		for i := range d.words {
			word := d.word(d.used, c, i)
			for first := d.first[d.to[c]] + int32(i*wordBits); word != 0; word &= word - 1 {
				next := first + int32(bits.TrailingZeros64(word))
				switch {
				case next == to:
					return true
				case !v.marks[next]:
					v.marks[next] = true
					v.stack = append(v.stack, next)
				}
			}
		}
	}
	return false
}

// colours record which channels are connected by used edges. Each search paints channels with its own colour. If it
// meets another colour, the two colours become one. As in OpenSM, a chain of such changes is resolved late: if colour 1
// became colour 2, and colour 2 becomes colour 3, colour 1 becomes colour 3 only after the next search has ended.
type colours struct {
	colour []int32 // by channel, as painted
	// now maps each colour to the colour that it became in earlier searches. became maps that colour to the colour that
	// it became in the current search.
	now, became []int32
	changed     bool
	fresh       []int32 // the painted channels
}

const (
	noColour int32 = iota
	escapeColour
	firstColour
)

func (k *colours) reset(channels, lids int) {
	if k.colour == nil {
		k.colour = make([]int32, channels)
	}
	clear(k.colour)
	k.fresh = k.fresh[:0]
	k.now, k.became = make([]int32, int(firstColour)+lids), make([]int32, int(firstColour)+lids)
	for i := range k.now {
		k.now[i], k.became[i] = int32(i), int32(i)
	}
}

// of returns the colour of a channel.
func (k *colours) of(c int32) int32 { return k.became[k.now[k.colour[c]]] }

// begin gives the first channel of a search the colour of the search. If the channel has a colour, all channels of this
// colour get the colour of the search.
func (k *colours) begin(c, current int32) {
	if k.colour[c] == noColour {
		k.colour[c] = current
		return
	}
	k.became[k.now[k.colour[c]]] = current
	k.changed = true
}

// take gives channel c the colour of another channel.
func (k *colours) take(c, other int32) {
	k.colour[c] = k.colour[other]
	k.fresh = append(k.fresh, c)
}

// merge gives all channels with the colour of c the colour of another channel.
func (k *colours) merge(into, c int32) {
	k.became[k.now[k.colour[c]]] = k.now[k.colour[into]]
	k.changed = true
}

// settle ends the search with a colour, and applies the merges of the search.
func (k *colours) settle(current int32) {
	if !k.changed {
		return
	}
	k.changed = false
	for i := escapeColour; i <= current; i++ {
		k.now[i] = k.became[k.now[i]]
	}
}
