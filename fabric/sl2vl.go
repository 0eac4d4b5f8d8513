// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"example.org/ibconsole/mad"
)

// DropVL is the VL that means "drop the packet" in an SL2VL table (IBA 1.2.1, 7.6.6).
const DropVL = 15

// VLs is an SL2VL table: it holds the VL for each of the SLs 0 to 15. The value [DropVL] drops the packet.
type VLs [16]uint8

// SL2VL holds the SL2VL tables of a fabric's ports (SLtoVLMappingTable, IBA 1.2.1, 14.2.5.8). Equal tables are stored
// once.
type SL2VL struct {
	base  []int32 // by node: the index of its first table in at
	width []int32 // by node: the number of ports including port 0, or 0 for one table per port
	at    []uint16
	known []VLs
	index map[VLs]uint16
}

// NewSL2VL returns tables that map every SL to VL 0, as in a subnet that was never configured.
func NewSL2VL(f *Fabric) *SL2VL {
	t := &SL2VL{
		base: make([]int32, len(f.Nodes)), width: make([]int32, len(f.Nodes)),
		known: make([]VLs, 1), index: map[VLs]uint16{}, // table 0 is for ports without a known table
	}
	size := int32(0)
	for i := range f.Nodes {
		n := &f.Nodes[i]
		ports := int32(n.NumPorts) + 1
		t.base[i] = size
		if n.IsSwitch() {
			t.width[i] = ports
			size += ports * ports
		} else {
			size += ports
		}
	}
	t.at = make([]uint16, size)
	return t
}

// MapsSLs reports whether a port has SL2VL tables. The capability mask of the port states this. For a port of a switch,
// the mask of port 0 applies.
func (f *Fabric) MapsSLs(port PortIndex) bool {
	if n := &f.Nodes[f.Ports[port].Node]; n.IsSwitch() {
		port = n.FirstPort
	}
	return mad.CapabilityMask(f.Ports[port].CapMask)&mad.CapSLMapping != 0
}

// slot returns the index, in the slice at, of the table for packets from an input port to an output port. Nodes other
// than switches ignore the input port.
func (t *SL2VL) slot(node NodeIndex, in, out uint8) int32 {
	return t.base[node] + int32(in)*t.width[node] + int32(out)
}

// VLs returns the table of a node for packets that enter by an input port and leave by an output port. The argument in
// is 0 for packets that the node itself sends. For a channel adapter, VLs ignores this argument.
func (t *SL2VL) VLs(node NodeIndex, in, out uint8) VLs { return t.known[t.at[t.slot(node, in, out)]] }

// Has reports whether a table was set. The arguments are those of [SL2VL.VLs].
func (t *SL2VL) Has(node NodeIndex, in, out uint8) bool { return t.at[t.slot(node, in, out)] != 0 }

// VL returns the VL for one SL. The other arguments are those of [SL2VL.VLs].
func (t *SL2VL) VL(node NodeIndex, in, out, sl uint8) uint8 {
	return t.known[t.at[t.slot(node, in, out)]][sl]
}

// HighestVL returns the highest data VL in the tables.
func (t *SL2VL) HighestVL() (highest uint8) {
	for _, vls := range t.known {
		for _, vl := range vls {
			if vl != DropVL {
				highest = max(highest, vl)
			}
		}
	}
	return highest
}

// Set sets one table while the tables are made. It panics if there are more than 65,536 different tables, which does
// not happen in practice.
func (t *SL2VL) Set(node NodeIndex, in, out uint8, vls VLs) {
	t.at[t.slot(node, in, out)] = t.number(vls)
}

// SetAll sets all tables to vls.
func (t *SL2VL) SetAll(vls VLs) {
	i := t.number(vls)
	for slot := range t.at {
		t.at[slot] = i
	}
}

// Full reports whether no further different table can be stored.
func (t *SL2VL) Full() bool { return len(t.known) > 0xffff }

// number returns the index of a table in t.known. It adds the table if necessary.
func (t *SL2VL) number(vls VLs) uint16 {
	i, ok := t.index[vls]
	if !ok {
		if t.Full() {
			panic("fabric: more than 65536 different SL2VL tables")
		}
		i = uint16(len(t.known))
		t.index[vls] = i
		t.known = append(t.known, vls)
	}
	return i
}

// On returns the tables for another fabric. Node i of f gets the tables of node from[i]. That node must have the same
// type and number of ports. If from[i] is None, node i gets tables that map every SL to VL 0.
func (t *SL2VL) On(f *Fabric, from []NodeIndex) *SL2VL {
	out := NewSL2VL(f)
	for i, old := range from {
		if old == None {
			continue
		}
		n := &f.Nodes[i]
		ins := uint8(0)
		if n.IsSwitch() {
			ins = n.NumPorts
		}
		for in := 0; in <= int(ins); in++ {
			for p := 0; p <= int(n.NumPorts); p++ {
				if t.Has(old, uint8(in), uint8(p)) {
					out.Set(NodeIndex(i), uint8(in), uint8(p), t.VLs(old, uint8(in), uint8(p)))
				}
			}
		}
	}
	return out
}

// Clone returns a copy that can be changed.
func (t *SL2VL) Clone() *SL2VL {
	c := *t
	c.at = slices.Clone(t.at)
	c.known = slices.Clone(t.known)
	c.index = maps.Clone(t.index)
	return &c
}

// NoSL is the SL of a pair without a path.
const NoSL uint8 = 0xff

// PathSLs returns the SLs of paths.
type PathSLs interface {
	// SL returns the SL for packets from one LID to another. It returns 0 for LIDs that no end port has.
	SL(src, dst uint16) uint8
}

// SLRange is a range of consecutive SLs. With N 0 it is unknown.
type SLRange struct{ First, N uint8 }

// OneSL returns the range of one SL.
func OneSL(sl uint8) SLRange { return SLRange{sl, 1} }

// Has reports whether an SL is in the range.
func (r SLRange) Has(sl uint8) bool { return sl >= r.First && sl-r.First < r.N }

// String returns the range as "3" or "0 to 2".
func (r SLRange) String() string {
	switch r.N {
	case 0:
		return "unknown"
	case 1:
		return strconv.Itoa(int(r.First))
	}
	return fmt.Sprintf("%d to %d", r.First, int(r.First)+int(r.N)-1)
}

// RangedSLs extends PathSLs for SLs that are not fixed: OpenSM's dfsssp draws an SL from a range for each request.
type RangedSLs interface {
	PathSLs
	// Range returns the SLs that the path from one LID to another may have. SL returns one of them.
	Range(src, dst uint16) SLRange
}

// RangeOf returns the SLs that the path from one LID to another may have.
func RangeOf(sls PathSLs, src, dst uint16) SLRange {
	if r, ok := sls.(RangedSLs); ok {
		return r.Range(src, dst)
	}
	if sls == nil {
		return OneSL(0)
	}
	return OneSL(sls.SL(src, dst))
}

// SpreadSLs extends RangedSLs for engines that assign a range of SLs to each pair of LIDs. SL returns the SL that
// [SpreadSL] selects from the range.
type SpreadSLs interface {
	RangedSLs
	// Source returns a number for a source LID. Sources with the same number have the same range to every destination.
	Source(src uint16) int32
}

// SpreadSL returns the SL of a pair from a range. It distributes pairs evenly by a multiplicative hash
// (Knuth, "The Art of Computer Programming", 3, 6.4).
func SpreadSL(r SLRange, src, dst uint16) uint8 {
	return r.First + uint8((uint32(src)<<16|uint32(dst))*2654435769>>24)%r.N
}

// SLTable holds the SLs of paths. All paths from one group of LIDs to another group have the same SL.
type SLTable struct {
	from, to []int32 // by LID: its group as source and as destination, None for a LID without a group
	cols     int
	sls      []uint8 // by source and destination group
}

// NewSLTable returns a table in which all SLs are 0. The slices from and to hold the source group and the destination
// group of each LID. Groups are counted from 0, and None means no group. LIDs beyond the ends of the slices have no
// group.
func NewSLTable(from, to []int32, rows, cols int) *SLTable {
	return &SLTable{from: from, to: to, cols: cols, sls: make([]uint8, rows*cols)}
}

// Set sets the SL from a source group (row) to a destination group (col) while the table is made.
func (t *SLTable) Set(row, col int, sl uint8) { t.sls[row*t.cols+col] = sl }

// SL implements [PathSLs].
func (t *SLTable) SL(src, dst uint16) uint8 {
	if int(src) >= len(t.from) || int(dst) >= len(t.to) || t.from[src] == None || t.to[dst] == None {
		return 0
	}
	return t.sls[int(t.from[src])*t.cols+int(t.to[dst])]
}
