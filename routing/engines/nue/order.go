// SPDX-License-Identifier: Apache-2.0

package nue

// order keeps the channels in a sequence in which used edges lead from earlier to later ones, as long as there is no
// cycle. An edge against it is looked at from both ends, and what lies before one of them or behind the other is
// moved past it (after Marchetti-Spaccamela, Nanni and Rohnert, "Maintaining a topological order under edge
// insertions", 1996, and Alpern and others, 1990). Edges may vanish.
type order struct {
	at       []int32 // the place of each channel
	sequence []int32
	// Of the last search: what used edges lead to from its first channel, what they lead from to its last one, and
	// which of the two a channel is in.
	ahead, behind []int32
	side          []side
	begin, end    int32
	// complete says which of the two is, none where the search met.
	complete side
	moved    []int32
}

type side uint8

const (
	inAhead side = iota + 1
	inBehind
)

func newOrder(channels int) *order {
	return &order{at: make([]int32, channels), sequence: make([]int32, channels), side: make([]side, channels)}
}

func (o *order) reset() {
	for c := range o.at {
		o.at[c], o.sequence[c] = int32(c), int32(c)
	}
	o.complete = 0
}

// leads reports whether used edges lead from a channel to another. It searches from both in turns, among the places
// between them.
func (o *order) leads(d *dependencies, from, to int32) bool {
	if o.at[from] > o.at[to] {
		return false
	}
	o.begin, o.end, o.complete = from, to, 0
	o.ahead, o.behind = append(o.ahead[:0], from), append(o.behind[:0], to)
	o.side[from], o.side[to] = inAhead, inBehind
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
		o.side[c] = 0
	}
	for _, c := range o.behind {
		o.side[c] = 0
	}
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
		o.moveBehind()
	} else {
		o.moveAhead()
	}
	o.complete = 0
	return true
}

// moveBehind moves what the beginning leads to behind the end.
func (o *order) moveBehind() {
	o.mark(o.ahead, true)
	low, high := o.at[o.begin], o.at[o.end]
	o.moved = o.moved[:0]
	for _, c := range o.sequence[low : high+1] {
		if o.side[c] != 0 {
			o.moved = append(o.moved, c)
			continue
		}
		o.sequence[low], o.at[c] = c, low
		low++
	}
	for _, c := range o.moved {
		o.sequence[low], o.at[c] = c, low
		low++
	}
	o.mark(o.ahead, false)
}

// moveAhead moves what leads to the end before the beginning.
func (o *order) moveAhead() {
	o.mark(o.behind, true)
	low, high := o.at[o.begin], o.at[o.end]
	o.moved = o.moved[:0]
	for p := high; p >= low; p-- {
		c := o.sequence[p]
		if o.side[c] != 0 {
			o.moved = append(o.moved, c)
			continue
		}
		o.sequence[high], o.at[c] = c, high
		high--
	}
	for _, c := range o.moved {
		o.sequence[high], o.at[c] = c, high
		high--
	}
	o.mark(o.behind, false)
}

func (o *order) mark(channels []int32, on bool) {
	s := side(0)
	if on {
		s = inAhead
	}
	for _, c := range channels {
		o.side[c] = s
	}
}
