// SPDX-License-Identifier: Apache-2.0

package classify

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
)

// Grid is a torus, a mesh or a hypercube.
type Grid struct {
	// Dims are the sizes; Wrap says in which of them rows are rings.
	Dims []int
	Wrap []bool
	// At are the coordinates, by switch, nil for switches outside it.
	At [][]int32
	// Missing counts the links between neighbours that are not there, Strange the pairs of switches that are linked and
	// are no neighbours.
	Missing, Strange int

	outside int
}

// Size is the size in words: "8x8x4".
func (g *Grid) Size() string {
	return strings.Join(prose.Words(g.Dims, func(d int) string { return fmt.Sprint(d) }), "x")
}

// The most switches from which a grid is looked for, and the most dimensions.
const (
	originsTried = 12
	mostDims     = 16
)

// isGrid looks for the product of rows and rings that the switches are; of several, for the one that lacks least.
func (s *Structure) isGrid(members []fabric.SwitchIndex) bool {
	for _, m := range members {
		if len(s.peers[m]) > 2*mostDims {
			return false
		}
	}
	var best *Grid
	for _, origin := range s.origins(members) {
		g := s.gridFrom(origin, members)
		if g != nil && (best == nil || g.faults() < best.faults()) {
			best = g
		}
		if best != nil && best.faults() == 0 {
			break
		}
	}
	if best == nil {
		return false
	}
	s.takeGrid(s.begun(s.rings(best.halved(), members), members))
	return true
}

// faults is how far a grid is from a whole one.
func (g *Grid) faults() int { return g.Missing + g.Strange + 2*len(g.Dims)*g.outside }

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
	fewest := 2 * mostDims
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

// apart reports whether two switches are no neighbours in the grid.
func (g *Grid) apart(a, b fabric.SwitchIndex) bool {
	d, from := g.step(g.At[a], g.At[b])
	return d < 0 || !g.Wrap[d] && g.Dims[d] > 2 && from == g.Dims[d]-1
}

// halved is the same with rings of four as two dimensions of two.
func (g *Grid) halved() *Grid {
	out := *g
	out.Dims, out.Wrap, out.At = nil, nil, make([][]int32, len(g.At))
	for d, n := range g.Dims {
		four := n == 4 && g.Wrap[d]
		if four {
			out.Dims, out.Wrap = append(out.Dims, 2, 2), append(out.Wrap, false, false)
		} else {
			out.Dims, out.Wrap = append(out.Dims, n), append(out.Wrap, g.Wrap[d])
		}
		for sw, at := range g.At {
			switch {
			case at == nil:
			case four:
				out.At[sw] = append(out.At[sw], at[d]>>1^at[d]&1, at[d]>>1)
			default:
				out.At[sw] = append(out.At[sw], at[d])
			}
		}
	}
	return &out
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
	out := *g
	out.Dims, out.Wrap, out.At = nil, nil, make([][]int32, len(g.At))
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
			case g.At[m] == nil:
			case i < 0:
				out.At[m] = append(out.At[m], g.At[m][d])
			case i%2 == 0:
				low, high := g.At[m][d], g.At[m][twos[i+1]]
				out.At[m] = append(out.At[m], 2*high+(low^high))
			}
		}
	}
	return &out
}
