// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// Builder collects nodes and links, and makes a [Fabric] of them. The zero value is ready for use. A method returns an
// error for input that contradicts earlier input, so that a file reader can report the line.
type Builder struct {
	f      Fabric
	byGUID map[uint64]NodeIndex
}

// Grow reserves memory for a number of nodes and a number of ports. The ports include port 0 of each node.
func (b *Builder) Grow(nodes, ports int) {
	b.f.Nodes = slices.Grow(b.f.Nodes, nodes)
	b.f.Ports = slices.Grow(b.f.Ports, ports)
	if b.byGUID == nil {
		b.byGUID = make(map[uint64]NodeIndex, nodes)
	}
}

// AddNode adds a node with its ports and returns the index of the node. It sets FirstPort, Switch and InSubnet. The new
// ports have no link, LID or GUID, except that the ports of a switch get the node GUID.
func (b *Builder) AddNode(n Node) (NodeIndex, error) {
	if n.GUID == 0 {
		return None, errors.New("node GUID 0")
	}
	if n.NumPorts == 0 || n.NumPorts == 255 {
		return None, fmt.Errorf("node 0x%016x has %d ports, expected 1 to 254", n.GUID, n.NumPorts)
	}
	if old, ok := b.byGUID[n.GUID]; ok {
		return None, fmt.Errorf("node GUID 0x%016x is already that of %s", n.GUID, Escape(b.f.Nodes[old].Desc))
	}
	if b.byGUID == nil {
		b.byGUID = map[uint64]NodeIndex{}
	}
	i := NodeIndex(len(b.f.Nodes))
	b.byGUID[n.GUID] = i
	n.FirstPort, n.Switch, n.InSubnet = PortIndex(len(b.f.Ports)), None, false
	b.f.Nodes = append(b.f.Nodes, n)
	for p := 0; p <= int(n.NumPorts); p++ {
		port := Port{Node: i, Num: uint8(p), Peer: None}
		if n.IsSwitch() {
			port.GUID = n.GUID
		}
		b.f.Ports = append(b.f.Ports, port)
	}
	return i, nil
}

// Port returns port num of an added node, or nil if the node has no such port. The caller may change the port, but must
// set Peer with [Builder.Connect].
func (b *Builder) Port(node NodeIndex, num int) *Port {
	if i := b.f.PortAt(node, num); i != None {
		return &b.f.Ports[i]
	}
	return nil
}

// SetLabel sets the label of port num of an added node, see [Fabric.Label]. It reports whether the node has the port.
func (b *Builder) SetLabel(node NodeIndex, num int, label string) bool {
	i := b.f.PortAt(node, num)
	if i == None {
		return false
	}
	if b.f.labels == nil {
		b.f.labels = map[PortIndex]string{}
	}
	b.f.labels[i] = label
	return true
}

// SetGIDPrefix sets the GID prefix of the subnet that a port has. The first prefix that is not 0 is kept.
func (b *Builder) SetGIDPrefix(prefix uint64) { b.f.GIDPrefix = cmp.Or(b.f.GIDPrefix, prefix) }

// NodeByGUID returns the added node with this node GUID, or None.
func (b *Builder) NodeByGUID(guid uint64) NodeIndex { return lookup(b.byGUID, guid) }

// Node returns an added node. The caller may change the node.
func (b *Builder) Node(node NodeIndex) *Node { return &b.f.Nodes[node] }

// Connect links two ports. Linking the same two ports again has no effect.
func (b *Builder) Connect(nodeA NodeIndex, portA int, nodeB NodeIndex, portB int) error {
	pa, pb := b.Port(nodeA, portA), b.Port(nodeB, portB)
	switch {
	case pa == nil || portA == 0:
		return fmt.Errorf("%s has no port %d", Escape(b.f.Nodes[nodeA].Desc), portA)
	case pb == nil || portB == 0:
		return fmt.Errorf("%s has no port %d", Escape(b.f.Nodes[nodeB].Desc), portB)
	}
	ia, ib := b.f.Port(nodeA, uint8(portA)), b.f.Port(nodeB, uint8(portB))
	if ia == ib {
		return fmt.Errorf("port %d of %s is linked to itself", portA, Escape(b.f.Nodes[nodeA].Desc))
	}
	if (pa.Peer != None && pa.Peer != ib) || (pb.Peer != None && pb.Peer != ia) {
		taken := ia
		if pa.Peer == None || pa.Peer == ib {
			taken = ib
		}
		other := b.f.Ports[taken].Peer
		return fmt.Errorf("%s is already linked to %s", b.f.PortName(taken), b.f.PortName(other))
	}
	pa.Peer, pb.Peer = ib, ia
	return nil
}

// SetSMPort sets the port of the subnet manager. Build follows links from this port to find the nodes of the subnet.
func (b *Builder) SetSMPort(node NodeIndex, port int) error {
	if b.Port(node, port) == nil {
		return fmt.Errorf("%s has no port %d", Escape(b.f.Nodes[node].Desc), port)
	}
	b.f.SMPort = b.f.Port(node, uint8(port)) + 1
	return nil
}

// SetUnreachable sets the end ports that failures have separated from the subnet, see [Fabric.Unreachable]. Build
// removes those ports from the list that are still reachable.
func (b *Builder) SetUnreachable(ports []PortIndex) error {
	for _, p := range ports {
		if p < 0 || int(p) >= len(b.f.Ports) || b.f.EndPortOf(p) != p || b.f.Ports[p].Num == 0 &&
			!b.f.Nodes[b.f.Ports[p].Node].IsSwitch() {
			return fmt.Errorf("port %d is no end port", p)
		}
	}
	b.f.Unreachable = slices.Clone(ports)
	return nil
}

// PortClaim is a kind of identifier that two ports of a subnet must not share.
type PortClaim uint8

// The identifiers that two ports may have.
const (
	ClaimsNothing PortClaim = iota
	ClaimsGUID
	ClaimsLID
)

// PortError reports a port whose GUID or LIDs conflict with the rest of the fabric. Claim is the identifier that
// another port also has.
type PortError struct {
	Node  NodeIndex
	Num   uint8
	Claim PortClaim
	Msg   string
}

func (e *PortError) Error() string { return e.Msg }

func (f *Fabric) portError(port PortIndex, claim PortClaim, msg string) error {
	p := &f.Ports[port]
	return &PortError{Node: p.Node, Num: p.Num, Claim: claim, Msg: msg}
}

func (f *Fabric) sameGUID(guid uint64, first, second PortIndex) string {
	return fmt.Sprintf("port GUID 0x%016x belongs to both %s and %s", guid, f.PortName(first), f.PortName(second))
}

func (f *Fabric) sameLID(lid uint16, first, second PortIndex) string {
	return fmt.Sprintf("LID %d belongs to both %s and %s", lid, f.PortName(first), f.PortName(second))
}

// lidFault returns the reason why the LIDs of a port are invalid, "" if they are valid.
func (f *Fabric) lidFault(port PortIndex) string {
	p := &f.Ports[port]
	switch last := p.LID | (1<<p.LMC - 1); {
	case last > MaxUnicastLID:
		return fmt.Sprintf("LID %d of %s is above the highest unicast LID %d", last, f.PortName(port), MaxUnicastLID)
	case p.LID&(1<<p.LMC-1) != 0:
		return fmt.Sprintf("LID %d of %s with LMC %d is no multiple of %d", p.LID, f.PortName(port), p.LMC, 1<<p.LMC)
	}
	return ""
}

// Build makes the fabric. Without a call of [Builder.SetSMPort], the SM's port is port 0 of the first node if that node
// is a switch, otherwise the first linked port of that node.
//
// Build returns a [PortError] if two ports of the subnet have the same LID or port GUID, if a LID is not a unicast LID,
// or if a LID does not fit its LMC. The builder must not be used afterwards. O(ports log ports).
func (b *Builder) Build() (*Fabric, error) {
	f := new(Fabric) // a copy: a pointer into the builder would keep the reader that contains it in memory
	*f = b.f
	f.SMPort = b.smPort()
	f.nodeGUID = b.byGUID
	if err := f.index(); err != nil {
		return nil, err
	}
	return f, nil
}

// index computes the names of nodes and the order of switches, then calls [Fabric.finish].
func (f *Fabric) index() error {
	f.nodeNames = make(map[string][]NodeIndex, len(f.Nodes))
	f.Switches = nil
	for i := range f.NumNodes() {
		n := &f.Nodes[i]
		f.nodeNames[n.Desc] = append(f.nodeNames[n.Desc], i)
		if n.IsSwitch() {
			f.Switches = append(f.Switches, i)
		}
	}
	slices.SortFunc(f.Switches, func(x, y NodeIndex) int {
		return cmp.Compare(LEKey(f.Nodes[x].GUID), LEKey(f.Nodes[y].GUID))
	})
	for s, n := range f.Switches {
		f.Nodes[n].Switch = SwitchIndex(s)
	}
	return f.finish()
}

// smPort returns the port set by SetSMPort, or the default that [Builder.Build] describes.
func (b *Builder) smPort() PortIndex {
	if b.f.SMPort > 0 {
		return b.f.SMPort - 1
	}
	return b.f.firstPort()
}

func (f *Fabric) firstPort() PortIndex {
	if len(f.Nodes) == 0 {
		return None
	}
	n := &f.Nodes[0]
	if n.IsSwitch() {
		return n.FirstPort
	}
	for p := range n.Ports() {
		if f.Ports[p].Linked() {
			return p
		}
	}
	return n.FirstPort + 1
}

// finish computes all fields that depend on the nodes, the links, the LIDs and the SM's port.
func (f *Fabric) finish() error {
	f.EndPorts = f.reach()
	f.sortEnds(f.EndPorts)
	f.portGUID = make(map[uint64]PortIndex, len(f.EndPorts))
	f.MaxLID = 0
	for _, e := range f.EndPorts {
		p := &f.Ports[e]
		if old, ok := f.portGUID[p.GUID]; ok {
			return f.portError(e, ClaimsGUID, f.sameGUID(p.GUID, old, e))
		}
		f.portGUID[p.GUID] = e
		if p.LID != 0 {
			f.MaxLID = max(f.MaxLID, p.LID|(1<<p.LMC-1))
		}
	}
	f.Unreachable = slices.DeleteFunc(slices.Clone(f.Unreachable), f.Reachable)
	f.sortEnds(f.Unreachable)
	f.Unreachable = slices.Compact(f.Unreachable)
	f.lidPort = slices.Repeat([]PortIndex{None}, int(f.MaxLID)+1)
	return f.mapLIDs()
}

// sortEnds sorts end ports into the order of [Fabric.EndPorts].
func (f *Fabric) sortEnds(ends []PortIndex) {
	slices.SortFunc(ends, func(x, y PortIndex) int {
		return cmp.Compare(LEKey(f.Ports[x].GUID), LEKey(f.Ports[y].GUID))
	})
}

func (f *Fabric) mapLIDs() error {
	for _, e := range f.EndPorts {
		p := &f.Ports[e]
		if p.LID == 0 {
			continue
		}
		if fault := f.lidFault(e); fault != "" {
			return f.portError(e, ClaimsNothing, fault)
		}
		for i := range uint16(1) << p.LMC {
			lid := p.LID + i
			if old := f.lidPort[lid]; old != None {
				return f.portError(e, ClaimsLID, f.sameLID(lid, old, e))
			}
			f.lidPort[lid] = e
		}
	}
	return nil
}

// reach follows links from the SM's port through switches. It marks the nodes that it finds as InSubnet and returns
// their end ports. Like a subnet manager, it does not follow links through channel adapters and routers.
func (f *Fabric) reach() []PortIndex {
	for i := range f.Nodes {
		f.Nodes[i].InSubnet = false
	}
	if f.SMPort == None {
		return nil
	}
	var ends []PortIndex
	var queue []NodeIndex
	seen := make([]bool, len(f.Ports))
	visit := func(port PortIndex) {
		e := f.EndPortOf(port)
		if seen[e] {
			return
		}
		seen[e] = true
		n := &f.Nodes[f.Ports[e].Node]
		n.InSubnet = true
		ends = append(ends, e)
		if n.IsSwitch() {
			queue = append(queue, f.Ports[e].Node)
		}
	}
	visit(f.SMPort)
	if peer := f.Ports[f.SMPort].Peer; peer != None {
		visit(peer)
	}
	for len(queue) > 0 {
		n := &f.Nodes[queue[0]]
		queue = queue[1:]
		for p := range n.Ports() {
			if peer := f.Ports[p].Peer; peer != None {
				visit(peer)
			}
		}
	}
	return ends
}
