// SPDX-License-Identifier: Apache-2.0

package pane

import (
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/tui/draw"
)

// Place names a node, or a port of one, in any fabric that has it.
type Place struct {
	GUID uint64
	Port uint8
}

// PlaceOf is the place of a node, or of a port of it where port is not None.
func PlaceOf(f *fabric.Fabric, node fabric.NodeIndex, port fabric.PortIndex) Place {
	p := Place{GUID: f.Nodes[node].GUID}
	if port != fabric.None {
		p.Port = f.Ports[port].Num
	}
	return p
}

// In finds the place in a fabric; node is None where it is not there.
func (p Place) In(f *fabric.Fabric) (node fabric.NodeIndex, port fabric.PortIndex) {
	node = f.NodeByGUID(p.GUID)
	if node == fabric.None {
		return fabric.None, fabric.None
	}
	return node, f.PortAt(node, int(p.Port))
}

// ID tells nodes, and ports of nodes, apart in every fabric.
func (p Place) ID() uint64 { return p.GUID*0x9e3779b97f4a7c15 ^ uint64(p.Port)<<1 }

// None reports whether a place names nothing.
func (p Place) None() bool { return p.GUID == 0 }

// placeIn is the place of a node or port; none for None.
func placeIn(f *fabric.Fabric, node fabric.NodeIndex, port fabric.PortIndex) Place {
	if node == fabric.None {
		return Place{}
	}
	return PlaceOf(f, node, port)
}

// EndPort is the port that carries the LID of a place, None where there is none.
func (p Place) EndPort(f *fabric.Fabric) fabric.PortIndex {
	node, port := p.In(f)
	if node == fabric.None {
		return fabric.None
	}
	if f.Nodes[node].IsSwitch() {
		return f.Nodes[node].FirstPort
	}
	if port == fabric.None {
		return FirstLinked(f, node)
	}
	return port
}

// FirstLinked is the first port of a node with a link, else its first port.
func FirstLinked(f *fabric.Fabric, node fabric.NodeIndex) fabric.PortIndex {
	n := &f.Nodes[node]
	for p := range n.Ports() {
		if f.Ports[p].Linked() {
			return p
		}
	}
	return n.FirstPort + 1
}

// LinkText is a link's width and speed, and its state where that is not Active.
func LinkText(a *fabric.Port) (string, draw.Style) {
	s := a.Width.String() + a.Speed.String()
	if w := a.State.String(); w == "Initialize" || w == "Armed" {
		return s + " " + w, ""
	}
	return s, ""
}

// LidText is a LID in words, "-" for none.
func LidText(lid uint16) string { return prose.When(lid == 0, "-", fmt.Sprint(lid)) }

// NodeWord names a node as a command understands it.
func NodeWord(f *fabric.Fabric, node fabric.NodeIndex) string {
	return lang.Quote(places.NodeRef(f, node))
}

// PortWord names an end port as a command understands it.
func PortWord(f *fabric.Fabric, end fabric.PortIndex) string {
	return lang.Quote(places.PortRef(f, end))
}
