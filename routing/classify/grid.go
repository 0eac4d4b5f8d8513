// SPDX-License-Identifier: Apache-2.0

package classify

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/prose"
	"example.org/ibconsole/routing/engines/torus"
)

// Grid is a torus, a mesh or a hypercube.
type Grid struct {
	// Dims are the sizes; Wrap says in which of them rows are rings.
	Dims []int
	Wrap []bool
	// At are the coordinates, by switch, nil for switches outside it.
	At [][]int32
	// Missing counts the links between neighbours that are not there.
	Missing int
}

// Size is the size in words: "8x8x4".
func (g *Grid) Size() string {
	return strings.Join(prose.Words(g.Dims, func(d int) string { return fmt.Sprint(d) }), "x")
}

// The most switches from which a grid is looked for, and the most neighbours that one in it has: more are none
// of 16 dimensions.
const (
	originsTried   = 12
	mostNeighbours = 32
)

// isGrid looks for the product of rows and rings that the switches are. Where links are missing it asks the
// engine that lives with that, in two or three dimensions.
func (s *Structure) isGrid(ctx context.Context, members []fabric.SwitchIndex) bool {
	most := 0
	for _, m := range members {
		most = max(most, len(s.peers[m]))
	}
	if most > mostNeighbours {
		return false
	}
	for _, origin := range s.origins(members) {
		if g := s.gridFrom(origin, members); g != nil {
			s.takeGrid(g)
			return true
		}
	}
	if most > 6 {
		return false
	}
	t, err := torus.Layout(ctx, s.Fabric)
	if err != nil {
		return false
	}
	g := &Grid{At: make([][]int32, len(s.Switches))}
	var along []int
	for d, n := range t.Radix {
		if n > 1 {
			g.Dims, g.Wrap, along = append(g.Dims, n), append(g.Wrap, !t.Mesh[d]), append(along, d)
		}
	}
	for _, m := range members {
		if at, ok := t.Coordinates(m); ok {
			for _, d := range along {
				g.At[m] = append(g.At[m], int32(at[d]))
			}
		}
	}
	if g.Missing = g.count() - s.joined(members); g.Missing*8 > g.count() || g.Missing < 0 {
		return false
	}
	s.takeGrid(g)
	return true
}

func (s *Structure) takeGrid(g *Grid) {
	s.Grid, s.Shape = g, Mesh
	cube := len(g.Dims) > 2
	for d, n := range g.Dims {
		cube = cube && n == 2
		if g.Wrap[d] {
			s.Shape = Torus
		}
	}
	if cube {
		s.Shape = Hypercube
	}
}

// count is how many pairs of neighbours there are in a whole grid.
func (g *Grid) count() (n int) {
	places := 1
	for _, d := range g.Dims {
		places *= d
	}
	for i, d := range g.Dims {
		if g.Wrap[i] {
			n += places
		} else {
			n += places / d * (d - 1)
		}
	}
	return n
}

// joined counts the pairs of switches with a cable.
func (s *Structure) joined(members []fabric.SwitchIndex) (n int) {
	for _, m := range members {
		n += len(s.peers[m])
	}
	return n / 2
}

// origins are switches with as many neighbours as most have, then those with the fewest, those of the lowest GUIDs.
func (s *Structure) origins(members []fabric.SwitchIndex) []fabric.SwitchIndex {
	having := map[int]int{}
	fewest := mostNeighbours
	for _, m := range members {
		having[len(s.peers[m])]++
		fewest = min(fewest, len(s.peers[m]))
	}
	usual := mostOf(having)
	byGUID := slices.SortedFunc(slices.Values(members), func(a, b fabric.SwitchIndex) int {
		return cmp.Compare(s.Fabric.SwitchNode(a).GUID, s.Fabric.SwitchNode(b).GUID)
	})
	var all []fabric.SwitchIndex
	for _, n := range []int{usual, fewest} {
		for _, m := range byGUID {
			if len(s.peers[m]) == n && len(all) < originsTried && !slices.Contains(all, m) {
				all = append(all, m)
			}
		}
	}
	return all
}

// mostOf is the value that most have, the highest of several.
func mostOf(having map[int]int) (usual int) {
	for v, n := range having {
		if n > having[usual] || n == having[usual] && v > usual {
			usual = v
		}
	}
	return usual
}

// gridFrom lays the switches out as seen from one of them, nil where they are no grid. In a product of rows and
// rings, two neighbours of a switch that lie along different dimensions have a second common neighbour, and those on
// either side of it have none; rings of four are two dimensions of two until their ends are counted. Switches
// farther away have as coordinates the farthest of those of all that are one hop nearer.
func (s *Structure) gridFrom(origin fabric.SwitchIndex, members []fabric.SwitchIndex) *Grid {
	at, dims := s.axes(origin)
	if at == nil {
		return nil
	}
	dist := map[fabric.SwitchIndex]int{origin: 0}
	queue := []fabric.SwitchIndex{origin}
	for i := 0; i < len(queue); i++ {
		sw := queue[i]
		if dist[sw] > 1 {
			if at[sw] = s.combine(at, dist, sw, dims); at[sw] == nil {
				return nil
			}
		}
		for _, p := range s.peers[sw] {
			if _, ok := dist[p.sw]; !ok {
				dist[p.sw] = dist[sw] + 1
				queue = append(queue, p.sw)
			}
		}
	}
	if len(queue) != len(members) {
		return nil
	}
	return s.verified(at, dims, members)
}

// axes are the coordinates of a switch and its neighbours, and the number of dimensions. Dimensions are in the order of ports.
func (s *Structure) axes(origin fabric.SwitchIndex) (at [][]int32, dims int) {
	var order []fabric.SwitchIndex
	for _, l := range s.graph.Of(origin) {
		if l.Peer != origin && !slices.Contains(order, l.Peer) {
			order = append(order, l.Peer)
		}
	}
	side := make([]fabric.SwitchIndex, len(order))
	axis := make([]int, len(order))
	for i := range axis {
		axis[i] = -1
	}
	for i, a := range order {
		if axis[i] >= 0 {
			continue
		}
		axis[i] = dims
		for j := i + 1; j < len(order); j++ {
			if axis[j] < 0 && (s.linked(a, order[j]) || s.common(a, order[j]) == 1) {
				axis[j], side[j] = dims, 1
				break
			}
		}
		dims++
	}
	at = make([][]int32, len(s.Switches))
	at[origin] = make([]int32, dims)
	for i, sw := range order {
		at[sw] = make([]int32, dims)
		at[sw][axis[i]] = int32(1 - 2*side[i])
	}
	return at, dims
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

// combine are the coordinates of a switch by those that are one hop nearer to the origin, nil where these do not say.
func (s *Structure) combine(at [][]int32, dist map[fabric.SwitchIndex]int, sw fabric.SwitchIndex, dims int) []int32 {
	var nearer [][]int32
	for _, p := range s.peers[sw] {
		if d, ok := dist[p.sw]; ok && d == dist[sw]-1 {
			nearer = append(nearer, at[p.sw])
		}
	}
	c := slices.Clone(nearer[0])
	for _, n := range nearer[1:] {
		for d := range dims {
			if abs(n[d]) > abs(c[d]) || abs(n[d]) == abs(c[d]) && n[d] > c[d] {
				c[d] = n[d]
			}
		}
	}
	sum := int32(0)
	for _, v := range c {
		sum += abs(v)
	}
	if int(sum) == dist[sw] {
		return c
	}
	// It lies on an axis, behind one switch or between the two ends of an even ring.
	on := -1
	for d, v := range c {
		if v != 0 && on >= 0 {
			return nil
		}
		if v != 0 {
			on = d
		}
	}
	if on < 0 || len(nearer) > 2 || int(sum) != dist[sw]-1 {
		return nil
	}
	if c[on] < 0 {
		c[on]--
	} else {
		c[on]++
	}
	return c
}

func abs(v int32) int32 { return max(v, -v) }

// verified is the grid that coordinates make, nil where switches or links do not fit; one link in sixteen may be missing.
func (s *Structure) verified(at [][]int32, dims int, members []fabric.SwitchIndex) *Grid {
	low, high := make([]int32, dims), make([]int32, dims)
	for _, m := range members {
		for d, v := range at[m] {
			low[d], high[d] = min(low[d], v), max(high[d], v)
		}
	}
	g := &Grid{Dims: make([]int, dims), Wrap: make([]bool, dims), At: at}
	places := 1
	for d := range dims {
		g.Dims[d] = int(high[d] - low[d] + 1)
		if places *= g.Dims[d]; places > len(members) {
			return nil
		}
	}
	if places != len(members) {
		return nil
	}
	taken := make([]bool, places)
	for _, m := range members {
		place := 0
		for d, n := range g.Dims {
			at[m][d] = (at[m][d] + int32(n)) % int32(n)
			place = place*n + int(at[m][d])
		}
		if taken[place] {
			return nil
		}
		taken[place] = true
	}
	return s.closed(g, members)
}

// closed counts the links of a grid along each dimension, and those that close rows to rings. The switch of the lowest GUID
// is where rings begin.
func (s *Structure) closed(g *Grid, members []fabric.SwitchIndex) *Grid {
	// steps are by dimension the links from each coordinate to the next one, round.
	steps := make([][]int, len(g.Dims))
	for d, n := range g.Dims {
		steps[d] = make([]int, n)
	}
	for _, m := range members {
		for _, p := range s.peers[m] {
			if p.sw < m {
				continue
			}
			d, from := g.step(g.At[m], g.At[p.sw])
			if d < 0 {
				return nil
			}
			steps[d][from]++
		}
	}
	for d, n := range g.Dims {
		rows := len(members) / n
		least := slices.Min(steps[d])
		cut := slices.Index(steps[d], least)
		switch {
		case n > 2 && 2*least >= rows:
			g.Wrap[d] = true
		case least > 0 && n > 2:
			return nil
		case n > 2: // a mesh, whose corner is behind the cut
			for _, m := range members {
				g.At[m][d] = int32((int(g.At[m][d]) - cut - 1 + 2*n) % n)
			}
		}
	}
	if g.Missing = g.count() - s.joined(members); g.Missing*16 > g.count() || g.Missing < 0 {
		return nil
	}
	g = s.rings(g, members)
	first := slices.Clone(g.At[s.inOrder(members)[0]])
	for _, m := range members {
		for d, n := range g.Dims {
			if g.Wrap[d] {
				g.At[m][d] = (g.At[m][d] - first[d] + int32(n)) % int32(n)
			}
		}
	}
	return g
}

// step is the dimension along which two places are neighbours, -1 for none, and the lower of the two, round.
func (g *Grid) step(a, b []int32) (dim, from int) {
	dim = -1
	for d, n := range g.Dims {
		switch {
		case a[d] == b[d]:
			continue
		case dim >= 0:
			return -1, 0
		case int(a[d]+1)%n == int(b[d]):
			from = int(a[d])
		case int(b[d]+1)%n == int(a[d]):
			from = int(b[d])
		default:
			return -1, 0
		}
		if dim = d; n == 2 {
			from = 0
		}
	}
	return dim, from
}

// rings puts pairs of dimensions of two together to rings of four where the names of switches or the other
// dimensions say that they are; the two are the same cabling.
func (s *Structure) rings(g *Grid, members []fabric.SwitchIndex) *Grid {
	var twos []int
	for d, n := range g.Dims {
		if n == 2 {
			twos = append(twos, d)
		}
	}
	numbers, merged := strings.Count(s.Switches[members[0]].Pattern, "#"), len(g.Dims)-len(twos)/2
	named := numbers == merged || numbers != len(g.Dims) && len(twos) < len(g.Dims)
	if len(twos) < 2 || len(twos)%2 != 0 || !named {
		return g
	}
	out := &Grid{At: make([][]int32, len(g.At)), Missing: g.Missing}
	for d := 0; d < len(g.Dims); d++ {
		i := slices.Index(twos, d)
		switch {
		case i < 0:
			out.Dims, out.Wrap = append(out.Dims, g.Dims[d]), append(out.Wrap, g.Wrap[d])
		case i%2 == 0:
			out.Dims, out.Wrap = append(out.Dims, 4), append(out.Wrap, true)
		}
		for _, m := range members {
			switch {
			case i < 0:
				out.At[m] = append(out.At[m], g.At[m][d])
			case i%2 == 0:
				low, high := g.At[m][d], g.At[m][twos[i+1]]
				out.At[m] = append(out.At[m], 2*high+(low^high))
			}
		}
	}
	return out
}
