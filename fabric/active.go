// SPDX-License-Identifier: Apache-2.0

package fabric

import "example.org/ibconsole/mad"

// Activated returns the subnet as a subnet manager on the SM's port leaves it: every link of the subnet
// Active, and the SM's LID known to every port that has one. The rest stays as it is. O(ports).
func (f *Fabric) Activated() *Fabric {
	g := f.copy()
	if f.SMPort == None {
		return g
	}
	smLID := f.Ports[f.EndPortOf(f.SMPort)].LID
	for _, e := range g.EndPorts {
		g.Ports[e].SMLID = smLID
	}
	for i := range g.NumPorts() {
		if p := &g.Ports[i]; f.Discovered(i) {
			p.State = mad.PortActive
		}
	}
	return g
}

// Discovered reports whether a subnet manager finds a port's link: one end is on a switch of the subnet or is the SM's
// port. Nobody looks through an adapter, so a link between two channel adapters is not found.
func (f *Fabric) Discovered(port PortIndex) bool {
	peer := f.Ports[port].Peer
	return peer != None && (f.looksOut(port) || f.looksOut(peer))
}

func (f *Fabric) looksOut(port PortIndex) bool {
	n := &f.Nodes[f.Ports[port].Node]
	return port == f.SMPort || (n.IsSwitch() && n.InSubnet)
}

// UsableLinksOnly returns the subnet as packets find it: a port that is neither Armed nor Active leads nowhere. The rest
// stays as it is. O(ports).
func (f *Fabric) UsableLinksOnly() *Fabric {
	g := f.copy()
	for i := range g.NumPorts() {
		if p := &g.Ports[i]; p.State != mad.PortArmed && p.State != mad.PortActive {
			p.Peer = None
		}
	}
	return g
}
