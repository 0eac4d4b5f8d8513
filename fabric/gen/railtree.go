// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"fmt"

	"example.org/ibconsole/fabric"
)

func railTreeKind() Kind {
	return Kind{
		Name:  "railtree",
		Usage: "railtree HOSTS [rails=8] [unit=32] [spines=4] [links=1]",
		Help: "Rail-optimised tree: hosts with an adapter for each rail, in units of hosts. A unit has a leaf per " +
			"rail, to which all its hosts connect that adapter, and each leaf has links to each spine. Adapter 2 of " +
			"host 3 is node-0003 mlx5_1; leaf-02-05 is the leaf of rail 5 in unit 2.",
		form: form{params: []param{
			{name: "hosts", min: 1, max: maxNumber}, {name: "rails", min: 1, max: maxPorts, optional: true, def: 8},
			{name: "unit", min: 1, max: maxPorts, optional: true, def: 32},
			{name: "spines", min: 1, max: maxPorts, optional: true, def: 4},
			{name: "links", min: 1, max: maxPorts, optional: true, def: 1},
		}},
		build: func(n *net, a arguments) error {
			v := a.value
			return railTree{hosts: v["hosts"], rails: v["rails"], unit: v["unit"], spines: v["spines"],
				links: v["links"]}.build(n)
		},
	}
}

// railTree is a rail-optimized tree. Each unit has a leaf for each rail. The first ports of a leaf lead to hosts, the
// other ports lead up.
type railTree struct{ hosts, rails, unit, spines, links int }

func (r railTree) build(n *net) error {
	units := (r.hosts + r.unit - 1) / r.unit
	leaves := product(units, r.rails)
	if err := checkSize(min(leaves+r.spines, veryMany), product(r.hosts, r.rails)); err != nil {
		return err
	}
	first, err := r.addHosts(n)
	if err != nil {
		return err
	}
	radix := []int{r.rails, units}
	leaf, err := n.addRow(leaves, r.unit+product(r.spines, r.links), func(i int) string {
		return coordinates("leaf", digits(i, radix), radix)
	})
	if err != nil {
		return err
	}
	spine, err := n.addRow(r.spines, product(leaves, r.links), func(i int) string {
		return coordinates("spine", []int{i}, []int{r.spines})
	})
	if err != nil {
		return err
	}
	for h := range r.hosts {
		for rail := range r.rails {
			sw := leaf + fabric.NodeIndex(h/r.unit*r.rails+rail)
			if err := n.link(first+fabric.NodeIndex(h*r.rails+rail), 1, sw, h%r.unit+1); err != nil {
				return err
			}
		}
	}
	return n.linkAll(leaf, leaves, r.unit, spine, r.spines, r.links)
}

func (r railTree) addHosts(n *net) (fabric.NodeIndex, error) {
	var first fabric.NodeIndex = fabric.None
	width := max(4, len(fmt.Sprint(r.hosts)))
	for h := range r.hosts {
		for rail := range r.rails {
			node, err := n.addHost(fmt.Sprintf("node-%0*d mlx5_%d", width, h+1, rail), 1)
			if err != nil {
				return 0, err
			}
			if first == fabric.None {
				first = node
			}
		}
	}
	return first, nil
}
