// SPDX-License-Identifier: Apache-2.0

package classify

import (
	"slices"

	"example.org/ibconsole/fabric"
)

// place is the position of a switch in a grid, relative to the switch at which the layout began.
type place [mostDims]int16

// placing lays out switches in a grid, one switch at a time, beginning with an origin and its neighbours. Coordinates
// count up and down from the origin. They do not wrap around rings.
type placing struct {
	*Structure
	dims  int
	at    map[fabric.SwitchIndex]place
	taken map[place]bool
	// queue holds switches without a place that have a neighbour that was recently placed.
	queue []fabric.SwitchIndex
	// The field links counts the pairs of linked switches that have places. The field crooked counts those pairs whose
	// places differ in several coordinates.
	links, crooked int
}

// gridFrom lays out the switches of a grid, beginning with a given switch. It returns nil if the switches are not a
// grid.
//
// The layout uses a property of products of rows and rings. Two neighbours of a switch along different dimensions have
// a second common neighbour. Two neighbours along the same dimension have no second common neighbour. Rings of four are
// laid out as two dimensions of size two until their ends are counted.
//
// A switch gets the place that is next to most of its neighbours, and to at least two. If there is no such place, it
// continues the row of a neighbour. O(links x dimensions).
func (s *Structure) gridFrom(origin fabric.SwitchIndex, members []fabric.SwitchIndex) *Grid {
	p := &placing{Structure: s, at: map[fabric.SwitchIndex]place{}, taken: map[place]bool{}}
	if !p.placeOrigin(origin) {
		return nil
	}
	var later []fabric.SwitchIndex
	for len(p.queue) > 0 || len(later) > 0 {
		if p.isNoGrid() {
			return nil
		}
		if len(p.queue) > 0 {
			sw := p.queue[0]
			p.queue = p.queue[1:]
			if _, ok := p.at[sw]; ok {
				continue
			}
			if to, ok := p.commonPlace(sw); ok {
				p.put(sw, to)
			} else {
				later = append(later, sw)
			}
			continue
		}
		sw := later[0]
		later = later[1:]
		if _, ok := p.at[sw]; ok {
			continue
		}
		if to, ok := p.straightPlace(sw); ok {
			p.put(sw, to)
		}
	}
	outside := len(members) - len(p.at)
	if tooMany(outside, len(members)) {
		return nil
	}
	g := p.grid(members)
	if g != nil {
		g.outside = outside
	}
	return g
}

// tooMany reports whether more than one part in eight is wrong. A damaged grid has fewer faults. It also returns true
// if the argument wrong is negative.
func tooMany(wrong, of int) bool { return wrong < 0 || 8*wrong > of }

// placeOrigin places the origin and its neighbours. Dimensions are numbered in the order of ports.
func (p *placing) placeOrigin(origin fabric.SwitchIndex) bool {
	var order []fabric.SwitchIndex
	for _, l := range p.graph.Of(origin) {
		if l.Peer != origin && !slices.Contains(order, l.Peer) {
			order = append(order, l.Peer)
		}
	}
	p.put(origin, place{})
	sorted := make([]bool, len(order))
	for i, a := range order {
		if sorted[i] {
			continue
		}
		if p.dims == mostDims {
			return false
		}
		p.put(a, place{}.next(p.dims, 1))
		for j := i + 1; j < len(order); j++ {
			if !sorted[j] && (p.linked(a, order[j]) || p.common(a, order[j]) == 1) {
				p.put(order[j], place{}.next(p.dims, -1))
				sorted[j] = true
				break
			}
		}
		p.dims++
	}
	return p.dims > 0
}

func (at place) next(dim int, step int16) place {
	at[dim] += step
	return at
}

// put gives a switch a place, and adds its neighbours without a place to the queue.
func (p *placing) put(sw fabric.SwitchIndex, to place) {
	p.at[sw], p.taken[to] = to, true
	for _, peer := range p.peers[sw] {
		at, ok := p.at[peer.sw]
		if !ok {
			p.queue = append(p.queue, peer.sw)
			continue
		}
		if p.links++; !at.inRow(to) {
			p.crooked++
		}
	}
}

// inRow reports whether two places differ in at most one coordinate.
func (at place) inRow(other place) bool {
	apart := 0
	for d := range at {
		if at[d] != other[d] {
			apart++
		}
	}
	return apart <= 1
}

// isNoGrid reports whether most links lie in no row. Then the layout can stop early.
func (p *placing) isNoGrid() bool { return p.links > 128 && 2*p.crooked > p.links }

// commonPlace returns the free place that is next to the most neighbours of a switch. The place must be unique and next
// to at least two neighbours.
func (p *placing) commonPlace(sw fabric.SwitchIndex) (to place, ok bool) {
	type vote struct {
		at place
		n  int
	}
	var votes []vote
	for _, peer := range p.peers[sw] {
		at, placed := p.at[peer.sw]
		for d := 0; placed && d < p.dims; d++ {
			for _, step := range []int16{1, -1} {
				next := at.next(d, step)
				if p.taken[next] {
					continue
				}
				i := slices.IndexFunc(votes, func(v vote) bool { return v.at == next })
				if i < 0 {
					votes = append(votes, vote{next, 1})
				} else {
					votes[i].n++
				}
			}
		}
	}
	most := 1
	for _, v := range votes {
		switch {
		case v.n > most:
			to, ok, most = v.at, true, v.n
		case v.n == most && !to.isSameOnRing(v.at):
			ok = false
		}
	}
	return to, ok
}

// isSameOnRing reports whether two places that are next to the same switches are one place, reached from both sides of
// a ring.
func (at place) isSameOnRing(other place) bool {
	for d := range at {
		if n := at[d] - other[d]; n > 2 || n < -2 {
			return true
		}
	}
	return false
}

// straightPlace returns the free place at which a switch continues the row of a neighbour. The place must be unique.
//
// The switch and the switch before that neighbour in the row must have no common neighbour except that neighbour. If a
// third switch is next to the row at that neighbour, the switch must have a common neighbour with it.
func (p *placing) straightPlace(sw fabric.SwitchIndex) (to place, ok bool) {
	for _, peer := range p.peers[sw] {
		at, placed := p.at[peer.sw]
		for d := 0; placed && d < p.dims; d++ {
			for _, step := range []int16{1, -1} {
				on := at.next(d, step)
				if p.taken[on] || !p.isStraight(sw, peer.sw, at.next(d, -step)) {
					continue
				}
				if ok && to != on && !to.isSameOnRing(on) {
					return place{}, false
				}
				to, ok = on, true
			}
		}
	}
	return to, ok
}

// isStraight reports whether the switch sw continues a row. The row leads from a place (argument before) to a switch
// (argument by).
func (p *placing) isStraight(sw, by fabric.SwitchIndex, before place) bool {
	row, hasNext, square := false, false, false
	for _, peer := range p.peers[by] {
		at, placed := p.at[peer.sw]
		switch {
		case !placed:
		case at == before:
			row = p.common(sw, peer.sw) == 1
		default:
			hasNext = true
			square = square || p.common(sw, peer.sw) > 1
		}
	}
	return row && (square || !hasNext)
}

// grid returns the grid that the places form, or nil if they form no grid.
func (p *placing) grid(members []fabric.SwitchIndex) *Grid {
	g := &Grid{Wrap: make([]bool, p.dims), At: make([][]int32, len(p.Switches))}
	low, high := place{}, place{}
	for _, at := range p.at {
		for d := range p.dims {
			low[d], high[d] = min(low[d], at[d]), max(high[d], at[d])
		}
	}
	places := 1
	for d := range p.dims {
		n := p.ringSize(d, int(high[d]-low[d])+1)
		g.Dims = append(g.Dims, n)
		if places *= n; tooMany(places-len(p.at), places) && places > len(p.at) {
			return nil
		}
	}
	if tooMany(places-len(p.at), places) {
		return nil
	}
	taken := make([]bool, places)
	for sw, at := range p.at {
		number := 0
		for d, n := range g.Dims {
			v := ((int(at[d]-low[d]))%n + n) % n
			g.At[sw] = append(g.At[sw], int32(v))
			number = number*n + v
		}
		if taken[number] {
			return nil
		}
		taken[number] = true
	}
	return p.closeRings(g, members, places)
}

// ringSize returns the size of a dimension. If links close its rings, the size follows from these links, otherwise it
// is extent, the number of places.
func (p *placing) ringSize(dim, extent int) int {
	votes := map[int]int{}
	for sw, at := range p.at {
		for _, peer := range p.peers[sw] {
			to, ok := p.at[peer.sw]
			if n := int(to[dim] - at[dim]); ok && n > 1 && at.next(dim, int16(n)) == to {
				votes[n+1]++
			}
		}
	}
	if n := mostOf(votes); 2*votes[n]*n >= len(p.at) && n > 0 {
		return n
	}
	return extent
}

// closeRings counts the links of a grid along each dimension. It finds the dimensions whose rows are rings.
func (s *Structure) closeRings(g *Grid, members []fabric.SwitchIndex, places int) *Grid {
	// steps counts, for each dimension, the links from each coordinate to the next coordinate, including links from the
	// last to the first.
	steps := make([][]int, len(g.Dims))
	for d, n := range g.Dims {
		steps[d] = make([]int, n)
	}
	for _, m := range members {
		for _, p := range s.peers[m] {
			if p.sw < m || g.At[m] == nil || g.At[p.sw] == nil {
				continue
			}
			if d, from := g.step(g.At[m], g.At[p.sw]); d < 0 {
				g.Strange++
			} else {
				steps[d][from]++
			}
		}
	}
	for d, n := range g.Dims {
		least := slices.Min(steps[d])
		cut := slices.Index(steps[d], least)
		switch {
		case n > 2 && 2*least >= places/n:
			g.Wrap[d] = true
		case n > 2: // a mesh that begins after the coordinate with the fewest links
			g.Strange += least
			for _, m := range members {
				if g.At[m] != nil {
					g.At[m][d] = int32((int(g.At[m][d]) - cut - 1 + 2*n) % n)
				}
			}
		}
	}
	whole := g.count()
	g.Missing = whole - s.joined(members) + g.Strange
	if tooMany(g.Missing, whole) || 2*g.Strange > g.Missing+2 {
		return nil
	}
	return g
}

// rotateRings shifts the coordinates of rings so that the switch with the lowest GUID has coordinate 0.
func (s *Structure) rotateRings(g *Grid, members []fabric.SwitchIndex) *Grid {
	placed := slices.DeleteFunc(s.inOrder(members), func(m fabric.SwitchIndex) bool { return g.At[m] == nil })
	first := slices.Clone(g.At[placed[0]])
	for _, m := range placed {
		for d, n := range g.Dims {
			if g.Wrap[d] {
				g.At[m][d] = (g.At[m][d] - first[d] + int32(n)) % int32(n)
			}
		}
	}
	return g
}

// common returns the number of common neighbours of two switches.
func (s *Structure) common(a, b fabric.SwitchIndex) (n int) {
	x, y := s.peers[a], s.peers[b]
	for len(x) > 0 && len(y) > 0 {
		switch {
		case x[0].sw < y[0].sw:
			x = x[1:]
		case x[0].sw > y[0].sw:
			y = y[1:]
		default:
			n, x, y = n+1, x[1:], y[1:]
		}
	}
	return n
}
