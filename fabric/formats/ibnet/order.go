// SPDX-License-Identifier: Apache-2.0

package ibnet

import "example.org/ibconsole/fabric"

// step is a response for which ibnetdiscover waits.
type step struct {
	kind stepKind
	// port is the port to which the request goes. For the kinds nodeInfo and switchPortInfo on a switch, it is the
	// ingress port.
	port fabric.PortIndex
}

type stepKind uint8

const (
	nodeInfo       stepKind = iota // of the node of port
	switchPortInfo                 // of port 0 of the switch of port
	portInfo                       // of port
	extPortInfo                    // Mellanox's, of port
)

// discovery simulates the requests of ibnetdiscover (libibnetdisc, ibnetdisc.c). Requests are answered in the order in
// which they are sent. So a queue of the requests that cause further requests yields the nodes in the order of
// ibnetdiscover.
type discovery struct {
	f     *fabric.Fabric
	queue []step
	found []bool
	order []fabric.NodeIndex
}

// discoveryOrder returns the nodes that requests from the SM's port reach, in the order in which ibnetdiscover finds
// them. O(ports).
func discoveryOrder(f *fabric.Fabric) []fabric.NodeIndex {
	d := discovery{f: f, found: make([]bool, len(f.Nodes))}
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
		isNew := !d.found[p.Node]
		if isNew {
			d.found[p.Node] = true
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
			d.follow(s.port)
		}
	case extPortInfo:
		d.follow(s.port)
	}
}

// maybeFDR10 reports whether ibnetdiscover must send a request to distinguish QDR from FDR10 on a port.
func maybeFDR10(n *fabric.Node, p *fabric.Port) bool {
	return (p.Speed == fabric.QDR || p.Speed == fabric.FDR10) && fabric.KnowsFDR10(n.VendorID, n.DeviceID)
}

// follow sends a request to the peer of a port. ibnetdiscover does so for ports of switches and for the first port.
func (d *discovery) follow(port fabric.PortIndex) {
	p := &d.f.Ports[port]
	if p.Peer != fabric.None && (d.f.Nodes[p.Node].IsSwitch() || port == d.f.SMPort) {
		d.ask(nodeInfo, p.Peer)
	}
}
