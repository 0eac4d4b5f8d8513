// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"fmt"

	"example.org/ibconsole/fabric"
)

func (t *topology) draw(p *pen, line int) {
	switch r := t.rows[line]; r.kind {
	case rowTier:
		t.drawTier(p, r.tier)
	case rowSwitch:
		t.drawSwitch(p, r.node)
	case rowPort:
		t.drawPort(p, r.port)
	case rowIdle:
		t.drawIdle(p, r)
	case rowLoose:
		p.gap(4)
		t.drawName(p, r.node, p.left-10)
		p.right(p.dim, lidText(t.sc.lid(firstLinked(t.sc.top.f, r.node))), 10)
	}
}

func (t *topology) branch(p *pen, shut bool) {
	mark := p.open
	if shut {
		mark = p.shut
	}
	p.put(p.dim, mark+" ")
}

func (t *topology) drawTier(p *pen, tier int32) {
	wide := p.left
	t.branch(p, t.shut[tier] && t.filt.empty())
	ix := t.sc.top
	var head, what string
	switch {
	case tier >= 0 && t.groups != nil:
		head, what = t.groups[tier].name, count(len(t.groups[tier].switches), "switch")
	case tier == tierOutside:
		head, what = "outside", count(len(ix.outside), "switch")+" that no link leads to"
	case tier == tierLoose:
		head, what = "on no switch", count(len(ix.loose), "node")
	case tier == 0 && len(ix.tiers) == 1:
		head, what = "switches", thousands(len(ix.tiers[0]))
	case tier == 0:
		head, what = "leaves", count(len(ix.tiers[0]), "switch")+" with hosts"
	default:
		head, what = fmt.Sprintf("tier %d", tier), count(len(ix.tiers[tier]), "switch")
	}
	p.put(p.strong, head)
	p.put(p.dim, "  "+what)
	t.drawHeads(p, wide-4)
}

// drawHeads names what stands behind the names of switches, which have wide cells,
// where there is room.
func (t *topology) drawHeads(p *pen, wide int) {
	room := 7 + 8
	load := wide-room > loadFrom && len(t.sc.top.f.Switches) > 0 && t.switchLoad(&t.sc.top.f.Nodes[t.sc.top.f.Switches[0]]) != ""
	if load {
		room += 10
	}
	if p.left < room+2 {
		return
	}
	p.gap(p.left - room)
	p.right(p.dim, "LID", 7)
	p.right(p.dim, "links", 8)
	if load {
		p.gap(2)
		p.put(p.dim, "load")
	}
}

// loadFrom is how many cells the name of a switch has where its load is shown too.
const loadFrom = 34

func (t *topology) drawSwitch(p *pen, node fabric.NodeIndex) {
	f := t.sc.top.f
	n := &f.Nodes[node]
	p.gap(2)
	t.branch(p, !t.open[n.GUID])
	note, st := t.switchNote(p, node)
	ports := fmt.Sprintf("%d/%d", up(t.sc.now, n), n.NumPorts)
	room := 1 + 6 + 8
	if note != "" {
		room += width(note) + 2
	}
	load := t.switchLoad(n)
	if load != "" && p.left-room > loadFrom {
		room += 10
	} else {
		load = ""
	}
	lid := lidText(t.sc.lid(n.FirstPort))
	if p.left-room < min(width(f.NodeName(node))+2, 24) { // the name and what ails it matter more
		lid, room = "", room-7
	}
	t.drawName(p, node, p.left-room)
	if lid != "" {
		p.right(p.dim, lid, 7)
	}
	p.right("", ports, 8)
	if load != "" {
		p.gap(2)
		p.cell(p.dim, load, 8)
	}
	if note != "" {
		p.gap(2)
		p.put(st, note)
	}
}

// switchNote says what ails a switch.
func (t *topology) switchNote(p *pen, node fabric.NodeIndex) (string, style) {
	n := &t.sc.top.f.Nodes[node]
	gone := 0
	for port := range n.Ports() {
		if t.sc.failedLink(port) {
			gone++
		}
	}
	switch {
	case gone > 0 && t.sc.failedNode(node):
		return p.failed + " failed", p.bad
	case n.InSubnet && !t.sc.now.Nodes[node].InSubnet:
		return "cut off", p.bad
	case gone > 0:
		return fmt.Sprintf("%s %d failed", p.failed, gone), p.warn
	}
	return "", ""
}

func (t *topology) drawPort(p *pen, port fabric.PortIndex) {
	f := t.sc.top.f
	peer := f.Ports[port].Peer
	node := f.Ports[peer].Node
	host := !f.Nodes[node].IsSwitch()
	p.gap(4)
	p.cell(p.dim, fmt.Sprintf("p%d", f.Ports[port].Num), 5)
	note, st := t.linkNote(p, port, node, host)
	room := width(note) + 2
	if host {
		t.drawName(p, node, p.left-room-8)
		p.right(p.dim, lidText(t.sc.lid(peer)), 7)
		p.gap(1)
	} else {
		t.drawPeer(p, peer, p.left-room)
	}
	p.gap(2)
	p.put(st, note)
}

// linkNote says how fast a link is, or what ails it.
func (t *topology) linkNote(p *pen, port fabric.PortIndex, peer fabric.NodeIndex, host bool) (string, style) {
	a := &t.sc.now.Ports[port]
	switch {
	case t.sc.failedLink(port) && t.sc.failedNode(a.Node):
		return p.failed + " failed", p.bad
	case t.sc.failedLink(port) && t.sc.failedNode(peer):
		return p.failed + " failed with it", p.bad
	case t.sc.failedLink(port):
		return p.failed + " failed on paper", p.bad
	case host && t.sc.top.f.Nodes[peer].InSubnet && !t.sc.now.Nodes[peer].InSubnet:
		return "cut off", p.bad
	}
	return linkText(a)
}

// linkText is a link's width and speed, and its state where that is not Active.
func linkText(a *fabric.Port) (string, style) {
	s := a.Width.String() + a.Speed.String()
	if w := a.State.String(); w == "Initialize" || w == "Armed" {
		return s + " " + w, ""
	}
	return s, ""
}

func (t *topology) drawIdle(p *pen, r treeRow) {
	f := t.sc.top.f
	p.gap(4)
	name := fmt.Sprintf("p%d", f.Ports[r.port].Num)
	if r.last > r.port {
		name += fmt.Sprintf("-%d", f.Ports[r.last].Num)
	}
	p.put(p.dim, name+"  no link")
}

// drawName writes a node's name in w cells with the marks of the trace.
func (t *topology) drawName(p *pen, node fabric.NodeIndex, w int) {
	f := t.sc.top.f
	mark, st := "", style("")
	switch guid := f.Nodes[node].GUID; {
	case guid == t.ends[0].guid && guid != 0:
		mark, st = " "+p.onPath+p.arrow, p.info
	case guid == t.ends[1].guid && guid != 0:
		mark, st = " "+p.arrow+p.onPath, p.info
	case t.path[node]:
		mark, st = " "+p.onPath, p.info
	}
	name := cut(clean(f.NodeName(node), p.ascii), w-width(mark), p.ellipsis)
	p.put(t.nameStyle(p, node), name)
	p.put(st, mark)
	p.gap(w - width(name) - width(mark))
}

func (t *topology) nameStyle(p *pen, node fabric.NodeIndex) style {
	f := t.sc.top.f
	switch {
	case t.sc.failedNode(node), f.Nodes[node].InSubnet && !t.sc.now.Nodes[node].InSubnet:
		return p.bad
	case !t.filt.empty() && t.hit(node):
		return p.strong
	}
	return ""
}

// drawPeer writes the port at the other end of a link.
func (t *topology) drawPeer(p *pen, peer fabric.PortIndex, w int) {
	f := t.sc.top.f
	node := f.Ports[peer].Node
	mark := ""
	if t.path[node] {
		mark = " " + p.onPath
	}
	port := fmt.Sprintf("/%d", f.Ports[peer].Num)
	name := cut(clean(f.NodeName(node), p.ascii), w-2-width(port)-width(mark), p.ellipsis)
	p.put(p.dim, p.line+" ")
	p.put("", name)
	p.put(p.dim, port)
	p.put(p.info, mark)
	p.gap(w - 2 - width(name) - width(port) - width(mark))
}

func lidText(lid uint16) string {
	if lid == 0 {
		return "-"
	}
	return fmt.Sprint(lid)
}
