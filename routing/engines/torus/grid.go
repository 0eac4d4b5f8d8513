// SPDX-License-Identifier: Apache-2.0

package torus

import (
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/osm"
)

const (
	dims  = 3    // the number of dimensions
	local = dims // the pseudo-dimension of a switch itself and its hosts
)

// Coordinates are the coordinates x, y and z of a place in a torus.
type Coordinates [dims]int

func (c Coordinates) String() string { return fmt.Sprintf("%d,%d,%d", c[0], c[1], c[2]) }

// absent is the number of no switch.
const absent int32 = -1

// Torus is a fabric laid out as a torus or mesh. Its switches are numbered in the order in which they were found.
type Torus struct {
	Radix [dims]int
	Mesh  [dims]bool

	f *fabric.Fabric
	// conf is the configuration by which the torus was found. seed is the seed that was used.
	conf     *osm.TorusConf
	seed     osm.TorusSeed
	switches []placed
	// at holds the switch of each place.
	at []int32
	// of holds the number of each switch of the fabric, or absent for a switch outside the torus.
	of []int32
	// group holds the group of each port of the fabric, or noGroup for a port outside the torus.
	group []uint8
	links int
	// inOrder lists the port numbers in the order in which hosts are routed.
	inOrder []uint8
	tree    *Tree
	slParts slParts
}

// placed is a switch with its place.
type placed struct {
	sw fabric.SwitchIndex
	at Coordinates
	// groups holds the ports of the switch in groups. Groups 2d and 2d+1 are the ports down and up dimension d. The
	// last group contains the ports of hosts and port 0.
	groups [2*dims + 1][]uint8
}

const (
	hostGroup = 2 * dims
	noGroup   = 0xff
)

func newTorus(f *fabric.Fabric, radix [dims]int, mesh [dims]bool) *Torus {
	t := &Torus{
		Radix: radix, Mesh: mesh, f: f,
		at: make([]int32, radix[0]*radix[1]*radix[2]), of: make([]int32, len(f.Switches)),
		group: make([]uint8, len(f.Ports)),
	}
	for i := range t.at {
		t.at[i] = absent
	}
	for i := range t.of {
		t.of[i] = absent
	}
	for i := range t.group {
		t.group[i] = noGroup
	}
	return t
}

// place returns the index of a place in the field at. Coordinates wrap around.
func (t *Torus) place(c Coordinates) int {
	i := 0
	for d := dims - 1; d >= 0; d-- {
		i = i*t.Radix[d] + wrap(c[d], t.Radix[d])
	}
	return i
}

// number returns the number of the switch at a place, or absent.
func (t *Torus) number(c Coordinates) int32 { return t.at[t.place(c)] }

// next returns the switch to which a group of switch s is linked, or absent if the group has no link.
func (t *Torus) next(s int32, group int) int32 {
	p := &t.switches[s]
	if len(p.groups[group]) == 0 {
		return absent
	}
	step := 2*(group&1) - 1
	return t.number(p.at.moved(group/2, step))
}

func (c Coordinates) moved(d, by int) Coordinates {
	c[d] += by
	return c
}

// around returns a place with its coordinates wrapped around.
func (t *Torus) around(c Coordinates) Coordinates {
	for d := range c {
		c[d] = wrap(c[d], t.Radix[d])
	}
	return c
}

// wrap returns v modulo n.
func wrap(v, n int) int {
	switch {
	case v >= n:
		return v % n
	case v < 0:
		return (v%n + n) % n
	}
	return v
}

// places calls the function visit for every place. x varies fastest.
func (t *Torus) places(visit func(Coordinates)) {
	for z := range t.Radix[2] {
		for y := range t.Radix[1] {
			for x := range t.Radix[0] {
				visit(Coordinates{x, y, z})
			}
		}
	}
}

// Coordinates returns the place of a switch. ok is false if the switch is outside the torus.
func (t *Torus) Coordinates(sw fabric.SwitchIndex) (c Coordinates, ok bool) {
	if n := t.of[sw]; n != absent {
		return t.switches[n].at, true
	}
	return Coordinates{}, false
}

// SwitchAt returns the switch at a place, or [fabric.None].
func (t *Torus) SwitchAt(c Coordinates) fabric.SwitchIndex {
	for d := range c {
		if c[d] < 0 || c[d] >= t.Radix[d] {
			return fabric.None
		}
	}
	if n := t.number(c); n != absent {
		return t.switches[n].sw
	}
	return fabric.None
}

// String returns the shape of the torus, such as "torus 6 x 5 x 1".
func (t *Torus) String() string {
	kind := "torus"
	if t.Mesh == [dims]bool{true, true, true} {
		kind = "mesh"
	}
	return fmt.Sprintf("%s %d x %d x %d", kind, t.Radix[0], t.Radix[1], t.Radix[2])
}

// name returns the name and place of a switch.
func (t *Torus) name(s int32) string {
	p := &t.switches[s]
	return fmt.Sprintf("%s (%s)", t.SwitchName(p.sw), p.at)
}

// SwitchName returns the name of a switch.
func (t *Torus) SwitchName(sw fabric.SwitchIndex) string { return t.f.NodeName(t.f.Switches[sw]) }
