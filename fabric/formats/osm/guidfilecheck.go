// SPDX-License-Identifier: Apache-2.0

package osm

import (
	"fmt"

	"example.org/ibconsole/fabric"
)

// Check says which lines of a file are for nothing on this subnet, and why: GUIDs that it does not have, or that
// are of another kind than the option takes, ports that a switch does not have, and lines that come too late.
// What is wrong with the lines themselves is in Notes and in what the readers of the kinds note. O(lines).
func (f *GUIDFile) Check(net *fabric.Fabric, kind GUIDFileKind) []FileNote {
	c := guidFileCheck{net: net, kind: kind, seen: map[uint64]int{}}
	var notes []FileNote
	for _, l := range f.Lines {
		why := c.stranger(l.GUID)
		if why == "" {
			why = c.useless(l)
		}
		if why != "" {
			notes = append(notes, f.lineNote(l, "%s; OpenSM passes over the line", why))
		}
	}
	return notes
}

type guidFileCheck struct {
	net  *fabric.Fabric
	kind GUIDFileKind
	// seen are the lines of GUIDs that count once.
	seen map[uint64]int
}

// stranger says why a GUID is none that the option takes.
func (c *guidFileCheck) stranger(guid uint64) string {
	node, port := c.net.NodeByGUID(guid), c.net.PortByGUID(guid)
	known := node != fabric.None && c.net.Nodes[node].InSubnet
	switch {
	case c.kind.OfPorts() && port != fabric.None:
		return ""
	case c.kind.OfPorts() && known:
		return fmt.Sprintf("0x%016x is the node GUID of %s, expected a port GUID", guid, c.net.NodeName(node))
	case !c.kind.OfPorts() && known && c.net.Nodes[node].IsSwitch():
		return ""
	case !c.kind.OfPorts() && known:
		return fmt.Sprintf("0x%016x is %s, expected the node GUID of a switch", guid, c.net.NodeName(node))
	case !c.kind.OfPorts() && port != fabric.None:
		return fmt.Sprintf("0x%016x is the port GUID of %s, expected the node GUID of a switch", guid,
			c.net.PortName(port))
	}
	return fmt.Sprintf("0x%016x is not in the subnet", guid)
}

// useless says why a line for a GUID of the right kind has no effect. What is
// wrong with its numbers is noted where they are read.
func (c *guidFileCheck) useless(l GUIDLine) string {
	if at := c.seen[l.GUID]; at > 0 {
		return fmt.Sprintf("0x%016x stands on line %d already", l.GUID, at)
	}
	var ports []uint8
	switch c.kind {
	case IgnoredPorts, HopWeights:
		if port, _, why := l.port(); why == "" {
			ports = append(ports, port)
		}
	case SearchOrder:
		ports, _ = l.order()
	}
	for _, p := range ports {
		if n := &c.net.Nodes[c.net.NodeByGUID(l.GUID)]; p > n.NumPorts {
			return fmt.Sprintf("%s has no port %d", fabric.Escape(n.Desc), p)
		}
	}
	if c.kind == RoutingOrder || (c.kind == SearchOrder && len(ports) > 0) {
		c.seen[l.GUID] = l.Line
	}
	return ""
}
