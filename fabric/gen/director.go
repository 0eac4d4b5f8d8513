// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"errors"
	"fmt"

	"example.org/ibconsole/fabric"
)

func directorKind() Kind {
	return Kind{
		Name:  "director",
		Usage: "director BOARDS SPINES [hosts=4] [directors=1] [leaves=0]",
		Help: "Director switches: a chassis has leaf boards, each linked to each of its spine boards; all have its " +
			"system GUID. Hosts are on the leaf boards, or on separate leaf switches, each linked to a leaf board of " +
			"each director. Leaf board 3 of director 1 is director-01 L03/U1.",
		form: form{params: []param{
			{name: "boards", min: 1, max: maxPorts}, {name: "spines", min: 1, max: maxPorts},
			{name: "hosts", min: 1, max: maxPorts, optional: true, def: 4},
			{name: "directors", min: 1, max: maxPorts, optional: true, def: 1},
			{name: "leaves", min: 0, max: maxNumber, optional: true},
		}},
		build: func(n *net, a arguments) error {
			v := a.value
			return director{boards: v["boards"], spines: v["spines"], hosts: v["hosts"], directors: v["directors"],
				leaves: v["leaves"]}.build(n)
		},
	}
}

// director is a subnet of director switches. The first ports of a leaf board lead to hosts or leaves, the other ports
// to spines.
type director struct{ boards, spines, hosts, directors, leaves int }

func (d director) build(n *net) error {
	if d.leaves == 0 && d.directors > 1 {
		return errors.New("leaves: 0 leaves connect the directors, expected 1 or more")
	}
	below, edges := d.hosts, product(d.boards, d.directors)
	if d.leaves > 0 {
		below, edges = (d.leaves+d.boards-1)/d.boards, d.leaves
	}
	switches := min(product(d.boards+d.spines, d.directors)+d.leaves, veryMany)
	if err := checkSize(switches, product(edges, d.hosts)); err != nil {
		return err
	}
	host, err := n.addHosts(edges*d.hosts, 1)
	if err != nil {
		return err
	}
	c := cabling{net: n, next: map[fabric.NodeIndex]int{}}
	leaf, err := n.addRow(d.leaves, d.hosts+d.directors, func(i int) string {
		return coordinates("leaf", []int{i}, []int{d.leaves})
	})
	if err != nil {
		return err
	}
	for i := range d.leaves {
		c.attach(&host, leaf+fabric.NodeIndex(i), d.hosts)
	}
	for i := range d.directors {
		board, err := d.addChassis(n, i, below)
		if err != nil {
			return err
		}
		for b := range d.boards {
			if d.leaves == 0 {
				c.attach(&host, board+fabric.NodeIndex(b), d.hosts)
			}
		}
		for l := range d.leaves {
			c.join(leaf+fabric.NodeIndex(l), board+fabric.NodeIndex(l%d.boards), 1)
		}
		if err := n.linkAll(board, d.boards, below, board+fabric.NodeIndex(d.boards), d.spines, 1); err != nil {
			return err
		}
	}
	return c.err
}

// addChassis adds the leaf boards of a director, then the spine boards. It returns the first leaf board.
func (d director) addChassis(n *net, i, below int) (fabric.NodeIndex, error) {
	name := func(letter string) func(int) string {
		return func(b int) string { return fmt.Sprintf("director-%02d %s%02d/U1", i+1, letter, b+1) }
	}
	n.system = n.nextSwitchGUID()
	defer func() { n.system = 0 }()
	board, err := n.addRow(d.boards, below+d.spines, name("L"))
	if err != nil {
		return 0, err
	}
	_, err = n.addRow(d.spines, d.boards, name("S"))
	return board, err
}
