// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"fmt"

	"example.org/ibconsole/fabric"
)

func dragonflyKind() Kind {
	return Kind{
		Name:  "dragonfly",
		Usage: "dragonfly A H P [groups=A*H+1]",
		Help: "Dragonfly (Kim et al. 2008): groups of A switches, all linked to each other, each with H links to " +
			"other groups and P hosts. Every two groups share A*H/(groups-1) links. Ports: hosts, links in the " +
			"group, links to other groups. Switch 3 of group 2 is sw-02-03.",
		form: form{params: []param{
			{name: "a", min: 1, max: maxPorts}, {name: "h", min: 0, max: maxPorts}, {name: "p", min: 1, max: maxPorts},
			{name: "groups", min: 1, max: maxNumber, optional: true},
		}},
		build: func(n *net, a arguments) error {
			d := dragonfly{a: a.value["a"], h: a.value["h"], p: a.value["p"], groups: a.value["groups"]}
			if d.groups == 0 {
				d.groups = d.a*d.h + 1
			}
			if d.groups > d.a*d.h+1 {
				return fmt.Errorf("groups is %d, expected at most a*h+1 = %d", d.groups, d.a*d.h+1)
			}
			return d.build(n)
		},
	}
}

// dragonfly has a number of groups. In each group there are "a" switches. Each switch has p hosts and h global links.
type dragonfly struct{ a, h, p, groups int }

func (d dragonfly) build(n *net) error {
	radix := []int{d.a, d.groups}
	name := func(i int) string { return coordinates("sw", digits(i, radix), radix) }
	first, err := n.addUniform(product(d.a, d.groups), d.p+d.a-1+d.h, d.p, name)
	if err != nil {
		return err
	}
	for g := range d.groups {
		if err := d.linkGroup(n, first, g); err != nil {
			return err
		}
	}
	return nil
}

func (d dragonfly) linkGroup(n *net, first fabric.NodeIndex, group int) error {
	base := first + fabric.NodeIndex(group*d.a)
	for r := range d.a {
		for s := r + 1; s < d.a; s++ {
			if err := n.link(base+fabric.NodeIndex(r), d.p+s, base+fabric.NodeIndex(s), d.p+r+1); err != nil {
				return err
			}
		}
	}
	for other := group + 1; other < d.groups; other++ {
		for round := range d.a * d.h / (d.groups - 1) {
			// A group has no global link to itself, so the numbering of its global links skips the group.
			there := round*(d.groups-1) + other - 1
			back := round*(d.groups-1) + group
			if err := d.linkGlobal(n, first, group, there, other, back); err != nil {
				return err
			}
		}
	}
	return nil
}

// linkGlobal connects global link i of group A to global link j of group B.
func (d dragonfly) linkGlobal(n *net, first fabric.NodeIndex, groupA, i, groupB, j int) error {
	at := func(group, link int) (fabric.NodeIndex, int) {
		return first + fabric.NodeIndex(group*d.a+link/d.h), d.p + d.a + link%d.h
	}
	nodeA, portA := at(groupA, i)
	nodeB, portB := at(groupB, j)
	return n.link(nodeA, portA, nodeB, portB)
}
