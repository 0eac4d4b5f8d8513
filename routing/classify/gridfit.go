// SPDX-License-Identifier: Apache-2.0

package classify

import (
	"slices"

	"example.org/ibconsole/fabric"
)

// place is where a switch lies in a grid, as seen from an origin.
type place [mostDims]int16

// placing lays switches out in a grid, one after the other, from an origin and its neighbours. Coordinates go up and
// down from the origin's and round no ring.
type placing struct {
	*Structure
	dims  int
	at    map[fabric.SwitchIndex]place
	taken map[place]bool
	// queue are switches that have got a new neighbour with a place.
	queue []fabric.SwitchIndex
	// links are the pairs of linked switches that have places, askew those of them that lie in no row.
	links, askew int
}

// gridFrom lays the switches out as seen from one of them, nil where they are no grid. In a product of rows and rings,
// two neighbours of a switch that lie along different dimensions have a second common neighbour, and those on either
// side of it have none; rings of four are two dimensions of two until their ends are counted. A switch has its place
// where most of its neighbours have it beside them, two at least; else it is behind its neighbour, seen from
// the one before. O(links x dimensions).
func (s *Structure) gridFrom(origin fabric.SwitchIndex, members []fabric.SwitchIndex) *Grid {
	p := &placing{Structure: s, at: map[fabric.SwitchIndex]place{}, taken: map[place]bool{}}
	if !p.begin(origin) {
		return nil
	}
	var later []fabric.SwitchIndex
	for len(p.queue) > 0 || len(later) > 0 {
		if p.astray() {
			return nil
		}
		if len(p.queue) > 0 {
			sw := p.queue[0]
			p.queue = p.queue[1:]
			if _, ok := p.at[sw]; ok {
				continue
			}
			if to, ok := p.between(sw); ok {
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
		if to, ok := p.behind(sw); ok {
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

// tooMany reports whether more is wrong than a damaged grid may have: one in eight.
func tooMany(wrong, of int) bool { return wrong < 0 || 8*wrong > of }

// begin gives the origin and its neighbours their places. Dimensions are in the order of ports.
func (p *placing) begin(origin fabric.SwitchIndex) bool {
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

// put gives a switch its place, and has its neighbours looked at.
func (p *placing) put(sw fabric.SwitchIndex, to place) {
	p.at[sw], p.taken[to] = to, true
	for _, peer := range p.peers[sw] {
		at, ok := p.at[peer.sw]
		if !ok {
			p.queue = append(p.queue, peer.sw)
			continue
		}
		if p.links++; !at.inRow(to) {
			p.askew++
		}
	}
}

// inRow reports whether two places are the same but for one coordinate.
func (at place) inRow(other place) bool {
	apart := 0
	for d := range at {
		if at[d] != other[d] {
			apart++
		}
	}
	return apart <= 1
}

// astray reports whether it is plain before all switches have a place that this is no grid: most links lie in no row.
func (p *placing) astray() bool { return p.links > 128 && 2*p.askew > p.links }

// between is the one free place that is beside more of a switch's neighbours than any other, beside two at least.
func (p *placing) between(sw fabric.SwitchIndex) (to place, ok bool) {
	type vote struct {
		at place
		n  int
	}
	var votes []vote
	for _, peer := range p.peers[sw] {
		at, placed := p.at[peer.sw]
		for d := 0; placed && d < p.dims; d++ {
			for _, step := range []int16{1, -1} {
				beside := at.next(d, step)
				if p.taken[beside] {
					continue
				}
				i := slices.IndexFunc(votes, func(v vote) bool { return v.at == beside })
				if i < 0 {
					votes = append(votes, vote{beside, 1})
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
		case v.n == most && !to.round(v.at):
			ok = false
		}
	}
	return to, ok
}

// round reports whether two places, both beside the same switches, are one, reached from both sides of a ring.
func (at place) round(other place) bool {
	for d := range at {
		if n := at[d] - other[d]; n > 2 || n < -2 {
			return true
		}
	}
	return false
}

// behind is the one free place that goes on from a neighbour of the neighbour of a switch, straight through it: they
// have nothing else in common, and something with a neighbour beside the row, where there is one.
func (p *placing) behind(sw fabric.SwitchIndex) (to place, ok bool) {
	for _, peer := range p.peers[sw] {
		at, placed := p.at[peer.sw]
		for d := 0; placed && d < p.dims; d++ {
			for _, step := range []int16{1, -1} {
				on := at.next(d, step)
				if p.taken[on] || !p.straight(sw, peer.sw, at.next(d, -step)) {
					continue
				}
				if ok && to != on && !to.round(on) {
					return place{}, false
				}
				to, ok = on, true
			}
		}
	}
	return to, ok
}

// straight reports whether a switch lies behind another, seen from the place before that.
func (p *placing) straight(sw, by fabric.SwitchIndex, before place) bool {
	row, beside, square := false, false, false
	for _, peer := range p.peers[by] {
		at, placed := p.at[peer.sw]
		switch {
		case !placed:
		case at == before:
			row = p.common(sw, peer.sw) == 1
		default:
			beside = true
			square = square || p.common(sw, peer.sw) > 1
		}
	}
	return row && (square || !beside)
}

// grid is the grid that the places make, nil where they are none.
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
		n := p.ring(d, int(high[d]-low[d])+1)
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
	return p.closed(g, members, places)
}

// ring is the size of a dimension by the links that close its rings, else as many places as there are.
func (p *placing) ring(dim, extent int) int {
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

// closed counts the links of a grid along each dimension, and those that close rows to rings.
func (s *Structure) closed(g *Grid, members []fabric.SwitchIndex, places int) *Grid {
	// steps are by dimension the links from each coordinate to the next one, round.
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
		case n > 2: // a mesh, whose corner is behind the cut
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

// begun is a grid whose rings begin at the switch of the lowest GUID.
func (s *Structure) begun(g *Grid, members []fabric.SwitchIndex) *Grid {
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

// common counts the neighbours that two switches have in common.
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
