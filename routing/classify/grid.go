// SPDX-License-Identifier: Apache-2.0

package classify

import (
	"fmt"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
)

// Grid is a torus, a mesh or a hypercube.
type Grid struct {
	// Dims are the sizes of the dimensions. Wrap is set for a dimension whose rows are rings.
	Dims []int
	Wrap []bool
	// At holds the coordinates of each switch, or nil for a switch outside the grid.
	At [][]int32
	// Missing counts the absent links between neighbours in the grid. Strange counts the pairs of linked switches that
	// are not neighbours in the grid.
	Missing, Strange int

	outside int
}

// Size returns the size as text: "8x8x4".
func (g *Grid) Size() string {
	return strings.Join(prose.Words(g.Dims, func(d int) string { return fmt.Sprint(d) }), "x")
}

const (
	originsTried = 12 // number of switches from which a grid is laid out
	mostDims     = 16 // number of dimensions
)

// isGrid reports whether the switches form a grid, that is, a product of rows and rings. It stores the grid with the
// fewest faults.
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
	s.setGrid(s.rotateRings(s.mergeTwos(best.splitFours(), members), members))
	return true
}

// faults measures how much a grid differs from a complete grid.
func (g *Grid) faults() int { return g.Missing + g.Strange + 2*len(g.Dims)*g.outside }

func (s *Structure) setGrid(g *Grid) {
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

// count returns the number of pairs of neighbours in a complete grid.
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

// joined counts the pairs of switches that have a link.
func (s *Structure) joined(members []fabric.SwitchIndex) (n int) {
	for _, m := range members {
		n += len(s.peers[m])
	}
	return n / 2
}

// origins returns switches from which gridFrom may start: first switches with the most frequent number of neighbours,
// then switches with the fewest neighbours, each by GUID.
func (s *Structure) origins(members []fabric.SwitchIndex) []fabric.SwitchIndex {
	having := map[int]int{}
	fewest := 2 * mostDims
	for _, m := range members {
		having[len(s.peers[m])]++
		fewest = min(fewest, len(s.peers[m]))
	}
	var all []fabric.SwitchIndex
	for _, n := range []int{mostOf(having), fewest} {
		for _, m := range s.inOrder(members) {
			if len(s.peers[m]) == n && len(all) < originsTried && !slices.Contains(all, m) {
				all = append(all, m)
			}
		}
	}
	return all
}

// mostOf returns the value with the highest count. In a tie it returns the highest value.
func mostOf(having map[int]int) (usual int) {
	for v, n := range having {
		if n > having[usual] || n == having[usual] && v > usual {
			usual = v
		}
	}
	return usual
}

// step returns the dimension along which two places are neighbours, or -1 if they are not neighbours. The result from
// is the coordinate of the lower place. The last place of a ring is below the first.
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

// notAdjacent reports whether two switches are not neighbours in the grid.
func (g *Grid) notAdjacent(a, b fabric.SwitchIndex) bool {
	d, from := g.step(g.At[a], g.At[b])
	return d < 0 || !g.Wrap[d] && g.Dims[d] > 2 && from == g.Dims[d]-1
}

// splitFours returns the grid with each ring of four switches replaced by two dimensions of size two.
func (g *Grid) splitFours() *Grid {
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

// mergeTwos merges pairs of dimensions of size two into rings of four, if the numbers in the names of switches or the
// other dimensions suggest this. The cabling is the same for both forms.
func (s *Structure) mergeTwos(g *Grid, members []fabric.SwitchIndex) *Grid {
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
