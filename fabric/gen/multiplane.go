// SPDX-License-Identifier: Apache-2.0

package gen

import "example.org/ibconsole/fabric"

func multiPlaneKind() Kind {
	return Kind{
		Name:  "multiplane",
		Usage: "multiplane PLANES LEAVES SPINES [hosts=4] [cores=1] [cages=0]",
		Help: "Parallel planes: each is a tree of leaves, each linked to each spine of the plane. A host has a port " +
			"in every plane, all on leaves of the same number. The cores, each linked to every spine, join the " +
			"planes to one subnet. Leaf 3 of plane 2 is leaf-02-03. With cages=1, the leaves of the same number form " +
			"one switch of all planes with one system GUID, and so do the spines, as in XDR.",
		form: form{params: []param{
			{name: "planes", min: 1, max: maxPorts}, {name: "leaves", min: 1, max: maxNumber},
			{name: "spines", min: 1, max: maxPorts},
			{name: "hosts", min: 1, max: maxPorts, optional: true, def: 4},
			{name: "cores", min: 1, max: maxPorts, optional: true, def: 1},
			{name: "cages", min: 0, max: 1, optional: true},
		}},
		build: func(n *net, a arguments) error {
			v := a.value
			return multiPlane{planes: v["planes"], leaves: v["leaves"], spines: v["spines"], hosts: v["hosts"],
				cores: v["cores"], cages: v["cages"] == 1}.build(n)
		},
	}
}

// multiPlane is a subnet of parallel planes. The first ports of a leaf lead to hosts, the other ports lead up. The
// first ports of a spine lead to leaves, the other ports to cores.
type multiPlane struct {
	planes, leaves, spines, hosts, cores int
	cages                                bool
}

// addPlanes adds the switches of one role, plane by plane. It returns the first switch.
func (m multiPlane) addPlanes(n *net, role string, size, ports int) (first fabric.NodeIndex, err error) {
	radix := []int{size, m.planes}
	system := n.nextSwitchGUID()
	defer func() { n.system = 0 }()
	for i := range size * m.planes {
		if m.cages {
			n.system = system + uint64(i%size)
		}
		node, err := n.addRow(1, ports, func(int) string { return coordinates(role, digits(i, radix), radix) })
		if err != nil {
			return 0, err
		}
		if i == 0 {
			first = node
		}
	}
	return first, nil
}

func (m multiPlane) build(n *net) error {
	switches := min(product(m.planes, m.leaves)+product(m.planes, m.spines)+m.cores, veryMany)
	if err := checkSize(switches, product(m.planes, m.leaves, m.hosts)); err != nil {
		return err
	}
	host, err := n.addHosts(m.leaves*m.hosts, m.planes)
	if err != nil {
		return err
	}
	leaf, err := m.addPlanes(n, "leaf", m.leaves, m.hosts+m.spines)
	if err != nil {
		return err
	}
	spine, err := m.addPlanes(n, "spine", m.spines, m.leaves+m.cores)
	if err != nil {
		return err
	}
	core, err := n.addRow(m.cores, product(m.planes, m.spines), func(i int) string {
		return coordinates("core", []int{i}, []int{m.cores})
	})
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
