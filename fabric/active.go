// SPDX-License-Identifier: Apache-2.0

package fabric

import "example.org/ibconsole/mad"

// Activated returns the subnet in the state that a subnet manager on the SM's port leaves behind: every link of the
// subnet is Active, and every port with a LID has the SM's LID. Everything else is unchanged. O(ports).
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

// Discovered reports whether a subnet manager finds the link of a port. It finds links with an end on a switch of the
// subnet and the link of the SM's port. It does not look through channel adapters, so it does not find a link between
// two of them.
func (f *Fabric) Discovered(port PortIndex) bool {
	peer := f.Ports[port].Peer
	return peer != None && (f.sendsSMPs(port) || f.sendsSMPs(peer))
}

// sendsSMPs reports whether the subnet manager's directed-route packets leave through the port.
func (f *Fabric) sendsSMPs(port PortIndex) bool {
	n := &f.Nodes[f.Ports[port].Node]
	return port == f.SMPort || (n.IsSwitch() && n.InSubnet)
}

// UsableLinksOnly returns the subnet with only those links that carry packets. Ports that are neither Armed nor Active
// have no peer in the result. Everything else is unchanged. O(ports).
func (f *Fabric) UsableLinksOnly() *Fabric {
	g := f.copy()
	for i := range g.NumPorts() {
		if p := &g.Ports[i]; p.State != mad.PortArmed && p.State != mad.PortActive {
			p.Peer = None
		}
	}
	return g
}
