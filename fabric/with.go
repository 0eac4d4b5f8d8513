// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"example.org/ibconsole/mad"
)

// With returns the fabric without the links in the argument gone, and with additional nodes and links. Existing nodes
// and ports keep their indexes. New nodes are appended, and links use the new indexes. Switch indexes are recomputed.
//
// A node is given as to [Builder.AddNode]. Its ports get the properties of another node of the same type, and port p of
// an adapter gets the GUID of the node plus p. A link gets the properties of other links at its two nodes. With fails
// if a GUID or a port is already in use. O(ports log ports).
func (f *Fabric) With(gone []Link, nodes []Node, links []Link) (*Fabric, error) {
	b := Builder{f: *f.copy(), byGUID: maps.Clone(f.nodeGUID)}
	g := &b.f
	for _, l := range gone {
		for _, p := range [2]PortIndex{l.A, l.B} {
			g.Ports[p].Peer, g.Ports[p].State = None, mad.PortDown
		}
	}
	for _, n := range nodes {
		if err := b.addLike(n, f.example(n.Type)); err != nil {
			return nil, err
		}
	}
	for _, l := range links {
		p, q := &g.Ports[l.A], &g.Ports[l.B]
		if err := b.Connect(p.Node, int(p.Num), q.Node, int(q.Num)); err != nil {
			return nil, err
		}
		g.train(l)
	}
	g.nodeGUID = b.byGUID
	if err := g.index(); err != nil {
		return nil, err
	}
	return g, nil
}

// example returns the first node of a type, None if the fabric has none.
func (f *Fabric) example(kind mad.NodeType) NodeIndex {
	return NodeIndex(slices.IndexFunc(f.Nodes, func(n Node) bool { return n.Type == kind }))
}

// addLike adds a node. Its ports get the properties of the ports of a similar node (argument like), unless this
// argument is None.
func (b *Builder) addLike(n Node, like NodeIndex) error {
	n.SystemGUID = cmp.Or(n.SystemGUID, n.GUID)
	if like != None {
		old := &b.f.Nodes[like]
		n.VendorID, n.DeviceID, n.EnhancedPort0 = old.VendorID, old.DeviceID, old.EnhancedPort0
		n.Revision, n.NoRevision = old.Revision, old.NoRevision
	}
	i, err := b.AddNode(n)
	if err != nil {
		return err
	}
	f := &b.f
	for num := range PortIndex(n.NumPorts) + 1 {
		p := &f.Ports[f.Nodes[i].FirstPort+num]
		if !n.IsSwitch() && num > 0 {
			p.GUID = n.GUID + uint64(num)
		}
		if num > 0 {
			p.State = mad.PortDown
		}
		if like == None {
			continue
		}
		old := f.Ports[f.Nodes[like].FirstPort+min(num, PortIndex(f.Nodes[like].NumPorts))]
		p.CapMask, p.VLCap, p.OperVLs, p.MTU = old.CapMask, old.VLCap, old.OperVLs, old.MTU
		if num == 0 {
			p.State, p.Width, p.Speed = old.State, old.Width, old.Speed
		}
	}
	return nil
}

// train sets the width, speed, MTU and VLs of a new link. It uses the smaller values of two other links, one at each
// node. The link is Active if both ends have a LID, as after a sweep of the subnet manager.
func (f *Fabric) train(l Link) {
	a, b := f.linkLike(l.A), f.linkLike(l.B)
	least := func(x, y uint8) uint8 {
		if x == 0 || y == 0 {
			return max(x, y)
		}
		return min(x, y)
	}
	state := mad.PortInit
	if f.Ports[f.EndPortOf(l.A)].LID != 0 && f.Ports[f.EndPortOf(l.B)].LID != 0 {
		state = mad.PortActive
	}
	for _, port := range [2]PortIndex{l.A, l.B} {
		p := &f.Ports[port]
		p.State = state
		p.Width = Width(least(uint8(a.Width), uint8(b.Width)))
		p.Speed = Speed(least(uint8(a.Speed), uint8(b.Speed)))
		p.MTU, p.OperVLs = least(a.MTU, b.MTU), least(a.OperVLs, b.OperVLs)
		if own := f.linkLike(port); p.VLCap == 0 {
			p.VLCap = own.VLCap
		}
	}
}

// linkLike returns another linked port of the same node. It returns a zero Port if there is none.
func (f *Fabric) linkLike(port PortIndex) Port {
	for p := range f.Nodes[f.Ports[port].Node].Ports() {
		if p != port && f.Ports[p].Linked() && f.Ports[p].Width != 0 {
			return f.Ports[p]
		}
	}
	return Port{}
}

// WithLIDsOf returns f with LIDs for those ports that have none. They get the LID and LMC that they have in another
// state of the subnet, unless another port of f has one of these LIDs. O(ports).
func (f *Fabric) WithLIDsOf(was *Fabric) (*Fabric, error) {
	g := f.copy()
	for _, e := range f.EndPorts {
		p := &g.Ports[e]
		o := was.PortByGUID(p.GUID)
		if p.LID != 0 || o == None || was.Ports[o].LID == 0 {
			continue
		}
		lids := was.Ports[o].LIDRange()
		if int(lids.Min) < len(f.lidPort) &&
			slices.ContainsFunc(f.lidPort[lids.Min:min(int(lids.Max)+1, len(f.lidPort))], func(x PortIndex) bool {
				return x != None
			}) {
			continue
		}
		p.LID, p.LMC = lids.Min, was.Ports[o].LMC
	}
	if g.SMPort != None {
		sm := g.Ports[g.EndPortOf(g.SMPort)].LID
		for _, e := range g.EndPorts {
			g.Ports[e].SMLID = cmp.Or(g.Ports[e].SMLID, sm)
		}
	}
	if err := g.finish(); err != nil {
		return nil, fmt.Errorf("keep LIDs: %w", err)
	}
	return g, nil
}
