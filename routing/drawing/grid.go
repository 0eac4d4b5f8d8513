// SPDX-License-Identifier: Apache-2.0

package drawing

import (
	"fmt"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/classify"
)

// gridPlaces holds the switches of a grid by place: the first dimension from left to right, the second upwards, and a
// plane for each position in the other dimensions. Half of the dimensions of a hypercube are laid out from left to
// right, the other half upwards.
type gridPlaces struct {
	across, up            int // the first dimension that is not laid out from left to right, and not upwards
	width, height, planes int
	at                    []fabric.SwitchIndex // [fabric.None] for a place without a switch
}

func gridOf(s *classify.Structure) *gridPlaces {
	g, dims := &gridPlaces{across: 1, up: min(2, len(s.Grid.Dims))}, s.Grid.Dims
	if s.Shape == classify.Hypercube {
		g.across, g.up = (len(dims)+1)/2, len(dims)
	}
	g.width, g.height, g.planes = product(dims[:g.across]), product(dims[g.across:g.up]), product(dims[g.up:])
	g.at = make([]fabric.SwitchIndex, g.width*g.height*g.planes)
	for i := range g.at {
		g.at[i] = fabric.None
	}
	for sw, at := range s.Grid.At {
		if at != nil {
			x, y, z := place(dims[:g.across], at[:g.across]), place(dims[g.across:g.up], at[g.across:g.up]),
				place(dims[g.up:], at[g.up:])
			g.at[(z*g.height+y)*g.width+x] = fabric.SwitchIndex(sw)
		}
	}
	return g
}

// row returns the switches of a row, from left to right.
func (g *gridPlaces) row(y, z int) []fabric.SwitchIndex {
	at := (z*g.height + y) * g.width
	return g.at[at : at+g.width]
}

func (d *Drawing) layGrid(s *classify.Structure) {
	g := gridOf(s)
	d.Kind, d.Planes = Grid, g.planes
	for z := range g.planes {
		for y := g.height - 1; y >= 0; y-- {
			row := Row{Name: rowName(s.Grid.Dims, g.across, g.up, y, z), Plane: z}
			for _, sw := range g.row(y, z) {
				if sw == fabric.None {
					row.Blocks = append(row.Blocks, Vacant)
					continue
				}
				d.add(&row, Block{Key: Key{int32(z), int32(y)}, Name: d.name(sw), Switches: []fabric.SwitchIndex{sw},
					Lone: true})
			}
			d.Rows = append(d.Rows, row)
		}
	}
}

func product(dims []int) int {
	n := 1
	for _, d := range dims {
		n *= d
	}
	return n
}

// place returns the index of coordinates in the grid. The first coordinate varies fastest.
func place(dims []int, at []int32) int {
	n := 0
	for i := len(dims) - 1; i >= 0; i-- {
		n = n*dims[i] + int(at[i])
	}
	return n
}

// rowName returns the name of a row of a grid: "y=2", "y=2 z=1" if there are several planes, or the bits for a
// hypercube.
func rowName(dims []int, across, up, y, z int) string {
	if up-across > 1 {
		return fmt.Sprintf("%0*b", up-across, y)
	}
	name := ""
	if up > across {
		name = fmt.Sprintf("y=%d", y)
	}
	if up == len(dims) {
		return name
	}
	return strings.TrimSpace(name + " " + PlaneName(dims, z))
}

// PlaneName returns the coordinates that all switches of a plane share, such as "z=1" or "z=1 w=0". These are the
// coordinates after the second.
func PlaneName(dims []int, plane int) string {
	if len(dims) <= 2 {
		return ""
	}
	var words []string
	for i, d := range dims[2:] {
		words = append(words, fmt.Sprintf("%s=%d", axis(i+2), plane%d))
		plane /= d
	}
	return prose.When(len(words) == 0, "", strings.Join(words, " "))
}

// axis returns the letter of a dimension.
func axis(i int) string {
	if letters := "xyzwvu"; i < len(letters) {
		return letters[i : i+1]
	}
	return fmt.Sprintf("d%d", i+1)
}

// wraps reports whether two neighbours in a grid are the last and the first switch of a ring.
func wraps(g *classify.Grid, a, b fabric.SwitchIndex) bool {
	p, q := g.At[a], g.At[b]
	if p == nil || q == nil {
		return false
	}
	for i, n := range g.Dims {
		if g.Wrap[i] && n > 2 && (p[i] == 0 && int(q[i]) == n-1 || q[i] == 0 && int(p[i]) == n-1) {
			return true
		}
	}
	return false
}
