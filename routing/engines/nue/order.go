// SPDX-License-Identifier: Apache-2.0

package nue

import "slices"

// order numbers the channels so that used edges lead from lower to higher numbers, as long as there is no cycle
// (Pearce and Kelly, "A Dynamic Topological Sort Algorithm for Directed Acyclic Graphs", 2006). Edges may vanish.
type order struct {
	at            []int32 // by channel
	marked        []bool
	ahead, behind []int32
	places        []int32
	begin, end    int32 // of the last search that found nothing
	searched      bool
}

func newOrder(channels int) *order {
	return &order{at: make([]int32, channels), marked: make([]bool, channels)}
}

func (o *order) reset() {
	for c := range o.at {
		o.at[c] = int32(c)
	}
	o.searched = false
}

// leads reports whether used edges lead from a channel to another.
func (o *order) leads(d *dependencies, from, to int32) bool {
	if o.at[from] > o.at[to] {
		return false
	}
	found := o.forward(d, from, to)
	o.begin, o.end, o.searched = from, to, !found
	return found
}

// forward collects what can be reached from a channel up to the number of another, and reports whether that is too.
func (o *order) forward(d *dependencies, from, to int32) bool {
	limit, found := o.at[to], false
	o.ahead = append(o.ahead[:0], from)
	o.marked[from] = true
	for i := 0; i < len(o.ahead) && !found; i++ {
		c := o.ahead[i]
		low, high := d.out(d.to[c])
		for k, s := range d.state[d.base[c]:][:high-low] {
			next := low + int32(k)
			if s < used || o.marked[next] || o.at[next] > limit {
				continue
			}
			if next == to {
				found = true
				break
			}
			o.marked[next] = true
			o.ahead = append(o.ahead, next)
		}
	}
	for _, c := range o.ahead {
		o.marked[c] = false
	}
	return found
}

// backward collects what leads to a channel down to the number of another.
func (o *order) backward(d *dependencies, to, from int32) {
	limit := o.at[from]
	o.behind = append(o.behind[:0], to)
	o.marked[to] = true
	for i := 0; i < len(o.behind); i++ {
		c := o.behind[i]
		s := d.from[c]
		low, high := d.out(s)
		for k := low; k < high; k++ {
			before := d.back[k]
			if o.marked[before] || o.at[before] < limit || d.state[d.base[before]+c-low] < used {
				continue
			}
			o.marked[before] = true
			o.behind = append(o.behind, before)
		}
	}
	for _, c := range o.behind {
		o.marked[c] = false
	}
}

// precede numbers the channels anew where one does not have a lower number than another, and reports whether that can
// be: not where used edges lead from the second to the first.
func (o *order) precede(d *dependencies, c, next int32) bool {
	if o.at[c] < o.at[next] {
		return true
	}
	if !o.searched || o.begin != next || o.end != c {
		if o.forward(d, next, c) {
			return false
		}
	}
	o.searched = false
	o.backward(d, c, next)
	byNumber := func(a, b int32) int { return int(o.at[a] - o.at[b]) }
	slices.SortFunc(o.ahead, byNumber)
	slices.SortFunc(o.behind, byNumber)
	o.places = o.places[:0]
	for _, side := range [2][]int32{o.behind, o.ahead} {
		for _, c := range side {
			o.places = append(o.places, o.at[c])
		}
	}
	slices.Sort(o.places)
	for i, c := range append(o.behind, o.ahead...) {
		o.at[c] = o.places[i]
	}
	return true
}
