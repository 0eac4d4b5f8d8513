// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"maps"
	"math/bits"
	"slices"
)

// MaxUnicastLID is the highest unicast LID (IBA 1.2.1, 4.1.3).
const MaxUnicastLID = 0xBFFF

// permissiveLID is the LID that a port without a LID may report (IBA 1.2.1, 4.1.3).
const permissiveLID = 0xFFFF

// AssignedLID returns the LID that a port reports, 0 if the port reports that it has no LID.
func AssignedLID(reported uint64) uint64 {
	if reported == permissiveLID {
		return 0
	}
	return reported
}

// Fabric is one subnet. All slices are read-only.
//
// The port slots of a node are adjacent: Ports[n.FirstPort+p] is port p of node n, for p from 0 to n.NumPorts. Slot 0
// is the management port of a switch and is unused on other nodes.
type Fabric struct {
	Nodes []Node
	Ports []Port

	// Switches maps a switch index to its node. The switches are sorted by the [LEKey] of the node GUID. OpenSM walks
	// its tables in the same order.
	Switches []NodeIndex

	// EndPorts lists the end ports that belong to the subnet: port 0 of switches, and every linked port of the other
	// nodes. An end port has its own port GUID. The list is sorted by the LEKey of the port GUID.
	EndPorts []PortIndex

	// Unreachable lists the end ports that failures have separated from the subnet, in the order of EndPorts. The
	// fabric had these ports before [Fabric.Without] removed links. Fabrics derived from this fabric keep the list, so
	// that counts of end ports and pairs remain those of the fabric without failures.
	Unreachable []PortIndex

	SMPort PortIndex // the port of the subnet manager, or of this program; None if unknown

	GIDPrefix uint64 // of the GIDs of all ports, 0 if it is unknown

	MaxLID uint16 // the highest LID in the subnet, 0 if no LID is assigned

	lidPort   []PortIndex
	nodeGUID  map[uint64]NodeIndex
	portGUID  map[uint64]PortIndex
	nodeNames map[string][]NodeIndex
	labels    map[PortIndex]string

	// whole is the fabric from which [Fabric.Without] made this fabric, nil for any other fabric. removed lists the
	// links that Without removed.
	whole   *Fabric
	removed []Link
}

// LEKey returns the GUID with its bytes reversed. OpenSM on a little-endian machine uses GUIDs in network byte order as
// keys of its tables, so it iterates over them in the order of LEKey.
func LEKey(guid uint64) uint64 { return bits.ReverseBytes64(guid) }

// Port returns the index of port num of a node. Port does not check num.
func (f *Fabric) Port(node NodeIndex, num uint8) PortIndex {
	return f.Nodes[node].FirstPort + PortIndex(num)
}

// PortAt returns the index of port num of a node, or None if the node has no such port.
func (f *Fabric) PortAt(node NodeIndex, num int) PortIndex {
	n := &f.Nodes[node]
	if num < 0 || num > int(n.NumPorts) || (num == 0 && !n.IsSwitch()) {
		return None
	}
	return n.FirstPort + PortIndex(num)
}

// PortByLID returns the end port that has the LID, or None. The LID may be any LID of the port's LMC range.
func (f *Fabric) PortByLID(lid uint16) PortIndex {
	if int(lid) >= len(f.lidPort) {
		return None
	}
	return f.lidPort[lid]
}

// LIDOf returns the base LID of an end port, or 0 if the port has no LID. An unreachable end port also counts as having
// no LID if another port has taken one of its LIDs.
func (f *Fabric) LIDOf(port PortIndex) uint16 {
	p := &f.Ports[port]
	for i := range uint16(1) << p.LMC {
		if owner := f.PortByLID(p.LID + i); owner != None && owner != port {
			return 0
		}
	}
	return p.LID
}

// NodeByGUID returns the node with this node GUID, or None.
func (f *Fabric) NodeByGUID(guid uint64) NodeIndex { return lookup(f.nodeGUID, guid) }

// PortByGUID returns the end port with this port GUID, or None. The end port of a switch is port 0.
func (f *Fabric) PortByGUID(guid uint64) PortIndex { return lookup(f.portGUID, guid) }

// NodesByDescription returns the nodes with exactly this node description.
func (f *Fabric) NodesByDescription(desc string) []NodeIndex { return f.nodeNames[desc] }

// SwitchByGUID returns the switch index for a node GUID, or None.
func (f *Fabric) SwitchByGUID(guid uint64) SwitchIndex {
	n := f.NodeByGUID(guid)
	if n == None {
		return None
	}
	return f.Nodes[n].Switch
}

// NumNodes returns the number of nodes. Ranging over it yields their indexes.
func (f *Fabric) NumNodes() NodeIndex { return NodeIndex(len(f.Nodes)) }

// NumPorts returns the number of port slots. Ranging over it yields their indexes.
func (f *Fabric) NumPorts() PortIndex { return PortIndex(len(f.Ports)) }

// NumSwitches returns the number of switches. Ranging over it yields their indexes.
func (f *Fabric) NumSwitches() SwitchIndex { return SwitchIndex(len(f.Switches)) }

// SwitchNode returns the node of a switch index.
func (f *Fabric) SwitchNode(sw SwitchIndex) *Node { return &f.Nodes[f.Switches[sw]] }

// MaxLMC returns the highest LMC of an end port.
func (f *Fabric) MaxLMC() uint8 {
	most := uint8(0)
	for _, e := range f.EndPorts {
		most = max(most, f.Ports[e].LMC)
	}
	return most
}

// SwitchLID returns the LID of port 0 of a switch, or 0 if port 0 has no LID.
func (f *Fabric) SwitchLID(sw SwitchIndex) uint16 { return f.Ports[f.SwitchNode(sw).FirstPort].LID }

// PeerNode returns the node at the other end of a port's link, or None.
func (f *Fabric) PeerNode(port PortIndex) NodeIndex {
	p := f.Ports[port].Peer
	if p == None {
		return None
	}
	return f.Ports[p].Node
}

// PeerSwitch returns the switch at the other end of a port's link. It returns None if the port has no link or the other
// end is not a switch.
func (f *Fabric) PeerSwitch(port PortIndex) SwitchIndex {
	n := f.PeerNode(port)
	if n == None {
		return None
	}
	return f.Nodes[n].Switch
}

// AttachedSwitch returns the switch to which an end port belongs or is attached. It also returns the number of the
// switch port that leads to the end port, 0 if the end port is the switch's own. It returns None if the end port is not
// linked, or is linked to another host.
func (f *Fabric) AttachedSwitch(endPort PortIndex) (sw SwitchIndex, port uint8) {
	p := &f.Ports[endPort]
	if s := f.Nodes[p.Node].Switch; s != None {
		return s, 0
	}
	if p.Peer == None {
		return None, 0
	}
	peer := &f.Ports[p.Peer]
	return f.Nodes[peer.Node].Switch, peer.Num
}

// Ends returns the end ports over which pairs and paths are counted, separately for those in the subnet and those that
// are unreachable. Port 0 of switches is included only if the argument switches is set.
func (f *Fabric) Ends(switches bool) (reachable, unreachable []PortIndex) {
	counted := func(ends []PortIndex) []PortIndex {
		if switches {
			return slices.Clone(ends)
		}
		return slices.DeleteFunc(slices.Clone(ends), func(e PortIndex) bool {
			return f.Nodes[f.Ports[e].Node].IsSwitch()
		})
	}
	return counted(f.EndPorts), counted(f.Unreachable)
}

// Reachable reports whether an end port is in the subnet.
func (f *Fabric) Reachable(endPort PortIndex) bool {
	return f.PortByGUID(f.Ports[endPort].GUID) == endPort
}

// Label returns the label that is printed at a port, such as "1/16/1" (ASIC, cage, port), or "" if it is unknown. It is
// not escaped.
func (f *Fabric) Label(port PortIndex) string { return f.labels[port] }

// WithLabels returns the same fabric with labels of ports. Ports that have a label keep it.
func (f *Fabric) WithLabels(labels map[PortIndex]string) *Fabric {
	out := *f
	out.labels = maps.Clone(labels)
	maps.Copy(out.labels, f.labels)
	return &out
}

// EndPortOf returns the end port to which a port belongs: port 0 for a port of a switch, and the port itself on other
// nodes.
func (f *Fabric) EndPortOf(port PortIndex) PortIndex {
	n := &f.Nodes[f.Ports[port].Node]
	if n.IsSwitch() {
		return n.FirstPort
	}
	return port
}

func lookup[I ~int32](m map[uint64]I, k uint64) I {
	if i, ok := m[k]; ok {
		return i
	}
	return None
}

// NodeIndex identifies a node of a fabric. It is an index into [Fabric.Nodes], or None.
type NodeIndex int32

// PortIndex identifies a port of a fabric. It is an index into [Fabric.Ports], or None.
type PortIndex int32

// SwitchIndex identifies a switch of a fabric. It is an index into [Fabric.Switches] and the row of the switch in
// tables, or None.
type SwitchIndex int32

// None is the index that stands for no node, no port or no switch.
const None = -1
