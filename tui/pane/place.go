// SPDX-License-Identifier: Apache-2.0

package pane

import "example.org/ibconsole/fabric"

// Place names a node, or a port of one, in any fabric that has it.
type Place struct {
	GUID uint64
	Port uint8
}

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
