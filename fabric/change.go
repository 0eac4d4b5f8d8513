// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"maps"
	"slices"

	"example.org/ibconsole/mad"
)

// Without returns the fabric as it would be without these links. Indexes stay
// the same; nodes that are cut off from the SM's port are no longer InSubnet.
// O(ports log ports).
func (f *Fabric) Without(links []Link) *Fabric {
	g := f.copy()
	for _, l := range links {
		for _, p := range [2]int32{l.A, l.B} {
			g.Ports[p].Peer = None
			g.Ports[p].State = mad.PortDown
		}
	}
	if err := g.finish(); err != nil {
		panic("fabric: a part of a consistent fabric is inconsistent: " + err.Error())
	}
	return g
}

// WithSMPort returns the fabric as seen from another port.
func (f *Fabric) WithSMPort(port int32) (*Fabric, error) {
	g := f.copy()
	g.SMPort = port
	return g, g.finish()
}

// WithLIDs returns the fabric with other base LIDs: lids[i] is that of
// f.EndPorts[i]. It fails where two ports claim one LID.
func (f *Fabric) WithLIDs(lids []uint16) (*Fabric, error) {
	g := f.copy()
	var smLID uint16
	for i, e := range f.EndPorts {
		g.Ports[e].LID = lids[i]
		if e == f.EndPortOf(f.SMPort) {
			smLID = lids[i]
		}
	}
	for _, e := range f.EndPorts {
		g.Ports[e].SMLID = smLID
	}
	return g, g.finish()
}

func (f *Fabric) copy() *Fabric {
	g := *f
	g.Nodes = slices.Clone(f.Nodes)
	g.Ports = slices.Clone(f.Ports)
	g.nodeGUID = maps.Clone(f.nodeGUID)
	return &g
}

// Same says whether two fabrics have the same nodes and ports under the same
// indexes, the same links and the same LIDs, but for LIDs that one of them has
// not assigned. O(ports).
func Same(f, g *Fabric) bool {
	if f == g {
		return true
	}
	if len(f.Nodes) != len(g.Nodes) || len(f.Ports) != len(g.Ports) || f.SMPort != g.SMPort {
		return false
	}
	for i := range f.Nodes {
		if f.Nodes[i].GUID != g.Nodes[i].GUID || f.Nodes[i].Type != g.Nodes[i].Type {
			return false
		}
	}
	for i := range f.Ports {
		p, q := &f.Ports[i], &g.Ports[i]
		if p.GUID != q.GUID || p.Peer != q.Peer || (p.LID != q.LID && p.LID != 0 && q.LID != 0) {
			return false
		}
	}
	return true
}
