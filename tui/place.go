// SPDX-License-Identifier: Apache-2.0

package tui

import "example.org/ibconsole/fabric"

// place names a node, or a port of one, in any fabric that has it.
type place struct {
	guid uint64
	port uint8
}

func placeOf(f *fabric.Fabric, node fabric.NodeIndex, port fabric.PortIndex) place {
	p := place{guid: f.Nodes[node].GUID}
	if port != fabric.None {
		p.port = f.Ports[port].Num
	}
	return p
}

// in finds the place in a fabric; node is None where it is not there.
func (p place) in(f *fabric.Fabric) (node fabric.NodeIndex, port fabric.PortIndex) {
	node = f.NodeByGUID(p.guid)
	if node == fabric.None {
		return fabric.None, fabric.None
	}
	return node, f.PortAt(node, int(p.port))
}

// id tells nodes, and ports of nodes, apart in every fabric.
func (p place) id() uint64 { return p.guid*0x9e3779b97f4a7c15 ^ uint64(p.port)<<1 }

// none reports whether a place names nothing.
func (p place) none() bool { return p.guid == 0 }

// placeIn is the place of a node or port; none for None.
func placeIn(f *fabric.Fabric, node fabric.NodeIndex, port fabric.PortIndex) place {
	if node == fabric.None {
		return place{}
	}
	return placeOf(f, node, port)
}

// endPort is the port that carries the LID of a place, None where there is none.
func (p place) endPort(f *fabric.Fabric) fabric.PortIndex {
	node, port := p.in(f)
	if node == fabric.None {
		return fabric.None
	}
	if f.Nodes[node].IsSwitch() {
		return f.Nodes[node].FirstPort
	}
	if port == fabric.None {
		return firstLinked(f, node)
	}
	return port
}

// firstLinked is the first port of a node with a link, else its first port.
func firstLinked(f *fabric.Fabric, node fabric.NodeIndex) fabric.PortIndex {
	n := &f.Nodes[node]
	for p := range n.Ports() {
		if f.Ports[p].Linked() {
			return p
		}
	}
	return n.FirstPort + 1
}
