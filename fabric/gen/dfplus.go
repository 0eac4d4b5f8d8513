// SPDX-License-Identifier: Apache-2.0

package gen

import "example.org/ibconsole/fabric"

func dfPlusKind() Kind {
	return Kind{
		Name:  "dfplus",
		Usage: "dfplus GROUPS LEAVES SPINES [hosts=4] [global=1]",
		Help: "Dragonfly+ (Shpiner et al. 2017): groups of leaves and spines, each leaf linked to each spine of its " +
			"group, and global links between every two groups, which the spines of a group take in turn. " +
			"Leaf 3 of group 2 is leaf-02-03.",
		form: form{params: []param{
			{name: "groups", min: 1, max: maxNumber}, {name: "leaves", min: 1, max: maxPorts},
			{name: "spines", min: 1, max: maxPorts},
			{name: "hosts", min: 1, max: maxPorts, optional: true, def: 4},
			{name: "global", min: 1, max: maxPorts, optional: true, def: 1},
		}},
		build: func(n *net, a arguments) error {
			v := a.value
			return dfPlus{groups: v["groups"], leaves: v["leaves"], spines: v["spines"], hosts: v["hosts"],
				global: v["global"]}.build(n)
		},
	}
}

// dfPlus is a Dragonfly+. The first ports of a spine lead to leaves, the other ports to other groups.
type dfPlus struct{ groups, leaves, spines, hosts, global int }

func (d dfPlus) build(n *net) error {
	if err := checkSize(product(d.groups, d.leaves+d.spines), product(d.groups, d.leaves, d.hosts)); err != nil {
		return err
	}
	host, err := n.addHosts(d.groups*d.leaves*d.hosts, 1)
	if err != nil {
		return err
	}
	row := func(role string, size, ports int) (fabric.NodeIndex, error) {
		radix := []int{size, d.groups}
		return n.addRow(size*d.groups, ports, func(i int) string { return coordinates(role, digits(i, radix), radix) })
	}
	leaf, err := row("leaf", d.leaves, d.hosts+d.spines)
	if err != nil {
		return err
	}
	spine, err := row("spine", d.spines, d.leaves+(product(d.groups-1, d.global)+d.spines-1)/d.spines)
	if err != nil {
		return err
	}
	c := cabling{net: n, next: map[fabric.NodeIndex]int{}}
	for g := range d.groups {
		for l := range d.leaves {
			c.attach(&host, leaf+fabric.NodeIndex(g*d.leaves+l), d.hosts)
		}
		for l := range d.leaves {
			for s := range d.spines {
				c.join(leaf+fabric.NodeIndex(g*d.leaves+l), spine+fabric.NodeIndex(g*d.spines+s), 1)
			}
		}
	}
	turn := make([]int, d.groups)
	next := func(g int) fabric.NodeIndex {
		turn[g]++
		return spine + fabric.NodeIndex(g*d.spines+(turn[g]-1)%d.spines)
	}
	for g := range d.groups {
		for other := g + 1; other < d.groups; other++ {
			for range d.global {
				c.join(next(g), next(other), 1)
			}
		}
	}
	return c.err
}
