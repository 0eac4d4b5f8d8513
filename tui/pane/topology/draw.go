// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

func (t *topology) Draw(p *draw.Pen, line int) {
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
		p.Gap(4)
		t.drawName(p, r.node, p.Left-10)
		p.Right(p.Dim, pane.LidText(t.Scene.LID(pane.FirstLinked(t.Scene.Top.Fabric, r.node))), 10)
	}
}

func (t *topology) branch(p *draw.Pen, shut bool) {
	mark := prose.When(shut, p.Shut, p.Open)
	p.Put(p.Dim, mark+" ")
}

func (t *topology) drawTier(p *draw.Pen, tier int32) {
	wide := p.Left
	t.branch(p, t.shut[tier] && t.Filt.Empty())
	ix := t.Scene.Top
	var head, what string
	switch {
	case tier >= 0 && t.groups != nil:
		head, what = t.groups[tier].name, prose.Count(len(t.groups[tier].switches), "switch")
	case tier == tierOutside:
		head, what = "unreachable", prose.Count(len(ix.Outside), "switch")
	case tier == tierLoose:
		head, what = "not attached to a switch", prose.Count(len(ix.Loose), "node")
	case tier == 0 && len(ix.Tiers) == 1:
		head, what = "switches", prose.Thousands(len(ix.Tiers[0]))
	case tier == 0:
		head, what = "leaves", prose.Count(len(ix.Tiers[0]), "switch")+" with hosts"
	default:
		head, what = fmt.Sprintf("tier %d", tier), prose.Count(len(ix.Tiers[tier]), "switch")
	}
	p.Put(p.Strong, head)
	p.Put(p.Dim, "  "+what)
	t.drawHeads(p, wide-4)
}

// drawHeads writes heads over the values that follow the names of switches, if there is space.
func (t *topology) drawHeads(p *draw.Pen, wide int) {
	needed := 7 + 8
	load := wide-needed > loadFrom && len(t.Scene.Top.Fabric.Switches) > 0 &&
		t.switchLoad(&t.Scene.Top.Fabric.Nodes[t.Scene.Top.Fabric.Switches[0]]) != ""
	if load {
		needed += 10
	}
	if p.Left < needed+2 {
		return
	}
	p.Gap(p.Left - needed)
	p.Right(p.Dim, "LID", 7)
	p.Right(p.Dim, "links", 8)
	if load {
		p.Gap(2)
		p.Put(p.Dim, "load")
	}
}

const loadFrom = 34 // cells of the name of a switch from which its load is shown too

func (t *topology) drawSwitch(p *draw.Pen, node fabric.NodeIndex) {
	f := t.Scene.Top.Fabric
	n := &f.Nodes[node]
	p.Gap(2)
	t.branch(p, !t.open[n.GUID])
	note, st := t.switchNote(p, node)
	ports := fmt.Sprintf("%d/%d", t.Scene.Now.LinkedPorts(n), n.NumPorts)
	cabling, cst := t.cablingNote(p, node)
	room := 1 + 6 + 8
	for _, text := range []string{note, cabling} {
		if text != "" {
			room += draw.Width(text) + 2
		}
	}
	load := t.switchLoad(n)
	if load != "" && p.Left-room > loadFrom {
		room += 10
	} else {
		load = ""
	}
	lid := pane.LidText(t.Scene.LID(n.FirstPort))
	if p.Left-room < min(draw.Width(f.NodeName(node))+2, 24) { // the name and the note are more important
		lid, room = "", room-7
	}
	t.drawName(p, node, p.Left-room)
	if lid != "" {
		p.Right(p.Dim, lid, 7)
	}
	p.Right("", ports, 8)
	if load != "" {
		p.Gap(2)
		p.Cell(p.Dim, load, 8)
	}
	putNotes(p, st, note, cst, cabling)
}

// putNotes writes the notes of a row.
func putNotes(p *draw.Pen, st draw.Style, note string, cst draw.Style, cabling string) {
	if note != "" {
		p.Gap(2)
		p.Put(st, note)
	}
	if cabling != "" {
		p.Gap(2)
		p.Put(cst, cabling)
	}
}

func (t *topology) switchNote(p *draw.Pen, node fabric.NodeIndex) (string, draw.Style) {
	n := &t.Scene.Top.Fabric.Nodes[node]
	gone := 0
	for port := range n.Ports() {
		if t.Scene.FailedLink(port) {
			gone++
		}
	}
	switch {
	case gone > 0 && t.Scene.FailedNode(node):
		return p.Failed + " failed", p.Bad
	case n.InSubnet && !t.Scene.Now.Nodes[node].InSubnet:
		return "unreachable", p.Bad
	case gone > 0:
		return fmt.Sprintf("%s %d failed", p.Failed, gone), p.Warn
	}
	return "", ""
}

func (t *topology) drawPort(p *draw.Pen, port fabric.PortIndex) {
	f := t.Scene.Top.Fabric
	peer := f.Ports[port].Peer
	node := f.Ports[peer].Node
	host := !f.Nodes[node].IsSwitch()
	p.Gap(4)
	p.Cell(p.Dim, "p"+f.PortNumber(port), max(5, draw.Width(f.PortNumber(port))+2))
	note, st := t.linkNote(p, port, node, host)
	cabling, cst := t.portCabling(p, port)
	room := draw.Width(note) + 2
	if cabling != "" {
		room += draw.Width(cabling) + 2
	}
	if host {
		t.drawName(p, node, p.Left-room-8)
		p.Right(p.Dim, pane.LidText(t.Scene.LID(peer)), 7)
		p.Gap(1)
	} else {
		t.drawPeer(p, peer, p.Left-room)
	}
	putNotes(p, st, note, cst, cabling)
}

// linkNote writes the speed of a link, or that the link has failed.
func (t *topology) linkNote(p *draw.Pen, port fabric.PortIndex, peer fabric.NodeIndex, host bool) (string, draw.Style) {
	a := &t.Scene.Now.Ports[port]
	switch {
	case t.Scene.FailedLink(port) && t.Scene.FailedNode(a.Node):
		return p.Failed + " failed", p.Bad
	case t.Scene.FailedLink(port) && t.Scene.FailedNode(peer):
		return p.Failed + " failed with it", p.Bad
	case t.Scene.FailedLink(port):
		return p.Failed + " failed", p.Bad
	case host && t.Scene.Top.Fabric.Nodes[peer].InSubnet && !t.Scene.Now.Nodes[peer].InSubnet:
		return "unreachable", p.Bad
	}
	return pane.LinkText(a)
}

func (t *topology) drawIdle(p *draw.Pen, r treeRow) {
	f := t.Scene.Top.Fabric
	p.Gap(4)
	name := "p" + f.PortNumber(r.port)
	if r.last > r.port {
		name += fmt.Sprintf("-%d", f.Ports[r.last].Num)
	}
	p.Put(p.Dim, name+"  no link")
	cabling, st := t.portCabling(p, r.port)
	putNotes(p, "", "", st, cabling)
}

// drawName writes the name of a node in w cells, with the marks of the trace.
func (t *topology) drawName(p *draw.Pen, node fabric.NodeIndex, w int) {
	f := t.Scene.Top.Fabric
	mark, st := "", draw.Style("")
	switch guid := f.Nodes[node].GUID; {
	case guid == t.Ends[0].GUID && guid != 0:
		mark, st = " "+p.OnPath+p.Arrow, p.Info
	case guid == t.Ends[1].GUID && guid != 0:
		mark, st = " "+p.Arrow+p.OnPath, p.Info
	case t.Path()[node]:
		mark, st = " "+p.OnPath, p.Info
	}
	name := draw.Clean(f.NodeName(node), p.ASCII)
	wide := max(min(draw.Width(name), w-draw.Width(mark)), 0)
	p.PutName(t.nameStyle(p, node), name, wide, t.Shared)
	p.Put(st, mark)
	p.Gap(w - wide - draw.Width(mark))
}

func (t *topology) nameStyle(p *draw.Pen, node fabric.NodeIndex) draw.Style {
	f := t.Scene.Top.Fabric
	switch {
	case t.Scene.FailedNode(node), f.Nodes[node].InSubnet && !t.Scene.Now.Nodes[node].InSubnet:
		return p.Bad
	case !t.Filt.Empty() && t.hit(node):
		return p.Strong
	}
	return ""
}

// drawPeer writes the port at the other end of a link.
func (t *topology) drawPeer(p *draw.Pen, peer fabric.PortIndex, w int) {
	f := t.Scene.Top.Fabric
	node := f.Ports[peer].Node
	mark := prose.When(t.Path()[node], " "+p.OnPath, "")
	port := "/" + f.PortNumber(peer)
	name := draw.Clean(f.NodeName(node), p.ASCII)
	wide := max(min(draw.Width(name), w-2-draw.Width(port)-draw.Width(mark)), 0)
	p.Put(p.Dim, p.Line+" ")
	p.PutName("", name, wide, t.Shared)
	p.Put(p.Dim, port)
	p.Put(p.Info, mark)
	p.Gap(w - 2 - wide - draw.Width(port) - draw.Width(mark))
}
