// SPDX-License-Identifier: Apache-2.0

package nue

import (
	"math"
	"math/bits"
	"slices"
)

// dependencies is the complete channel dependency graph of one VL. It has an edge from each channel to all channels
// that leave the switch where it ends, except back. Paths are searched beginning with the destination, so edges point
// against the direction of travel. Each switch has an additional channel with which a search begins there.
type dependencies struct {
	*network
	// ends are the switches where channels end. A channel has a row of edges, with a bit for each channel out of that
	// switch. A row is a number of words, or the part of a word in mask, whose width is a power of two.
	ends         []int32
	words, width int // of a row; the width in bits
	mask         uint64
	// The state of edges: edges that are not open would close a cycle, used ones are part of paths. Tentative ones are
	// used only by paths to the current destination.
	open, used, tentative edges
	// reverse has for each used edge between real channels the edge between their opposite channels, from the second to
	// the first.
	reverse edges
	painted []turn // the edges that became tentative
	colours
	order *order
	// cyclic reports that there is a cycle, so that order is invalid.
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

// reset begins a VL with a number of destinations.
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

// start returns the channel with which a search begins at a switch.
func (d *dependencies) start(s int32) int32 { return int32(len(d.to)) + s }

// edge returns the edge between two channels; the second leaves the switch where the first ends.
func (d *dependencies) edge(c, next int32) uint32 {
	return uint32(c)*uint32(d.width) + uint32(next-d.first[d.ends[c]])
}

// word returns one of the words that hold the edges from a channel.
func (d *dependencies) word(e edges, c int32, i int) uint64 {
	at := uint(int(c)*d.width + i*wordBits)
	return e[at/wordBits] >> (at % wordBits) & d.mask
}

// escape makes an edge part of the escape paths.
func (d *dependencies) escape(c, next int32) {
	if !d.used.has(d.edge(c, next)) {
		d.connect(c, next)
	}
}

// use makes an edge part of paths and reports whether that is possible: otherwise it would close a cycle, and is no
// longer open. Like OpenSM it looks for a cycle only if both channels have the current colour.
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

// connect makes an edge used, and updates the order of channels.
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

// visit is a search along used edges that does not need an order.
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

// colours record which channels are connected by used edges. A search paints with its own colour, and colours that meet
// become one. As in OpenSM, if a colour became a second one, which becomes a third, the first becomes the third only
// after the next search has ended.
type colours struct {
	colour []int32 // by channel, as painted
	// now holds what a colour became in earlier searches, became what that became in the current one.
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

// begin gives the colour of a search to its first channel, and to all channels with the colour of that.
func (k *colours) begin(c, current int32) {
	if k.colour[c] == noColour {
		k.colour[c] = current
		return
	}
	k.became[k.now[k.colour[c]]] = current
	k.changed = true
}

// take gives a channel the colour of another.
func (k *colours) take(c, other int32) {
	k.colour[c] = k.colour[other]
	k.fresh = append(k.fresh, c)
}

// merge gives all channels with the colour of c the colour of into.
func (k *colours) merge(into, c int32) {
	k.became[k.now[k.colour[c]]] = k.now[k.colour[into]]
	k.changed = true
}

// settle ends the search of a colour, and applies its merges.
func (k *colours) settle(current int32) {
	if !k.changed {
		return
	}
	k.changed = false
	for i := escapeColour; i <= current; i++ {
		k.now[i] = k.became[k.now[i]]
	}
}
