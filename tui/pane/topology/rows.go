// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"example.org/ibconsole/fabric"
)

func (t *topology) grow() {
	t.rows = t.rows[:0]
	ix := t.Scene.Top
	if !t.Filt.Empty() {
		t.hits = t.Filt.Hits(ix.Search)
	}
	t.groups = nil
	switch t.Kind {
	case treeBySystem:
		t.groups = bySystem(ix)
	case treeByName:
		t.groups = byPattern(ix)
	case treeByPart:
		t.groups = byPart(ix)
	}
	if t.groups != nil {
		for i, g := range t.groups {
			t.addTier(int32(i), g.switches)
		}
	} else {
		for tier := int32(len(ix.Tiers)) - 1; tier >= 0; tier-- {
			t.addTier(tier, ix.Tiers[tier])
		}
	}
	t.addTier(tierOutside, ix.Outside)
	t.addLoose(ix.Loose)
	t.Fill(len(t.rows))
	t.Window.Resize(len(t.rows), t.Height)
}

func (t *topology) addTier(tier int32, switches []fabric.SwitchIndex) {
	head := len(t.rows)
	t.add(treeRow{kind: rowTier, tier: tier, node: fabric.None, port: fabric.None})
	if t.shut[tier] && t.Filt.Empty() {
		if len(switches) == 0 {
			t.rows = t.rows[:head]
		}
		return
	}
	for _, s := range t.sortSwitches(switches) {
		t.addSwitch(t.Scene.Top.Fabric.Switches[s])
	}
	if len(t.rows) == head+1 {
		t.rows = t.rows[:head]
	}
}

func (t *topology) addSwitch(node fabric.NodeIndex) {
	ix := t.Scene.Top
	n := &ix.Fabric.Nodes[node]
	row := treeRow{kind: rowSwitch, node: node, port: fabric.None}
	if t.Filt.Empty() || t.hit(node) {
		t.add(row)
		if t.open[n.GUID] {
			t.addPorts(n, func(treeRow) bool { return true })
		}
		return
	}
	head := len(t.rows)
	t.add(row)
	t.addPorts(n, func(r treeRow) bool {
		peer := ix.Fabric.PeerNode(r.port)
		return r.kind == rowPort && !ix.Fabric.Nodes[peer].IsSwitch() && t.hit(peer)
	})
	if len(t.rows) == head+1 {
		t.rows = t.rows[:head]
	}
}

// addPorts adds the ports of a switch. Adjacent ports without a link and without a cabling fault form a single row.
func (t *topology) addPorts(n *fabric.Node, want func(treeRow) bool) {
	f := t.Scene.Top.Fabric
	node := f.Ports[n.FirstPort].Node
	for p := n.FirstPort + 1; p <= n.FirstPort+fabric.PortIndex(n.NumPorts); p++ {
		r := treeRow{kind: rowPort, node: node, port: p}
		if !f.Ports[p].Linked() {
			r.kind, r.last = rowIdle, p
			faulty := len(t.faults(p)) > 0
			for r.last < n.FirstPort+fabric.PortIndex(n.NumPorts) && !f.Ports[r.last+1].Linked() && !faulty &&
				len(t.faults(r.last+1)) == 0 {
				r.last++
			}
			p = r.last
		}
		if want(r) {
			t.add(r)
		}
	}
}

func (t *topology) addLoose(nodes []fabric.NodeIndex) {
	head := len(t.rows)
	t.add(treeRow{kind: rowTier, tier: tierLoose, node: fabric.None, port: fabric.None})
	for _, n := range nodes {
		if t.Filt.Empty() && !t.shut[tierLoose] || !t.Filt.Empty() && t.hit(n) {
			t.add(treeRow{kind: rowLoose, node: n, port: fabric.None})
		}
	}
	if len(nodes) == 0 || !t.Filt.Empty() && len(t.rows) == head+1 {
		t.rows = t.rows[:head]
	}
}

func (t *topology) add(r treeRow) { t.rows = append(t.rows, r) }

// toggle opens or closes the selected branch.
func (t *topology) toggle() {
	if t.Cursor >= len(t.rows) {
		return
	}
	r := t.rows[t.Cursor]
	switch r.kind {
	case rowTier:
		t.shut[r.tier] = !t.shut[r.tier]
	case rowSwitch:
		t.setOpen(r.node, !t.isOpen(r.node))
	}
	t.Renew()
}

func (t *topology) isOpen(node fabric.NodeIndex) bool {
	return t.open[t.Scene.Top.Fabric.Nodes[node].GUID]
}

func (t *topology) setOpen(node fabric.NodeIndex, open bool) {
	t.open[t.Scene.Top.Fabric.Nodes[node].GUID] = open
}

// unfold opens the selected branch. If the argument shut is set, it closes the branch, or goes to the head of the
// branch that contains the row.
func (t *topology) unfold(shut bool) {
	if t.Cursor >= len(t.rows) {
		return
	}
	switch r := t.rows[t.Cursor]; {
	case r.kind == rowTier:
		t.shut[r.tier] = shut
	case r.kind == rowSwitch && (t.isOpen(r.node) || !shut):
		t.setOpen(r.node, !shut)
	case shut:
		for i := t.Cursor - 1; i >= 0; i-- {
			if t.rows[i].kind < r.kind && t.rows[i].kind <= rowSwitch {
				t.To(i)
				return
			}
		}
	}
	t.Renew()
}
