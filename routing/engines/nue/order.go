// SPDX-License-Identifier: Apache-2.0

package nue

import "slices"

// order numbers the channels so that used edges lead from lower to higher numbers, as long as there is no cycle
// (Pearce and Kelly, "A Dynamic Topological Sort Algorithm for Directed Acyclic Graphs", 2006). Edges may vanish.
type order struct {
	at []int32 // by channel
	// Of the last search: what can be reached from its first channel, what leads to its last one, and which of the
	// two a channel is in.
	ahead, behind []int32
	side          []side
	begin, end    int32
	// known says that these are complete.
	known  bool
	sorted []uint64
	places []int32
}

type side uint8

const (
	inAhead side = iota + 1
	inBehind
)

func newOrder(channels int) *order {
	return &order{at: make([]int32, channels), side: make([]side, channels)}
}

// reset numbers the channels so that those towards the root of a tree come first, the farthest before the others, and
// then those away from it: in this order no path that turns downward once has an edge back.
func (o *order) reset(n *network, t *tree) {
	rank := make([]int32, len(n.switches))
	for i, s := range t.order {
		rank[s] = int32(i)
	}
	place := int32(0)
	for _, s := range slices.Backward(t.order) {
		for c := n.first[s]; c < n.first[s+1]; c++ {
			if rank[n.to[c]] < rank[s] {
				o.at[c] = place
				place++
			}
		}
	}
	for _, s := range t.order {
		for c := n.first[s]; c < n.first[s+1]; c++ {
			if rank[n.to[c]] > rank[s] {
				o.at[c] = place
				place++
			}
		}
	}
	o.known = false
}

// leads reports whether used edges lead from a channel to another. It searches from both, in turns, and among the
// numbers between them.
func (o *order) leads(d *dependencies, from, to int32) bool {
	if o.at[from] > o.at[to] {
		return false
	}
	o.begin, o.end = from, to
	o.ahead, o.behind = append(o.ahead[:0], from), append(o.behind[:0], to)
	o.side[from], o.side[to] = inAhead, inBehind
	met, i, k := false, 0, 0
	for !met && i < len(o.ahead) && k < len(o.behind) {
		met = o.forward(d, o.ahead[i])
		i++
		if !met {
			met = o.backward(d, o.behind[k])
			k++
		}
	}
	if !met {
		for ; i < len(o.ahead); i++ {
			o.forward(d, o.ahead[i])
		}
		for ; k < len(o.behind); k++ {
			o.backward(d, o.behind[k])
		}
	}
	for _, c := range o.ahead {
		o.side[c] = 0
	}
	for _, c := range o.behind {
		o.side[c] = 0
	}
	o.known = !met
	return met
}

// forward takes in what used edges lead to from a channel, and reports whether that leads to the end.
func (o *order) forward(d *dependencies, c int32) (met bool) {
	low, high := d.out(d.to[c])
	last := o.at[o.end]
	for k, s := range d.state[d.base[c]:][:high-low] {
		if s < used {
			continue
		}
		switch next := low + int32(k); {
		case o.side[next] == inBehind:
			return true
		case o.side[next] == 0 && o.at[next] < last:
			o.side[next] = inAhead
			o.ahead = append(o.ahead, next)
		}
	}
	return false
}

// backward takes in what used edges lead from to a channel, and reports whether the beginning leads to that.
func (o *order) backward(d *dependencies, c int32) (met bool) {
	at := d.from[c]
	low, high := d.out(at)
	first := o.at[o.begin]
	e, degree := d.block[at]+c-low, high-low
	for _, before := range d.back[low:high] {
		if d.state[e] >= used {
			switch {
			case o.side[before] == inAhead:
				return true
			case o.side[before] == 0 && o.at[before] > first:
				o.side[before] = inBehind
				o.behind = append(o.behind, before)
			}
		}
		e += degree
	}
	return false
}

// precede numbers the channels anew where one does not have a lower number than another, and reports whether that can
// be: not where used edges lead from the second to the first.
func (o *order) precede(d *dependencies, c, next int32) bool {
	if o.at[c] < o.at[next] {
		return true
	}
	if !o.known || o.begin != next || o.end != c {
		if o.leads(d, next, c) {
			return false
		}
	}
	o.known = false
	o.places = o.places[:0]
	o.collect(o.behind)
	n := len(o.places)
	o.collect(o.ahead)
	slices.Sort(o.sorted[:n])
	slices.Sort(o.sorted[n:])
	slices.Sort(o.places)
	for i, e := range o.sorted {
		o.at[uint32(e)] = o.places[i]
	}
	return true
}

// collect adds channels to those that are numbered anew, and their numbers to those that they get.
func (o *order) collect(channels []int32) {
	o.sorted = o.sorted[:len(o.places)]
	for _, c := range channels {
		o.sorted = append(o.sorted, uint64(o.at[c])<<32|uint64(c))
		o.places = append(o.places, o.at[c])
	}
}
