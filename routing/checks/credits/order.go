// SPDX-License-Identifier: Apache-2.0

package credits

import (
	"context"
	"fmt"
	"math/bits"
	"slices"

	"example.org/ibconsole/fabric"
)

// Order holds channel dependencies without a cycle in topological order, while dependencies are added. It is for one
// goroutine.
type Order struct {
	*checker
	graph *graph
	// position is the position of each channel in the order. at is the channel at each position. A channel depends only
	// on channels at later positions.
	position, at []int32
	// log lists the dependencies that Add has added, for TakeBack.
	log []channelPair
	// seen marks the channels found by a search, found lists them.
	seen  []bool
	found []int32
	stack []int32
	// edited and passed are scratch memory of AddPaths: the changed entries by switch, 0 for none, and the switches
	// that packets have passed.
	edited []uint8
	passed []bool
}

// channelPair is a dependency between two channels. from depends on the channel that leaves switch at by port out with
// VL vl.
type channelPair struct {
	from    int32
	at      fabric.SwitchIndex
	out, vl uint8
}

// NewOrder orders the channel dependencies of all paths of the tables. It returns nil if the dependencies have a cycle.
// It takes the time of [Check] and memory of O(ports x VLs).
func NewOrder(ctx context.Context, t *fabric.Tables, opt Options) (*Order, error) {
	c := newChecker(t, opt)
	g, err := c.dependencies(ctx)
	if err != nil {
		return nil, fmt.Errorf("order the channel dependencies of %s: %w", t.Origin, err)
	}
	o := &Order{checker: c, graph: g, seen: make([]bool, len(g.rows))}
	if !o.sort() {
		return nil, nil
	}
	return o, nil
}

// sort finds the first order. It reports whether an order exists.
func (o *Order) sort() bool {
	waits := make([]int32, len(o.graph.rows))
	for c := range o.graph.rows {
		o.graph.each(int32(c), func(to int32) { waits[to]++ })
	}
	o.at = make([]int32, 0, len(waits))
	for c, n := range waits {
		if n == 0 {
			o.at = append(o.at, int32(c))
		}
	}
	for i := 0; i < len(o.at); i++ {
		o.graph.each(o.at[i], func(to int32) {
			if waits[to]--; waits[to] == 0 {
				o.at = append(o.at, to)
			}
		})
	}
	if len(o.at) < len(waits) {
		return false
	}
	o.position = make([]int32, len(o.at))
	for i, c := range o.at {
		o.position[c] = int32(i)
	}
	return true
}

// each calls the function visit for each channel on which a channel depends.
func (g *graph) each(from int32, visit func(to int32)) {
	if g.rows[from] == nil {
		return
	}
	base := g.number(g.f.Nodes[g.f.PeerNode(fabric.PortIndex(from/int32(g.vls)))].FirstPort, 0)
	for i, w := range g.rows[from] {
		for ; w != 0; w &= w - 1 {
			visit(base + int32(i*64+bits.TrailingZeros64(w)))
		}
	}
}

// Mark returns a mark of the current state for [Order.TakeBack].
func (o *Order) Mark() int { return len(o.log) }

// TakeBack removes the dependencies that were added since the mark was taken.
func (o *Order) TakeBack(mark int) {
	for _, d := range o.log[mark:] {
		row := o.graph.rows[d.from]
		bit := int(d.out)*o.graph.vls + int(d.vl)
		row[bit>>6] &^= 1 << (bit & 63)
	}
	o.log = o.log[:mark]
}

// Add adds the dependencies of packets of a service level. The argument in is the number of the port by which the
// packets enter the first switch. The argument out lists the ports by which they leave the switches of their path. Add
// returns false if the dependencies close a cycle. It has then added some of them, so the caller must call
// [Order.TakeBack].
func (o *Order) Add(in uint8, out []fabric.PortIndex, sl uint8) bool {
	var before uint16
	for i, port := range out {
		p := &o.f.Ports[port]
		sw := o.f.Nodes[p.Node].Switch
		if o.f.PeerSwitch(port) == fabric.None {
			return true
		}
		vls := o.vlsOf(sw, in, p.Num, sl) &^ uncertain
		for set := before; set != 0; set &= set - 1 {
			from := o.graph.number(out[i-1], uint8(bits.TrailingZeros16(set)))
			for to := vls; to != 0; to &= to - 1 {
				if !o.depend(channelPair{from, sw, p.Num, uint8(bits.TrailingZeros16(to))}) {
					return false
				}
			}
		}
		before, in = vls, o.f.Ports[p.Peer].Num
	}
	return true
}

// depend adds a dependency, and reports whether it closes no cycle.
func (o *Order) depend(d channelPair) bool {
	bit := int(d.out)*o.graph.vls + int(d.vl)
	if row := o.graph.rows[d.from]; row != nil && row[bit>>6]>>(bit&63)&1 != 0 {
		return true
	}
	to := o.graph.number(o.f.SwitchNode(d.at).FirstPort+fabric.PortIndex(d.out), d.vl)
	if o.position[to] <= o.position[d.from] && !o.moveBehind(d.from, to) {
		return false
	}
	o.graph.depend(d.from, d.at, d.out, d.vl)
	o.log = append(o.log, d)
	return true
}

// moveBehind moves channel c to a position after another channel (argument last). It also moves those channels on which
// c depends that must come after c. It returns false if c depends on the other channel, because no order exists in this
// case. O(positions between the two channels + dependencies found).
func (o *Order) moveBehind(last, c int32) bool {
	reached := o.search(c, last)
	if reached {
		for _, f := range o.found {
			o.seen[f] = false
		}
		return false
	}
	slices.SortFunc(o.found, func(a, b int32) int { return int(o.position[a] - o.position[b]) })
	next := o.position[c]
	place := func(c int32) {
		o.at[next], o.position[c] = c, next
		next++
	}
	end := o.position[last]
	for _, other := range o.at[o.position[c] : end+1] {
		if !o.seen[other] {
			place(other)
		}
	}
	for _, f := range o.found {
		place(f)
		o.seen[f] = false
	}
	return true
}

// search finds the channels on which c depends, directly or indirectly, up to the position of another channel (argument
// last). It reports whether this channel is among them.
func (o *Order) search(c, last int32) (reached bool) {
	end := o.position[last]
	o.found, o.stack = append(o.found[:0], c), append(o.stack[:0], c)
	o.seen[c] = true
	if c == last {
		return true
	}
	for len(o.stack) > 0 && !reached {
		from := o.stack[len(o.stack)-1]
		o.stack = o.stack[:len(o.stack)-1]
		o.graph.each(from, func(to int32) {
			reached = reached || to == last
			if !o.seen[to] && o.position[to] <= end {
				o.seen[to] = true
				o.found, o.stack = append(o.found, to), append(o.stack, to)
			}
		})
	}
	return reached
}

// AddFrom is like [Order.Add] for the packets that an end port sends to a LID. It covers all LIDs of the end port as
// source, with the service levels of their paths.
func (o *Order) AddFrom(src fabric.PortIndex, out []fabric.PortIndex, dlid uint16) bool {
	sw, in := o.f.AttachedSwitch(src)
	if sw == fabric.None {
		return true
	}
	p, last := &o.f.Ports[src], fabric.SLRange{}
	for slid := int(p.LID); slid < int(p.LID)+1<<p.LMC; slid++ {
		sls := fabric.RangeOf(o.sls, uint16(slid), dlid)
		if sls == last || sls.First == fabric.NoSL {
			continue
		}
		for i := range sls.N {
			if !o.Add(in, out, (sls.First+i)&0xf) {
				return false
			}
		}
		last = sls
	}
	return true
}
