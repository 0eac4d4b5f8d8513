// SPDX-License-Identifier: Apache-2.0

package ftree

import (
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

func isAdapter(n *fabric.Node) bool { return n.Type == mad.NodeCA }

// findGroups sorts the links of all ranked switches into groups. A group contains the links to one neighbour. Each list
// of groups is in the order of first ports. Links of a switch to itself and to routers are omitted.
func (t *tree) findGroups() {
	t.adapters = slices.DeleteFunc(t.adapters, func(a adapter) bool { return !t.ranked(a.sw) })
	t.adapterAt = make(map[fabric.PortIndex]int32, len(t.adapters))
	for i := range t.adapters {
		t.adapterAt[t.adapters[i].end] = int32(i)
	}
	n := len(t.f.Switches)
	t.down, t.side, t.up = make([][]group, n), make([][]group, n), make([][]group, n)
	b := groupBuilder{tree: t, links: make([]int32, n), at: make([]int32, n)}
	for s := range fabric.SwitchIndex(n) {
		if t.ranked(s) {
			b.build(s)
		}
	}
}

type groupBuilder struct {
	*tree
	// links is the number of links to each neighbour. at is the index in tree.ports of the next port to this neighbour.
	links, at []int32
}

func (b *groupBuilder) build(s fabric.SwitchIndex) {
	t := b.tree
	links := t.g.Of(s)
	for _, l := range links {
		b.links[l.Peer]++
	}
	node := t.f.SwitchNode(s)
	for p, k := fabric.PortIndex(1), 0; p <= fabric.PortIndex(node.NumPorts); p++ {
		if k < len(links) && fabric.PortIndex(links[k].Port) == p {
			b.addLink(s, links[k].Peer, links[k].Port, links[k].PeerPort)
			k++
		} else if far := t.f.Ports[node.FirstPort+p].Peer; far != fabric.None &&
			isAdapter(&t.f.Nodes[t.f.Ports[far].Node]) {
			if i, ok := t.adapterAt[far]; ok {
				t.down[s] = append(t.down[s], group{remote: fabric.None, first: i, n: 1, near: uint8(p)})
				t.maxLID = max(t.maxLID, t.f.Ports[far].LID)
			}
		}
	}
	t.maxLID = max(t.maxLID, t.f.SwitchLID(s))
	for _, l := range links {
		b.links[l.Peer], b.at[l.Peer] = 0, 0
	}
}

// addLink adds a link to the group of its neighbour. The ports of a group are consecutive in tree.ports.
func (b *groupBuilder) addLink(s, peer fabric.SwitchIndex, near, far uint8) {
	t := b.tree
	if peer == s || !t.ranked(peer) {
		return
	}
	n := b.links[peer]
	if b.at[peer] > 0 {
		t.ports[b.at[peer]] = port{near: near, far: far}
		b.at[peer]++
		return
	}
	list := &t.down[s]
	switch {
	case t.rank[s] > t.rank[peer]:
		list = &t.up[s]
	case t.rank[s] == t.rank[peer]:
		list = &t.side[s]
	}
	g := group{remote: peer, n: uint8(n), near: near, far: far}
	if n > 1 {
		if len(t.ports) == 0 {
			t.ports = append(t.ports, port{}) // so that no group begins at 0
		}
		g.first = int32(len(t.ports))
		t.ports = append(t.ports, make([]port, n)...)
		t.ports[g.first] = port{near: near, far: far}
		b.at[peer] = g.first + 1
	}
	*list = append(*list, g)
}

// portsOf returns the ports of a group that has several links.
func (t *tree) portsOf(g *group) []port { return t.ports[g.first : g.first+int32(g.n)] }

// leastUp returns the port of a group with the fewest paths up. In a tie it returns the first.
func (t *tree) leastUp(g *group) *port {
	ports := t.portsOf(g)
	best := &ports[0]
	for i := range ports[1:] {
		if p := &ports[i+1]; p.up < best.up {
			best = p
		}
	}
	return best
}

// leastDown returns the port of a group with the fewest paths down. In a tie it returns the first.
func (t *tree) leastDown(g *group) *port {
	ports := t.portsOf(g)
	best := &ports[0]
	for i := range ports[1:] {
		if p := &ports[i+1]; p.down < best.down {
			best = p
		}
	}
	return best
}

// order sorts groups by key. The sort is stable, and fast because the list is nearly sorted.
func order(list []group) {
	for i := 1; i < len(list); i++ {
		if list[i].key >= list[i-1].key {
			continue
		}
		g := list[i]
		j := i
		for ; j > 0 && g.key < list[j-1].key; j-- {
			list[j] = list[j-1]
		}
		list[j] = g
	}
}

// orderByPlace sorts groups only by the place of the neighbour's tuple.
func orderByPlace(list []group) {
	for i := 1; i < len(list); i++ {
		g := list[i]
		j := i
		for ; j > 0 && uint32(g.key) < uint32(list[j-1].key); j-- {
			list[j] = list[j-1]
		}
		list[j] = g
	}
}
