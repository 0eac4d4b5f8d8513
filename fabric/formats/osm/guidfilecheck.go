// SPDX-License-Identifier: Apache-2.0

package osm

import (
	"fmt"

	"example.org/ibconsole/fabric"
)

// Check returns a note for each line that has no effect on this subnet: its GUID is absent or of the wrong type, its
// switch does not have the port, or an earlier line overrides it. Faults of the lines themselves are in Notes and are
// returned by the parsers of the kinds. O(lines).
func (f *GUIDFile) Check(net *fabric.Fabric, kind GUIDFileKind) []FileNote {
	c := guidFileCheck{net: net, kind: kind, seen: map[uint64]int{}}
	var notes []FileNote
	for _, l := range f.Lines {
		fault := c.wrongGUID(l.GUID)
		if fault == "" {
			fault = c.withoutEffect(l)
		}
		if fault != "" {
			notes = append(notes, f.lineNote(l, "%s; OpenSM skips the line", fault))
		}
	}
	return notes
}

type guidFileCheck struct {
	net  *fabric.Fabric
	kind GUIDFileKind
	// seen maps a GUID to its line, if only the first line of a GUID counts.
	seen map[uint64]int
}

// wrongGUID returns the reason why a GUID does not fit the option, "" if it fits.
func (c *guidFileCheck) wrongGUID(guid uint64) string {
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

// withoutEffect returns the reason why a line with a valid GUID has no effect, "" if it has one. Faults of its numbers
// are noted where they are parsed.
func (c *guidFileCheck) withoutEffect(l GUIDLine) string {
	if at := c.seen[l.GUID]; at > 0 {
		return fmt.Sprintf("0x%016x is already on line %d", l.GUID, at)
	}
	var ports []uint8
	switch c.kind {
	case IgnoredPorts, HopWeights:
		if port, _, fault := l.port(); fault == "" {
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
