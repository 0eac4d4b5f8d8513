// SPDX-License-Identifier: Apache-2.0

package places

import (
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
)

// NodeRef is a text that [ResolveNode] takes for the node: its name if that leads to it, else its GUID.
func NodeRef(f *fabric.Fabric, node fabric.NodeIndex) string {
	name := f.NodeName(node)
	if n, err := ResolveNode(f, name); err == nil && n == node && prose.Plain(name) {
		return name
	}
	return guidRef(f.Nodes[node].GUID)
}

// PortRef is a text that [Resolve] takes for an end port: its node where that has no other with a link, or is a switch,
// else NAME/PORT or the port GUID.
func PortRef(f *fabric.Fabric, end fabric.PortIndex) string {
	node := f.Ports[end].Node
	n := &f.Nodes[node]
	if n.IsSwitch() {
		return NodeRef(f, node)
	}
	if p, err := Resolve(f, f.NodeName(node)); err == nil && p.Port == end && f.LinkedPorts(n) < 2 {
		return NodeRef(f, node)
	}
	name := f.PortName(end)
	if p, err := Resolve(f, name); err == nil && p.Port == end && prose.Plain(name) {
		return name
	}
	return guidRef(f.Ports[end].GUID)
}

func guidRef(guid uint64) string { return fmt.Sprintf("guid:0x%016x", guid) }
