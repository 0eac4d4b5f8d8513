// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"maps"
	"slices"

	"example.org/ibconsole/mad"
)

// Without returns the fabric as it would be without these links. Indexes stay
// the same; nodes that are cut off from the SM's port are no longer InSubnet.
// Where the SM's port itself is cut off from every switch, the largest part that
// is left becomes the subnet, seen from port 0 of one of its switches. O(ports log ports).
func (f *Fabric) Without(links []Link) *Fabric {
	g := f.copy()
	for _, l := range links {
		for _, p := range [2]int32{l.A, l.B} {
			g.Ports[p].Peer = None
			g.Ports[p].State = mad.PortDown
		}
	}
	err := g.finish()
	if err == nil && !g.hasSwitch() {
		g.SMPort = g.largestPartOf(f)
		err = g.finish()
	}
	if err != nil {
		panic("fabric: a part of a consistent fabric is inconsistent: " + err.Error())
	}
	return g
}

// hasSwitch says whether a switch is in the subnet.
func (f *Fabric) hasSwitch() bool {
	for _, n := range f.Switches {
		if f.Nodes[n].InSubnet {
			return true
		}
	}
	return false
}

// largestPartOf returns port 0 of a switch in the part with the most end ports of
// what was the subnet of whole, the SM's port where there is no switch.
func (f *Fabric) largestPartOf(whole *Fabric) int32 {
	best, most := f.SMPort, 0
	seen := make([]bool, len(f.Nodes))
	part := *f
	part.Nodes = append([]Node(nil), f.Nodes...)
	for _, n := range f.Switches {
		if seen[n] || !whole.Nodes[n].InSubnet {
			continue
		}
		part.SMPort = f.Nodes[n].FirstPort
		ends := part.reach()
		for _, e := range ends {
			seen[f.Ports[e].Node] = true
		}
		if len(ends) > most {
			best, most = part.SMPort, len(ends)
		}
	}
	return best
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
	if !SameLinks(f, g) {
		return false
	}
	for i := range f.Ports {
		if p, q := f.Ports[i].LID, g.Ports[i].LID; p != q && p != 0 && q != 0 {
			return false
		}
	}
	return true
}

// SameLinks is [Same] whatever the LIDs are.
func SameLinks(f, g *Fabric) bool {
	if len(f.Nodes) != len(g.Nodes) || len(f.Ports) != len(g.Ports) || f.SMPort != g.SMPort {
		return false
	}
	for i := range f.Nodes {
		if f.Nodes[i].GUID != g.Nodes[i].GUID || f.Nodes[i].Type != g.Nodes[i].Type {
			return false
		}
	}
	for i := range f.Ports {
		if p, q := &f.Ports[i], &g.Ports[i]; p.GUID != q.GUID || p.Peer != q.Peer {
			return false
		}
	}
	return true
}

// SameLIDs says whether the end ports of two fabrics with the same indexes have
// the same LIDs and LMCs. O(end ports).
func SameLIDs(f, g *Fabric) bool {
	for _, e := range f.EndPorts {
		if f.Ports[e].LID != g.Ports[e].LID || f.Ports[e].LMC != g.Ports[e].LMC {
			return false
		}
	}
	return len(f.EndPorts) == len(g.EndPorts)
}
