// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"example.org/ibconsole/fabric"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

// findPlace selects the row of a place. If there is no such row, it selects the row of the node.
func (t *topology) findPlace(at pane.Place) {
	f := t.Scene.Top.Fabric
	node, port := at.In(f)
	found := -1
	for i, r := range t.rows {
		if r.node != node || r.kind == rowTier {
			continue
		}
		if found < 0 || at.Port > 0 && r.port != fabric.None && port >= r.port && port <= max(r.last, r.port) {
			found = i
		}
	}
	if found >= 0 {
		t.Reveal(found)
	}
}

// visit opens the tree down to a node and selects the node. For a host, it opens the ports of its switch.
func (t *topology) visit(node fabric.NodeIndex) {
	f := t.Scene.Top.Fabric
	at := pane.PlaceOf(f, node, fabric.None)
	if !f.Nodes[node].IsSwitch() {
		peer := f.Ports[pane.FirstLinked(f, node)].Peer
		if peer != fabric.None && f.Nodes[f.Ports[peer].Node].IsSwitch() {
			at = pane.PlaceOf(f, f.Ports[peer].Node, peer)
			t.open[at.GUID] = true
		}
	}
	t.unhide()
	t.findPlace(at)
}

// visitPort opens the tree down to a port of a switch and selects the port.
func (t *topology) visitPort(at pane.Place) {
	f := t.Scene.Top.Fabric
	node, port := at.In(f)
	switch {
	case node == fabric.None:
	case f.Nodes[node].IsSwitch() && at.Port > 0 && port != fabric.None:
		t.open[at.GUID] = true
		t.unhide()
		t.findPlace(at)
	default:
		t.visit(node)
	}
}

// unhide shows all switches.
func (t *topology) unhide() {
	clear(t.shut)
	t.Filt = draw.Filter{}
	t.grow()
}

func (t *topology) first() {
	for i, r := range t.rows {
		if r.kind != rowTier {
			t.To(i)
			return
		}
	}
}

// firstMatch selects the first row that matches the filter.
func (t *topology) firstMatch() {
	if t.Filt.Empty() {
		return
	}
	f := t.Scene.Top.Fabric
	for i, r := range t.rows {
		node := r.node
		if r.kind == rowPort {
			node = f.Ports[f.Ports[r.port].Peer].Node
		}
		if r.kind != rowTier && r.kind != rowIdle && t.hit(node) {
			t.To(0)
			t.To(i)
			return
		}
	}
}
