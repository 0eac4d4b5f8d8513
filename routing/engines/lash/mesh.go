// SPDX-License-Identifier: Apache-2.0

package lash

import (
	"context"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// far is an unknown distance or coordinate.
const far = 0x7fffffff

// mesh is the geometry of a network (osm_mesh.c). Switches and links have the numbers of the network.
type mesh struct {
	*network
	nodes []meshNode
	// dimensions is the number of dimensions. byExtent lists them from the largest to the smallest.
	dimensions int
	byExtent   []int
}

// meshNode is one switch.
type meshNode struct {
	// metric holds the distances between the neighbours on paths that avoid the switch. It is nil if the switch has
	// more links than in any mesh.
	metric [][]int32
	shape  shape
	// dimensions is the number of dimensions of a torus whose switches look like this one. It is 0 if there is no such
	// torus.
	dimensions int
	// edge marks a switch with fewer links than one of its neighbours.
	edge bool
	// axes holds the direction of each link: 1 and 2 for up and down the first dimension, 3 and 4 for the second, and
	// so on. 0 means unknown.
	axes []int
	at   []int32 // coordinates
}

// analyse recognises a mesh, and sorts links and switches by its dimensions, the largest first. If most switches have
// no known shape, it changes nothing.
func (n *network) analyse(ctx context.Context) error {
	m := &mesh{network: n, nodes: make([]meshNode, len(n.links))}
	if err := m.measure(ctx); err != nil {
		return err
	}
	seed := m.mostCommon()
	if seed == fabric.None || m.nodes[seed].dimensions == 0 {
		return nil
	}
	m.dimensions = m.nodes[seed].dimensions
	m.findAxes(seed)
	m.findCoordinates(seed)
	m.findExtents()
	for s := range m.nodes {
		m.orderLinks(int32(s))
	}
	m.orderSwitches()
	return nil
}

// measure finds the shapes of all switches. For meshes it takes O(switches x links of the neighbourhood).
func (m *mesh) measure(ctx context.Context) error {
	known := shapes()
	searches := make([]*detours, routing.Workers())
	err := routing.ForEach(ctx, len(m.nodes), nil, func(worker, s int) {
		node, links := &m.nodes[s], m.links[s]
		node.axes = make([]int, len(links))
		if len(links) > mostLinks {
			return
		}
		if searches[worker] == nil {
			searches[worker] = &detours{network: m.network, distance: make([]int32, len(m.nodes))}
		}
		for _, l := range links {
			node.metric = append(node.metric, searches[worker].from(l.peer, int32(s)))
		}
		if node.metric == nil {
			node.metric = [][]int32{}
		}
		node.shape = shape{len(links), characteristic(node.metric)}
		node.dimensions = known[node.shape]
	})
	if err != nil {
		return err
	}
	for s := range m.nodes {
		for _, l := range m.links[s] {
			if m.nodes[s].dimensions > 0 && len(m.links[l.peer]) > len(m.links[s]) {
				m.nodes[s].edge = true
			}
		}
	}
	return nil
}

// detours measures the distances between the neighbours of a switch on paths that avoid the switch.
type detours struct {
	*network
	distance []int32 // by switch, plus 1; 0 is not met
	queue    []int32
}

// from returns the distances from one neighbour of a switch to all its neighbours, on paths that avoid the switch.
func (a *detours) from(start, sw int32) []int32 {
	links := a.links[sw]
	missing := len(links) - 1
	a.distance[start] = 1
	a.queue = append(a.queue[:0], start)
	for i := 0; i < len(a.queue) && missing > 0; i++ {
		at := a.queue[i]
		for _, l := range a.links[at] {
			if l.peer == sw || a.distance[l.peer] != 0 {
				continue
			}
			a.distance[l.peer] = a.distance[at] + 1
			a.queue = append(a.queue, l.peer)
			if a.indexOf(sw, l.peer) != fabric.None {
				missing--
			}
		}
	}
	row := make([]int32, len(links))
	for i, l := range links {
		if row[i] = far; a.distance[l.peer] != 0 {
			row[i] = a.distance[l.peer] - 1
		}
	}
	for _, s := range a.queue {
		a.distance[s] = 0
	}
	return row
}

// mostCommon returns the first switch of the most frequent shape. It ignores switches marked as edge.
func (m *mesh) mostCommon() int32 {
	count := map[shape]int{}
	first := map[shape]int32{}
	var order []shape
	for s := range m.nodes {
		node := &m.nodes[s]
		if node.metric == nil || node.edge {
			continue
		}
		if count[node.shape]++; count[node.shape] == 1 {
			first[node.shape] = int32(s)
			order = append(order, node.shape)
		}
	}
	best, most := int32(fabric.None), 0
	for _, s := range order {
		if count[s] > most {
			best, most = first[s], count[s]
		}
	}
	return best
}

// ahead reports whether two links of a switch may be the two directions of one dimension. Neighbours in different
// dimensions have the distance two.
func (n *meshNode) ahead(i, j int) bool { return n.metric[i][j] != apart }

// opposite returns the opposite direction of an axis at a switch. It returns the same direction if the dimension has
// only one neighbour, and 0 if it is unknown.
func (n *meshNode) opposite(axis int) int {
	if n.metric == nil {
		return 0
	}
	for i, a := range n.axes {
		if a != axis {
			continue
		}
		for j := range n.axes {
			if j != i && n.ahead(i, j) {
				return 1 + ((axis - 1) ^ 1)
			}
		}
		return axis
	}
	return 0
}

// findAxes sets the directions of the links of the seed, and derives those of other switches until nothing changes.
func (m *mesh) findAxes(seed int32) {
	m.seedAxes(&m.nodes[seed])
	for changed := true; changed; {
		changed = false
		for s := range m.nodes {
			changed = m.straightOn(int32(s), seed) || changed
		}
		for s := range m.nodes {
			changed = m.acrossLinks(int32(s), seed) || changed
		}
		for s := range m.nodes {
			changed = m.aroundSquares(int32(s)) || changed
		}
	}
}

func (m *mesh) seedAxes(n *meshNode) {
	for d := range n.dimensions {
		i := 0
		for i < len(n.axes) && n.axes[i] != 0 {
			i++
		}
		if i == len(n.axes) {
			return
		}
		n.axes[i] = 2*d + 1
		for j := range n.axes {
			if n.axes[j] == 0 && n.ahead(i, j) {
				n.axes[j] = 2*d + 2
				break
			}
		}
	}
}

// name sets the axis of a link without one.
func name(axes []int, i, axis int) bool {
	if axes[i] != 0 || axis == 0 {
		return false
	}
	axes[i] = axis
	return true
}

// straightOn sets the axis of the link that continues another link straight on, if only one link can be the
// continuation.
func (m *mesh) straightOn(s, seed int32) (changed bool) {
	n := &m.nodes[s]
	if n.metric == nil || len(n.axes) <= 2 && len(n.axes) < len(m.nodes[seed].axes) {
		return false
	}
	for i := range n.axes {
		if n.axes[i] == 0 {
			continue
		}
		on, candidates := 0, 0
		for j := range n.axes {
			if j != i && n.ahead(i, j) {
				on = j
				candidates++
			}
		}
		const nearby = 4 // at a greater distance it is an end of a line
		if candidates == 1 && n.metric[i][on] <= nearby {
			changed = name(n.axes, on, m.nodes[seed].opposite(n.axes[i])) || changed
		}
	}
	return changed
}

// acrossLinks copies the axes of links from one end to the other end.
func (m *mesh) acrossLinks(s, seed int32) (changed bool) {
	n := &m.nodes[s]
	if n.metric == nil {
		return false
	}
	for i, axis := range n.axes {
		peer := m.links[s][i].peer
		back := m.indexOf(peer, s)
		if axis != 0 && back != fabric.None && m.nodes[peer].metric != nil {
			changed = name(m.nodes[peer].axes, int(back), m.nodes[seed].opposite(axis)) || changed
		}
	}
	return changed
}

// aroundSquares sets the axes of links that form a square with two links whose axes are known.
func (m *mesh) aroundSquares(s int32) (changed bool) {
	n := &m.nodes[s]
	if n.metric == nil {
		return false
	}
	for i := range n.axes {
		for j := range n.axes {
			if i == j || n.axes[i] == 0 || n.axes[j] == 0 || n.ahead(i, j) {
				continue
			}
			a, b := m.links[s][i].peer, m.links[s][j].peer
			if k, l, ok := m.meet(a, b, s); ok {
				changed = name(m.nodes[a].axes, k, n.axes[j]) || changed
				changed = name(m.nodes[b].axes, l, n.axes[i]) || changed
			}
		}
	}
	return changed
}

// meet finds the links i and j by which switches a and b reach a common neighbour. The argument common is a neighbour
// to skip. It returns the first other such neighbour.
func (m *mesh) meet(a, b, common int32) (i, j int, ok bool) {
	for i, l := range m.links[a] {
		if l.peer == common {
			continue
		}
		if j := m.indexOf(b, l.peer); j != fabric.None {
			return i, int(j), true
		}
	}
	return 0, 0, false
}
