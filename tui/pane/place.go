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

// Place identifies a node, or a port of a node. It is valid in every fabric that contains the node.
type Place struct {
	GUID uint64
	Port uint8
}

// PlaceOf returns the place of a node if the argument port is None, otherwise the place of a port of the node.
func PlaceOf(f *fabric.Fabric, node fabric.NodeIndex, port fabric.PortIndex) Place {
	p := Place{GUID: f.Nodes[node].GUID}
	if port != fabric.None {
		p.Port = f.Ports[port].Num
	}
	return p
}

// In finds the place in a fabric. The result node is None if the fabric does not contain the node.
func (p Place) In(f *fabric.Fabric) (node fabric.NodeIndex, port fabric.PortIndex) {
	node = f.NodeByGUID(p.GUID)
	if node == fabric.None {
		return fabric.None, fabric.None
	}
	return node, f.PortAt(node, int(p.Port))
}

// ID returns a number that identifies the node or port in every fabric.
func (p Place) ID() uint64 { return p.GUID*0x9e3779b97f4a7c15 ^ uint64(p.Port)<<1 }

// None reports whether the place is the zero place.
func (p Place) None() bool { return p.GUID == 0 }

// placeIn returns the place of a node or port, or the zero place if the argument node is None.
func placeIn(f *fabric.Fabric, node fabric.NodeIndex, port fabric.PortIndex) Place {
	if node == fabric.None {
		return Place{}
	}
	return PlaceOf(f, node, port)
}

// EndPort returns the port that carries the LID of a place, or None if there is none.
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

// FirstLinked returns the first port of a node that has a link. If no port has a link, it returns the first port.
func FirstLinked(f *fabric.Fabric, node fabric.NodeIndex) fabric.PortIndex {
	n := &f.Nodes[node]
	for p := range n.Ports() {
		if f.Ports[p].Linked() {
			return p
		}
	}
	return n.FirstPort + 1
}

// LinkText returns the width and speed of a link. It adds the state if this is Initialize or Armed.
func LinkText(a *fabric.Port) (string, draw.Style) {
	s := a.Width.String() + a.Speed.String()
	if w := a.State.String(); w == "Initialize" || w == "Armed" {
		return s + " " + w, ""
	}
	return s, ""
}

// LidText returns a LID as text, "-" for 0.
func LidText(lid uint16) string { return prose.When(lid == 0, "-", fmt.Sprint(lid)) }

// NodeWord returns the word that identifies a node in commands.
func NodeWord(f *fabric.Fabric, node fabric.NodeIndex) string {
	return lang.Quote(places.NodeRef(f, node))
}

// PortWord returns the word that identifies an end port in commands.
func PortWord(f *fabric.Fabric, end fabric.PortIndex) string {
	return lang.Quote(places.PortRef(f, end))
}
