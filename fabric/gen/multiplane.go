// SPDX-License-Identifier: Apache-2.0

package gen

import "example.org/ibconsole/fabric"

func multiPlaneKind() Kind {
	return Kind{
		Name:  "multiplane",
		Usage: "multiplane PLANES LEAVES SPINES [hosts=4] [cores=1]",
		Help: "Planes side by side: each is a tree of so many leaves, each of them linked to each of its spines, and a host has a port in every plane, all on leaves of " +
			"one number. What joins the planes to one subnet are the cores, with a link to each spine. Leaf 3 of plane 2 is leaf-02-03.",
		form: form{params: []param{
			{name: "planes", min: 1, max: maxPorts}, {name: "leaves", min: 1, max: maxNumber}, {name: "spines", min: 1, max: maxPorts},
			{name: "hosts", min: 1, max: maxPorts, optional: true, def: 4}, {name: "cores", min: 1, max: maxPorts, optional: true, def: 1},
		}},
		build: func(n *net, a arguments) error {
			v := a.value
			return multiPlane{planes: v["planes"], leaves: v["leaves"], spines: v["spines"], hosts: v["hosts"], cores: v["cores"]}.build(n)
		},
	}
}

// multiPlane has leaves and spines by plane. Ports: hosts first, then up; spines: leaves, then cores.
type multiPlane struct{ planes, leaves, spines, hosts, cores int }

func (m multiPlane) build(n *net) error {
	switches := min(product(m.planes, m.leaves)+product(m.planes, m.spines)+m.cores, huge)
	if err := checkSize(switches, product(m.planes, m.leaves, m.hosts)); err != nil {
		return err
	}
	host, err := n.addHosts(m.leaves*m.hosts, m.planes)
	if err != nil {
		return err
	}
	row := func(role string, size, ports int) (fabric.NodeIndex, error) {
		radix := []int{size, m.planes}
		return n.addRow(size*m.planes, ports, func(i int) string { return coordinates(role, digits(i, radix), radix) })
	}
	leaf, err := row("leaf", m.leaves, m.hosts+m.spines)
	if err != nil {
		return err
	}
	spine, err := row("spine", m.spines, m.leaves+m.cores)
	if err != nil {
		return err
	}
	core, err := n.addRow(m.cores, product(m.planes, m.spines), func(i int) string { return coordinates("core", []int{i}, []int{m.cores}) })
	if err != nil {
		return err
	}
	for p := range m.planes {
		own := leaf + fabric.NodeIndex(p*m.leaves)
		for i := range m.leaves * m.hosts {
			if err := n.link(host+fabric.NodeIndex(i), p+1, own+fabric.NodeIndex(i/m.hosts), i%m.hosts+1); err != nil {
				return err
			}
		}
		if err := n.linkAll(own, m.leaves, m.hosts, spine+fabric.NodeIndex(p*m.spines), m.spines, 1); err != nil {
			return err
		}
	}
	return n.linkAll(spine, m.planes*m.spines, m.leaves, core, m.cores, 1)
}
