// SPDX-License-Identifier: Apache-2.0

package fabric

import "example.org/ibconsole/mad"

// Activated returns the subnet as a subnet manager on the SM's port leaves it: every link of the subnet is Active,
// and every port with a LID has the SM's LID. Everything else is unchanged. O(ports).
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
// port. Subnet managers do not look through channel adapters, so they do not find a link between two of them.
func (f *Fabric) Discovered(port PortIndex) bool {
	peer := f.Ports[port].Peer
	return peer != None && (f.sendsSMPs(port) || f.sendsSMPs(peer))
}

// sendsSMPs reports whether directed-route packets of the subnet manager leave by a port.
func (f *Fabric) sendsSMPs(port PortIndex) bool {
	n := &f.Nodes[f.Ports[port].Node]
	return port == f.SMPort || (n.IsSwitch() && n.InSubnet)
}

// UsableLinksOnly returns the subnet as packets see it: a port that is neither Armed nor Active has no peer. Everything
// else is unchanged. O(ports).
func (f *Fabric) UsableLinksOnly() *Fabric {
	g := f.copy()
	for i := range g.NumPorts() {
		if p := &g.Ports[i]; p.State != mad.PortArmed && p.State != mad.PortActive {
			p.Peer = None
		}
	}
	return g
}
