// SPDX-License-Identifier: Apache-2.0

package nue

import (
	"encoding/binary"
	"slices"
)

// dependencies is the complete channel dependency graph of one VL: an edge from each channel to all that leave the
// switch it comes to, but not back. Paths are searched from the destination on, so that edges point against the
// direction of travel. Each switch has a channel of its own beside the real ones, by which a search begins there.
type dependencies struct {
	*network
	// Edges of channel c stand from base[c] on, one for each channel out of the switch ends[c]. Those at one switch
	// are a block: a row for each channel that comes to it, in the order of those that leave it.
	base, ends, block []int32
	state             []state
	painted           []int32 // edges that became tentative
	colours
	order *order
	// cyclic says that there is a cycle, so that order holds no more.
	cyclic bool
	visit  visit
}

// state is what may be done with an edge.
type state = byte

const (
	// blocked edges would close a cycle.
	blocked state = iota
	unused
	used
	// tentative edges, which have the bit of used ones, too, are used by paths to the present destination, so far.
	tentative
)

func newDependencies(n *network) *dependencies {
	channels, switches := len(n.to), len(n.switches)
	d := &dependencies{network: n, base: make([]int32, channels+switches), ends: slices.Clone(n.to)}
	edges := int32(0)
	for s := range int32(switches) {
		d.ends = append(d.ends, s)
		d.block = append(d.block, edges)
		low, high := n.out(s)
		for _, c := range n.back[low:high] {
			d.base[c] = edges
			edges += high - low
		}
		d.base[d.start(s)] = edges
		edges += high - low
	}
	d.state = make([]state, edges+wordStates)
	d.order = newOrder(channels)
	d.visit.marks = make([]bool, channels)
	return d
}

// reset begins a VL of so many destinations.
func (d *dependencies) reset(lids int) {
	for e := range d.state {
		d.state[e] = unused
	}
	for c, back := range d.back {
		d.state[d.edge(int32(c), back)] = blocked
	}
	d.painted = d.painted[:0]
	d.colours.reset(len(d.ends), lids)
	d.order.reset()
	d.cyclic = false
}

// start is the channel by which a search begins at a switch.
func (d *dependencies) start(s int32) int32 { return int32(len(d.to)) + s }

// edge is the one between two channels; the second leaves where the first ends.
func (d *dependencies) edge(c, next int32) int32 { return d.base[c] + next - d.first[d.ends[c]] }

// wordStates is how many states are looked at at a time.
const wordStates = 8

// usedOf are bytes that are not 0 for the used ones of eight edges; what is behind the last does not count.
func usedOf(edges []state) uint64 {
	return binary.LittleEndian.Uint64(edges) & (0x0101010101010101 * uint64(used))
}

// unusedOf are bytes that are not 0 for the unused ones of eight edges.
func unusedOf(edges []state) uint64 {
	w := binary.LittleEndian.Uint64(edges)
	return w &^ (w >> 1) & (0x0101010101010101 * uint64(unused))
}

// escape makes an edge one of the escape paths.
func (d *dependencies) escape(c, next int32) {
	if e := d.edge(c, next); d.state[e] != used {
		d.state[e] = used
		d.connect(c, next)
	}
}

// use makes an edge part of paths and reports whether it can be: else it would close a cycle, and is blocked from
// now on. Like OpenSM's it looks for a cycle only where both channels have the present colour.
func (d *dependencies) use(c, e, next int32, present int32) bool {
	switch {
	case d.state[e] >= used:
		return true
	case d.of(next) == present:
		if d.leads(next, c) {
			d.state[e] = blocked
			return false
		}
	case d.colour[next] == noColour:
		d.take(next, c)
	default:
		d.merge(c, next)
	}
	d.connect(c, next)
	d.state[e] = tentative
	d.painted = append(d.painted, e)
	return true
}

// undo gives an edge up that was tentative.
func (d *dependencies) undo(e int32) {
	if d.state[e] == tentative {
		d.state[e] = unused
	}
}

// keep makes an edge stay used that is tentative.
func (d *dependencies) keep(c, next int32) {
	d.dry[next] = true
	if e := d.edge(c, next); d.state[e] == tentative {
		d.state[e] = used
	}
}

// settle gives up what is tentative but was not kept, and ends the search of a colour.
func (d *dependencies) settle(present int32) {
	for _, e := range d.painted {
		d.undo(e)
	}
	d.painted = d.painted[:0]
	d.colours.settle(present)
}

// connect notes an edge in the order of channels.
func (d *dependencies) connect(c, next int32) {
	if int(c) < len(d.to) && !d.cyclic && !d.order.precede(d, c, next) {
		d.cyclic = true
	}
}

// leads reports whether used edges lead from a channel to another.
func (d *dependencies) leads(from, to int32) bool {
	switch {
	case int(to) >= len(d.to):
		return false // no edge comes to where a search begins
	case d.cyclic:
		return d.visit.leads(d, from, to)
	}
	return d.order.leads(d, from, to)
}

// visit is a search through used edges that rests on no order.
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
		low, high := d.out(d.to[c])
		for next := low; next < high; next++ {
			if d.state[d.base[c]+next-low] < used || v.marks[next] {
				continue
			}
			if next == to {
				return true
			}
			v.marks[next] = true
			v.stack = append(v.stack, next)
		}
	}
	return false
}

// colours say which channels are joined by used edges. A search paints with its own colour, and colours that meet
// become one. As in OpenSM a colour that has become another, which in turn becomes a third, is the third only
// once the next search has ended.
type colours struct {
	colour []int32 // by channel, as it was painted
	// now is what a colour has become in searches before the present one, and became what that became in it.
	now, became []int32
	changed     bool
	fresh       []int32 // channels that were painted
	dry         []bool  // channels that stay painted
}

const (
	noColour int32 = iota
	escapeColour
	firstColour
)

func (k *colours) reset(channels, lids int) {
	if k.colour == nil {
		k.colour, k.dry = make([]int32, channels), make([]bool, channels)
	}
	clear(k.colour)
	k.fresh = k.fresh[:0]
	k.now, k.became = make([]int32, int(firstColour)+lids), make([]int32, int(firstColour)+lids)
	for i := range k.now {
		k.now[i], k.became[i] = int32(i), int32(i)
	}
}

// of is the colour of a channel.
func (k *colours) of(c int32) int32 { return k.became[k.now[k.colour[c]]] }

// begin gives the colour of a search to the channel that it begins with, and to all of the colour that this has.
func (k *colours) begin(c, present int32) {
	if k.colour[c] == noColour {
		k.colour[c] = present
		return
	}
	k.became[k.now[k.colour[c]]] = present
	k.changed = true
}

// take paints a channel like another.
func (k *colours) take(c, like int32) {
	k.colour[c] = k.colour[like]
	k.dry[c] = false
	k.fresh = append(k.fresh, c)
}

// merge gives all of a channel's colour that of another.
func (k *colours) merge(into, c int32) {
	k.became[k.now[k.colour[c]]] = k.now[k.colour[into]]
	k.changed = true
}

func (k *colours) settle(present int32) {
	for _, c := range k.fresh {
		if !k.dry[c] {
			k.colour[c] = noColour
		}
	}
	k.fresh = k.fresh[:0]
	if !k.changed {
		return
	}
	k.changed = false
	for i := escapeColour; i <= present; i++ {
		k.now[i] = k.became[k.now[i]]
	}
}
