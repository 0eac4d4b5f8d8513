// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"fmt"

	"example.org/ibconsole/fabric"
)

func bullKind() Kind {
	return Kind{
		Name:  "bull",
		Usage: "bull SETS GROUPS [hosts=4] [planes=2] [up=1] [services=1] [rows=1] [l3=2] [top=1]",
		Help: `Pruned tree with service nodes high up (Morey-Chaisemartin, "[RFC] Fat-Tree upgrades", 2009). ` +
			"A set has GROUPS L0 switches with hosts, all linked to the set's L1 switches, one per plane. The L1 of " +
			"a plane has only up cables, to the L2 of that plane, which all sets of a row share. Each L2 has " +
			"service nodes, and top cables to each of the l3 L3 switches.",
		form: form{params: []param{
			{name: "sets", min: 1, max: maxNumber}, {name: "groups", min: 1, max: maxPorts},
			{name: "hosts", min: 1, max: maxPorts, optional: true, def: 4},
			{name: "planes", min: 1, max: maxPorts, optional: true, def: 2},
			{name: "up", min: 1, max: maxPorts, optional: true, def: 1},
			{name: "services", min: 0, max: maxPorts, optional: true, def: 1},
			{name: "rows", min: 1, max: maxPorts, optional: true, def: 1},
			{name: "l3", min: 1, max: maxPorts, optional: true, def: 2},
			{name: "top", min: 1, max: maxPorts, optional: true, def: 1},
		}},
		build: func(n *net, a arguments) error {
			v := a.value
			b := bull{
				sets: v["sets"], groups: v["groups"], hosts: v["hosts"], planes: v["planes"], up: v["up"],
				services: v["services"], rows: v["rows"], l3: v["l3"], top: v["top"],
			}
			if b.rows > b.sets {
				return fmt.Errorf("rows: %d is too many for %d sets", b.rows, b.sets)
			}
			return b.build(n)
		},
	}
}

// bull is a pruned tree of switches in levels L0 to L3. Set s belongs to row s*rows/sets. The first ports of a switch
// lead down: to hosts on L0, and to service nodes first on L2. The other ports lead up.
type bull struct{ sets, groups, hosts, planes, up, services, rows, l3, top int }

// level describes the switches of one level.
type level struct {
	name  string
	radix []int
	ports int
	first fabric.NodeIndex
}

func (b bull) levels() []*level {
	setsOfRow := (b.sets + b.rows - 1) / b.rows
	return []*level{
		{name: "l0", radix: []int{b.groups, b.sets}, ports: b.hosts + b.planes},
		{name: "l1", radix: []int{b.planes, b.sets}, ports: b.groups + b.up},
		{
			name: "l2", radix: []int{b.planes, b.rows}, ports: b.services + product(setsOfRow, b.up) +
				product(b.l3, b.top),
		},
		{name: "l3", radix: []int{b.l3}, ports: product(b.rows, b.planes, b.top)},
	}
}

func (b bull) check() error {
	switches := 0
	for _, l := range b.levels() {
		if err := checkPorts(l.ports); err != nil {
			return err
		}
		switches = min(switches+product(l.radix...), veryMany)
	}
	return checkSize(switches, product(b.sets, b.groups, b.hosts)+product(b.rows, b.planes, b.services))
}

func (b bull) build(n *net) error {
	if err := b.check(); err != nil {
		return err
	}
	host, err := n.addHosts(b.sets*b.groups*b.hosts, 1)
	if err != nil {
		return err
	}
	service, err := n.addAdapters("service", b.rows*b.planes*b.services, 1)
	if err != nil {
		return err
	}
	levels := b.levels()
	for _, l := range levels {
		l.first, err = n.addRow(product(l.radix...), l.ports, func(i int) string {
			return coordinates(l.name, digits(i, l.radix), l.radix)
		})
		if err != nil {
			return err
		}
	}
	c := cabling{net: n, next: map[fabric.NodeIndex]int{}}
	for i := range b.sets * b.groups {
		c.attach(&host, levels[0].at(i), b.hosts)
	}
	for i := range b.rows * b.planes {
		c.attach(&service, levels[2].at(i), b.services)
	}
	b.link(&c, levels)
	return c.err
}

// link connects the switches level by level, beginning with the lowest.
func (b bull) link(c *cabling, l []*level) {
	for s := range b.sets {
		for g := range b.groups {
			for p := range b.planes {
				c.join(l[0].at(s*b.groups+g), l[1].at(s*b.planes+p), 1)
			}
		}
	}
	for s := range b.sets {
		for p := range b.planes {
			c.join(l[1].at(s*b.planes+p), l[2].at(s*b.rows/b.sets*b.planes+p), b.up)
		}
	}
	for i := range b.rows * b.planes {
		for t := range b.l3 {
			c.join(l[2].at(i), l[3].at(t), b.top)
		}
	}
}

func (l *level) at(i int) fabric.NodeIndex { return l.first + fabric.NodeIndex(i) }

// cabling connects nodes with cables. It uses the next free port of each node. It keeps the first error.
type cabling struct {
	net  *net
	next map[fabric.NodeIndex]int
	err  error
}

// attach connects the next n adapters to a switch and advances adapter past them.
func (c *cabling) attach(adapter *fabric.NodeIndex, sw fabric.NodeIndex, n int) {
	for range n {
		c.join(*adapter, sw, 1)
		*adapter++
	}
}

func (c *cabling) join(a, b fabric.NodeIndex, cables int) {
	for range cables {
		if c.err != nil {
			return
		}
		c.next[a]++
		c.next[b]++
		c.err = c.net.link(a, c.next[a], b, c.next[b])
	}
}
