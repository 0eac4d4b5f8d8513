// SPDX-License-Identifier: Apache-2.0

package torus

import (
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// Tree is the tree of all multicast packets (osm_torus.c, torus_master_stree). Packets from its root turn only as
// unicast packets do. Branches cross a dateline only on a ring that a failure has opened. Therefore multicast and
// unicast together do not deadlock.
type Tree struct {
	*Torus
	// Root is the root switch. Parent holds, for each switch of the fabric, the next switch towards the root. It is
	// [fabric.None] for the root and outside the torus.
	Root   fabric.SwitchIndex
	Parent []fabric.SwitchIndex

	root int32
	// up holds, for each switch of the torus, the group that leads towards the root. It is noGroup for the root and for
	// switches that are not in the tree. depthFirst lists the switches. A parent comes before its children.
	up         []uint8
	depthFirst []int32
}

// MasterTree returns the tree of all switches. It returns nil only for a torus that the engine refuses.
func (t *Torus) MasterTree() *Tree { return t.tree }

// grow computes the tree. O(switches).
func (t *Torus) grow() (*Tree, error) {
	root := t.findRoot()
	if root == absent && t.check(true) != nil {
		root = t.anyRoot() // OpenSM has refused already
	}
	if root == absent {
		return nil, routing.Refuse(Name, "no switch can be the root of multicast: none is on complete rings along "+
			"x and y")
	}
	tree := &Tree{
		Torus: t, root: root, up: make([]uint8, len(t.switches)), Parent: make([]fabric.SwitchIndex, len(t.f.Switches)),
	}
	for s := range tree.up {
		tree.up[s] = noGroup
	}
	at := t.switches[root].at
	tree.branch(root, 0)
	for x := range t.Radix[0] {
		if s := t.number(Coordinates{x, at[1], at[2]}); s != absent {
			tree.branch(s, 1)
		}
		for y := range t.Radix[1] {
			if s := t.number(Coordinates{x, y, at[2]}); s != absent {
				tree.branch(s, 2)
			}
		}
	}
	return tree, tree.finish()
}

// finish lists the switches of the tree in depthFirst. It returns a refusal if the tree is incomplete.
func (t *Tree) finish() error {
	t.Root = t.switches[t.root].sw
	for i := range t.Parent {
		t.Parent[i] = fabric.None
	}
	children := make([][]int32, len(t.switches))
	for s, group := range t.up {
		switch {
		case group != noGroup:
			above := t.next(int32(s), int(group))
			t.Parent[t.switches[s].sw] = t.switches[above].sw
			children[above] = append(children[above], int32(s))
		case int32(s) != t.root:
			return routing.Refuse(Name, "multicast does not reach %s (ERR 4E43)", t.name(int32(s)))
		}
	}
	t.depthFirst = []int32{t.root}
	for i := 0; i < len(t.depthFirst); i++ {
		t.depthFirst = append(t.depthFirst, children[t.depthFirst[i]]...)
	}
	return nil
}

func (t *Tree) has(s int32) bool { return s == t.root || t.up[s] != noGroup }

// branch extends the tree down and up dimension d. It first goes as far as the dateline. If a gap stops one side, it
// then continues across the dateline from the other side.
func (t *Tree) branch(from int32, d int) {
	at, radix := t.switches[from].at[d], t.Radix[d]
	down, up := from, from
	for range at {
		down = t.extend(down, 2*d)
	}
	for range radix - 1 - at {
		up = t.extend(up, 2*d+1)
	}
	if down != absent && up != absent {
		return
	}
	for range radix {
		down, up = t.extend(down, 2*d), t.extend(up, 2*d+1)
	}
}

// extend adds the switch after the tip of a branch and returns the switch. It returns absent if the branch has ended.
func (t *Tree) extend(tip int32, group int) int32 {
	if tip == absent {
		return absent
	}
	s := t.next(tip, group)
	if s == absent || t.has(s) {
		return absent
	}
	t.up[s] = uint8(group ^ 1)
	return s
}

// findRoot searches for a switch on complete rings near the middle, if possible on a plane without gaps.
func (t *Torus) findRoot() int32 {
	middle := t.Radix[2] / 2
	for dz := range middle + 1 {
		for _, z := range []int{middle - dz, middle + dz} {
			if t.completePlane(z) {
				if root := t.middleOf(z); root != absent {
					return root
				}
			}
		}
	}
	return t.middleOf(middle)
}

// anyRoot returns the first switch on complete rings.
func (t *Torus) anyRoot() int32 {
	root := absent
	t.places(func(c Coordinates) {
		if root == absent && t.completeRings(c) {
			root = t.number(c)
		}
	})
	return root
}

func (t *Torus) completePlane(z int) bool {
	for x := range t.Radix[0] {
		for y := range t.Radix[1] {
			if t.number(Coordinates{x, y, z}) == absent {
				return false
			}
		}
	}
	return true
}

// middleOf searches along a diagonal of a plane for a switch on complete rings.
func (t *Torus) middleOf(z int) int32 {
	c := Coordinates{t.Radix[0] / 2, t.Radix[1] / 2, z}
	for i := range min(c[0], c[1]) + 1 {
		for _, by := range []int{-i, i} {
			if at := c.moved(0, by).moved(1, by); t.completeRings(at) {
				return t.number(at)
			}
		}
	}
	return absent
}

func (t *Torus) completeRings(c Coordinates) bool {
	for d := range 2 {
		for i := range t.Radix[d] {
			if t.number(c.moved(d, i)) == absent {
				return false
			}
		}
	}
	return true
}

// AddGroup adds a multicast group to tables. It adds the part of the tree that leads to the members of the group, which
// are end ports, and the ports of the members themselves. It returns the members that are not in the torus. A packet to
// the group takes each link of the tree in either direction. Of parallel links, the LID of the group selects one. The
// LID must be within the tables. O(switches + members).
func (t *Tree) AddGroup(mft *fabric.MFT, mlid uint16, members []fabric.PortIndex) (outside []fabric.PortIndex,
	err error) {
	if mlid < fabric.FirstMLID || mlid > mft.Top {
		return nil, fmt.Errorf("multicast LID 0x%x, expected 0x%x to 0x%x", mlid, fabric.FirstMLID, mft.Top)
	}
	leads := make([]bool, len(t.switches))
	for _, m := range members {
		sw, port := t.f.AttachedSwitch(m)
		if sw == fabric.None || t.of[sw] == absent {
			outside = append(outside, m)
			continue
		}
		mft.Add(sw, mlid, port)
		leads[t.of[sw]] = true
	}
	for i := len(t.depthFirst) - 1; i > 0; i-- {
		s := t.depthFirst[i]
		if !leads[s] {
			continue
		}
		above := t.next(s, int(t.up[s]))
		leads[above] = true
		// OpenSM counts parallel links in the order of the group of the upper switch.
		down, up := t.switches[above].groups[t.up[s]^1], t.switches[s].groups[t.up[s]]
		k := int(mlid) % len(down)
		mft.Add(t.switches[above].sw, mlid, down[k])
		mft.Add(t.switches[s].sw, mlid, up[k])
	}
	return outside, nil
}

// Along returns the directions in which the tree continues from a switch, such as "+x".
func (t *Tree) Along(sw fabric.SwitchIndex) (along []string) {
	s := t.of[sw]
	if s == absent {
		return nil
	}
	for g := range uint8(hostGroup) {
		if next := t.next(s, int(g)); next != absent && (t.up[s] == g || t.up[next] == g^1) {
			along = append(along, direction(int(g)))
		}
	}
	return along
}
