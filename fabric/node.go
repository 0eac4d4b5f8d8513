// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"fmt"
	"iter"
	"strconv"

	"example.org/ibconsole/internal/base/plain"
	"example.org/ibconsole/mad"
)

// Node is a switch, a channel adapter or a router.
type Node struct {
	GUID          uint64
	SystemGUID    uint64
	Desc          string // the node description as it was read, not escaped: see [Escape]
	FirstPort     PortIndex
	Switch        SwitchIndex // the switch index, None for other nodes
	VendorID      uint32
	Revision      uint32 // see NoRevision
	DeviceID      uint16
	Type          mad.NodeType
	NumPorts      uint8
	EnhancedPort0 bool // port 0 of a switch is an enhanced port 0 (IBA 1.2.1, 18.2.4.1)
	NoRevision    bool // the source states no revision: Revision is 0, or ibsim's in a topology file
	InSubnet      bool // links lead from the SM's port to this node
}

// Port is a port of a node, including port 0 of a switch.
type Port struct {
	GUID    uint64    // the port GUID; all ports of a switch have that of port 0
	Node    NodeIndex // the node of the port
	Peer    PortIndex // the port at the other end of the link, None if the link is down
	LID     uint16
	SMLID   uint16
	CapMask uint32 // the capability mask of PortInfo (IBA 1.2.1, 14.2.5.6)
	Num     uint8
	LMC     uint8
	State   mad.PortState
	Width   Width
	Speed   Speed
	// MTU, VLCap and OperVLs hold the codes from PortInfo, 0 if they are unknown.
	MTU     uint8
	VLCap   uint8
	OperVLs uint8
}

// Linked reports whether the port has a peer.
func (p *Port) Linked() bool { return p.Peer != None }

// IsSwitch reports whether the node is a switch.
func (n *Node) IsSwitch() bool { return n.Type == mad.NodeSwitch }

// Ports yields the node's ports from 1 to NumPorts.
func (n *Node) Ports() iter.Seq[PortIndex] { return upTo(n.FirstPort+1, n.lastPort()) }

// Slots yields the node's port slots: slot 0, then [Node.Ports].
func (n *Node) Slots() iter.Seq[PortIndex] { return upTo(n.FirstPort, n.lastPort()) }

func (n *Node) lastPort() PortIndex { return n.FirstPort + PortIndex(n.NumPorts) }

// LinkedPorts returns the number of a node's ports that have a link.
func (f *Fabric) LinkedPorts(n *Node) int {
	linked := 0
	for p := range n.Ports() {
		if f.Ports[p].Linked() {
			linked++
		}
	}
	return linked
}

func upTo(first, last PortIndex) iter.Seq[PortIndex] {
	return func(yield func(PortIndex) bool) {
		for p := first; p <= last; p++ {
			if !yield(p) {
				return
			}
		}
	}
}

// LIDRange returns the LIDs of an end port. The port must have a LID.
func (p *Port) LIDRange() LIDRange { return LIDRange{Min: p.LID, Max: p.LID | (1<<p.LMC - 1)} }

// Escape makes text from the subnet safe for display in one line, see [plain.Escape].
func Escape(s string) string { return plain.Escape(s) }

// NodeName returns the escaped description of a node, or its GUID if the description is empty. If several nodes have
// the description, the name is "DESCRIPTION (0x0002c90300a1b2c3)", with the node GUID: no two nodes have the same name.
func (f *Fabric) NodeName(node NodeIndex) string {
	n := &f.Nodes[node]
	if n.Desc == "" {
		return fmt.Sprintf("0x%016x", n.GUID)
	}
	if f.IsShared(node) {
		return fmt.Sprintf("%s (0x%016x)", Escape(n.Desc), n.GUID)
	}
	return Escape(n.Desc)
}

// IsShared reports whether several nodes have the description of a node.
func (f *Fabric) IsShared(node NodeIndex) bool {
	desc := f.Nodes[node].Desc
	return desc != "" && len(f.nodeNames[desc]) > 1
}

// PortName returns the escaped name of a port in the form "NAME/3", or "NAME/3 (LABEL)" if its label is known.
func (f *Fabric) PortName(port PortIndex) string {
	return f.NodeName(f.Ports[port].Node) + "/" + f.PortNumber(port)
}

// PortNumber returns the number of a port, and its escaped label if it is known, in the form "3" or "3 (LABEL)".
func (f *Fabric) PortNumber(port PortIndex) string {
	number := strconv.Itoa(int(f.Ports[port].Num))
	if label := f.Label(port); label != "" {
		return number + " (" + Escape(label) + ")"
	}
	return number
}
