// SPDX-License-Identifier: Apache-2.0

package osm

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// WriteSubnet writes the links of the subnet with the same bytes as OpenSM in opensm-subnet.lst (osm_dump.c,
// dump_topology_node). It writes a line for each end of the links that a subnet manager finds. The lines are sorted by
// [fabric.LEKey] of the node GUID. WriteSubnet keeps OpenSM's faults: the device ID of the far node is in the upper
// half of a 32-bit number, and speeds above HDR are "??".
//
// States and SM LIDs are those of the fabric. [fabric.Fabric.Activated] returns a fabric with the values that OpenSM
// sets. O(ports).
func WriteSubnet(w io.Writer, f *fabric.Fabric) error {
	b := bufio.NewWriterSize(w, 1<<16)
	s := subnetWriter{f: f}
	for _, n := range nodesLE(f) {
		first := f.Nodes[n].FirstPort
		for p := first + 1; p <= first+fabric.PortIndex(f.Nodes[n].NumPorts); p++ {
			if !f.Discovered(p) {
				continue
			}
			if _, err := b.Write(s.link(p)); err != nil {
				return fmt.Errorf("write subnet: %w", err)
			}
		}
	}
	return flush(b, "subnet")
}

// nodesLE returns the nodes of the subnet in the order of OpenSM's node table.
func nodesLE(f *fabric.Fabric) []fabric.NodeIndex {
	var nodes []fabric.NodeIndex
	for i := range f.NumNodes() {
		if f.Nodes[i].InSubnet {
			nodes = append(nodes, i)
		}
	}
	slices.SortFunc(nodes, func(x, y fabric.NodeIndex) int {
		return cmp.Compare(fabric.LEKey(f.Nodes[x].GUID), fabric.LEKey(f.Nodes[y].GUID))
	})
	return nodes
}

type subnetWriter struct {
	f    *fabric.Fabric
	line []byte
}

// link returns the line for one end of a link. The line is valid until the next call.
func (s *subnetWriter) link(port fabric.PortIndex) []byte {
	p := &s.f.Ports[port]
	peer := &s.f.Ports[p.Peer]
	b := s.end(s.line[:0], port, "%06X", uint32(s.f.Nodes[p.Node].DeviceID))
	b = s.end(b, p.Peer, "%08X", uint32(s.f.Nodes[peer.Node].DeviceID)<<16)
	far := &s.f.Ports[s.f.EndPortOf(p.Peer)]
	b = fmt.Appendf(b, "PHY=%s LOG=%s SPD=%s\n", p.Width, subnetState(p.State), subnetSpeed(p.Speed, far))
	s.line = b
	return b
}

func (s *subnetWriter) end(b []byte, port fabric.PortIndex, vendor string, device uint32) []byte {
	p := &s.f.Ports[port]
	n, e := &s.f.Nodes[p.Node], &s.f.Ports[s.f.EndPortOf(port)]
	b = append(b, "{ "...)
	b = append(b, subnetType(n.Type)...)
	if e.LID == e.SMLID {
		b = append(b, "-SM"...)
	}
	b = fmt.Appendf(b, " Ports:%02X SystemGUID:%016x NodeGUID:%016x PortGUID:%016x VenID:", n.NumPorts, n.SystemGUID,
		n.GUID, p.GUID)
	b = fmt.Appendf(b, vendor, n.VendorID)
	return fmt.Appendf(b, " DevID:%04X Rev:%08X {%s} LID:%04X PN:%02X } ", device, n.Revision, printDesc(n.Desc),
		e.LID, p.Num)
}

func subnetType(t mad.NodeType) string {
	for word, kind := range subnetTypes {
		if kind == t {
			return word
		}
	}
	return "**"
}

func subnetState(s mad.PortState) string {
	switch s {
	case mad.PortActive:
		return "ACT"
	case mad.PortArmed:
		return "ARM"
	case mad.PortInit:
		return "INI"
	}
	return "DWN"
}

// subnetSpeed returns the speed per lane in Gb/s. OpenSM detects a speed above QDR only if the capability mask of the
// far port allows such speeds. If the fabric has no capability masks, subnetSpeed assumes that all ports allow them.
func subnetSpeed(s fabric.Speed, far *fabric.Port) string {
	if s >= fabric.FDR && far.CapMask != 0 && far.CapMask&uint32(mad.CapExtendedSpeeds) == 0 {
		s = fabric.QDR
	}
	switch s {
	case fabric.SDR:
		return "2.5"
	case fabric.DDR:
		return "5"
	case fabric.QDR:
		return "10"
	case fabric.FDR10:
		return "FDR10"
	case fabric.FDR:
		return "14"
	case fabric.EDR:
		return "25"
	case fabric.HDR:
		return "50"
	}
	return "??"
}
