// SPDX-License-Identifier: Apache-2.0

package ibnet

import "example.org/ibconsole/fabric"

// step is an answer that ibnetdiscover waits for and goes on from.
type step struct {
	kind stepKind
	// port is the port that the question goes to; of a switch, for nodeInfo and
	// switchPortInfo, the one it comes in by.
	port fabric.PortIndex
}

type stepKind uint8

const (
	nodeInfo       stepKind = iota // of the node of port
	switchPortInfo                 // of port 0 of the switch of port
	portInfo                       // of port
	extPortInfo                    // Mellanox's, of port
)

// discovery follows the questions of ibnetdiscover (libibnetdisc, ibnetdisc.c).
// They are answered in the order in which they are asked, so that a queue of
// those that lead to others gives the order in which it meets the nodes.
type discovery struct {
	f     *fabric.Fabric
	queue []step
	met   []bool
	order []fabric.NodeIndex
}

// discoveryOrder returns the nodes that can be reached from the SM's port in the
// order in which ibnetdiscover meets them. O(ports).
func discoveryOrder(f *fabric.Fabric) []fabric.NodeIndex {
	d := discovery{f: f, met: make([]bool, len(f.Nodes))}
	d.ask(nodeInfo, f.SMPort)
	for len(d.queue) > 0 {
		s := d.queue[0]
		d.queue = d.queue[1:]
		d.answered(s)
	}
	return d.order
}

func (d *discovery) ask(kind stepKind, port fabric.PortIndex) {
	d.queue = append(d.queue, step{kind, port})
}

func (d *discovery) answered(s step) {
	p := &d.f.Ports[s.port]
	n := &d.f.Nodes[p.Node]
	switch s.kind {
	case nodeInfo:
		isNew := !d.met[p.Node]
		if isNew {
			d.met[p.Node] = true
			d.order = append(d.order, p.Node)
		}
		if !n.IsSwitch() {
			d.ask(portInfo, s.port)
		} else if isNew {
			d.ask(switchPortInfo, s.port)
		}
	case switchPortInfo:
		for i := range n.Ports() {
			if i != s.port && d.f.Ports[i].Linked() {
				d.ask(portInfo, i)
			}
		}
	case portInfo:
		if maybeFDR10(n, p) {
			d.ask(extPortInfo, s.port)
		} else {
			d.goOn(s.port)
		}
	case extPortInfo:
		d.goOn(s.port)
	}
}

// maybeFDR10 reports whether a port has to be asked for the difference between QDR
// and FDR10.
func maybeFDR10(n *fabric.Node, p *fabric.Port) bool {
	return (p.Speed == fabric.QDR || p.Speed == fabric.FDR10) && fabric.KnowsFDR10(n.VendorID, n.DeviceID)
}

// goOn looks through a port, which can be done with switches and at the start.
func (d *discovery) goOn(port fabric.PortIndex) {
	p := &d.f.Ports[port]
	if p.Peer != fabric.None && (d.f.Nodes[p.Node].IsSwitch() || port == d.f.SMPort) {
		d.ask(nodeInfo, p.Peer)
	}
}
