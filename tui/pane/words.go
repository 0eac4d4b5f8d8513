// SPDX-License-Identifier: Apache-2.0

package pane

import (
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/internal/prose"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/tui/draw"
)

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

// NodeWord names a node as a command understands it: by its name if that leads to it, else by its GUID.
func NodeWord(f *fabric.Fabric, node fabric.NodeIndex) string { return lang.Quote(NodeRef(f, node)) }

// NodeRef is NodeWord unquoted.
func NodeRef(f *fabric.Fabric, node fabric.NodeIndex) string {
	name := f.NodeName(node)
	if n, err := places.ResolveNode(f, name); err == nil && n == node && draw.Plain(name) {
		return name
	}
	return fmt.Sprintf("guid:0x%016x", f.Nodes[node].GUID)
}

// PortWord names an end port: by its node where there is no other, else by NAME/PORT or the port GUID.
func PortWord(f *fabric.Fabric, end fabric.PortIndex) string {
	node := f.Ports[end].Node
	name := f.NodeName(node)
	if p, err := places.Resolve(f, name); err == nil && p.Port == end && Up(f, &f.Nodes[node]) < 2 || f.Nodes[node].IsSwitch() {
		return NodeWord(f, node)
	}
	name = f.PortName(end)
	if p, err := places.Resolve(f, name); err == nil && p.Port == end && draw.Plain(name) {
		return lang.Quote(name)
	}
	return fmt.Sprintf("guid:0x%016x", f.Ports[end].GUID)
}
