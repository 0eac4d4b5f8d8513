// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"maps"
	"slices"
)

// WithSMPort returns the fabric with port as the subnet manager's port.
func (f *Fabric) WithSMPort(port PortIndex) (*Fabric, error) {
	g := f.copy()
	g.SMPort = port
	return g, g.finish()
}

// WithLIDs returns the fabric with lids[i] as the base LID of f.EndPorts[i]. It fails if two ports have the same LID.
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
	g.whole, g.removed = nil, nil
	return &g
}

// Same reports whether two fabrics have the same nodes, ports, links and LIDs under the same indexes. If a port has no
// LID in one of the fabrics, its LID is not compared. O(ports).
func Same(f, g *Fabric) bool {
	if f == g {
		return true
	}
	if links, ok := Removed(f, g); ok {
		return !f.anyUp(links)
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

// SameLinks is like [Same], but does not compare LIDs.
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

// SameNodes reports whether both fabrics have the same nodes and ports under the same indexes.
func SameNodes(f, g *Fabric) bool {
	return slices.EqualFunc(f.Nodes, g.Nodes, func(a, b Node) bool {
		return a.GUID == b.GUID && a.FirstPort == b.FirstPort && a.NumPorts == b.NumPorts
	})
}

// SameLIDs reports whether the end ports of two fabrics have the same LIDs and LMCs. The fabrics must have the same
// indexes. O(end ports).
func SameLIDs(f, g *Fabric) bool {
	for _, e := range f.EndPorts {
		if f.Ports[e].LID != g.Ports[e].LID || f.Ports[e].LMC != g.Ports[e].LMC {
			return false
		}
	}
	return len(f.EndPorts) == len(g.EndPorts)
}

// KeepsLIDs reports whether every end port of g has the LID and the LMC that the port with the same index has in f.
// O(end ports).
func KeepsLIDs(f, g *Fabric) bool {
	return !slices.ContainsFunc(g.EndPorts, func(e PortIndex) bool {
		return f.Ports[e].LID != g.Ports[e].LID || f.Ports[e].LMC != g.Ports[e].LMC
	})
}

// KeepsLIDsByGUID reports whether every end port of g that also exists in f has the same LID and LMC in f. It matches
// ports by port GUID. O(end ports).
func KeepsLIDsByGUID(f, g *Fabric) bool {
	return !slices.ContainsFunc(g.EndPorts, func(e PortIndex) bool {
		p := &g.Ports[e]
		was := f.PortByGUID(p.GUID)
		return was != None && (f.Ports[was].LID != p.LID || f.Ports[was].LMC != p.LMC)
	})
}

// Masked returns the fabric with other GUIDs and node descriptions. The function guid must keep the order of [LEKey],
// so that the indexes stay, and must not return one value twice. It is not called for 0. O(nodes + ports).
func (f *Fabric) Masked(guid func(uint64) uint64, desc func(*Node) string) *Fabric {
	other := func(g uint64) uint64 {
		if g != 0 {
			g = guid(g)
		}
		return g
	}
	g := f.copy()
	g.whole, g.removed = nil, nil
	g.nodeNames = make(map[string][]NodeIndex, len(g.Nodes))
	g.nodeGUID, g.portGUID = make(map[uint64]NodeIndex, len(g.Nodes)), make(map[uint64]PortIndex, len(f.portGUID))
	for i := range g.NumNodes() {
		n := &g.Nodes[i]
		n.GUID, n.SystemGUID, n.Desc = other(n.GUID), other(n.SystemGUID), desc(n)
		g.nodeGUID[n.GUID] = i
		g.nodeNames[n.Desc] = append(g.nodeNames[n.Desc], i)
	}
	for i := range g.Ports {
		g.Ports[i].GUID = other(g.Ports[i].GUID)
	}
	for was, p := range f.portGUID {
		g.portGUID[other(was)] = p
	}
	return g
}

// WithDescriptions returns the fabric with new node descriptions. The map has the description by node GUID. Other nodes
// keep their descriptions. O(nodes).
func (f *Fabric) WithDescriptions(desc map[uint64]string) *Fabric {
	g := f.copy()
	g.nodeNames = make(map[string][]NodeIndex, len(g.Nodes))
	for i := range g.NumNodes() {
		n := &g.Nodes[i]
		if d, ok := desc[n.GUID]; ok {
			n.Desc = d
		}
		g.nodeNames[n.Desc] = append(g.nodeNames[n.Desc], i)
	}
	return g
}
