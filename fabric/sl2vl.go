// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"maps"
	"slices"

	"example.org/ibconsole/mad"
)

// DropVL is the VL of SLs whose packets are dropped (IBA 1.2.1, 7.6.6).
const DropVL = 15

// VLs maps the SLs 0 to 15 to VLs; [DropVL] drops the packet.
type VLs [16]uint8

// SL2VL holds the SLtoVLMappingTables of a fabric's ports (IBA 1.2.1, 14.2.5.8). Equal tables are kept once.
type SL2VL struct {
	base  []int32 // of each node, into at
	width []int32 // of each node: ports with port 0, or 0 for one table a port
	at    []uint16
	known []VLs
	index map[VLs]uint16
}

// NewSL2VL makes tables that map every SL to VL 0, as a subnet does that was never told.
func NewSL2VL(f *Fabric) *SL2VL {
	t := &SL2VL{
		base: make([]int32, len(f.Nodes)), width: make([]int32, len(f.Nodes)),
		known: make([]VLs, 1), index: map[VLs]uint16{}, // 0 is that of ports of which nothing was said
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

// MapsSLs reports whether a port has SL2VL tables, by its capabilities; those of a switch are its port 0's.
func (f *Fabric) MapsSLs(port PortIndex) bool {
	if n := &f.Nodes[f.Ports[port].Node]; n.IsSwitch() {
		port = n.FirstPort
	}
	return mad.CapabilityMask(f.Ports[port].CapMask)&mad.CapSLMapping != 0
}

// slot is where the table of a port for packets from port in stands; but for a switch in does not count.
func (t *SL2VL) slot(node NodeIndex, in, out uint8) int32 {
	return t.base[node] + int32(in)*t.width[node] + int32(out)
}

// VLs returns the table of a node for packets that come in by one port, 0 for its own,
// and leave by another. For a channel adapter in does not count.
func (t *SL2VL) VLs(node NodeIndex, in, out uint8) VLs { return t.known[t.at[t.slot(node, in, out)]] }

// Has reports whether a table was set, see [SL2VL.VLs] for what it takes.
func (t *SL2VL) Has(node NodeIndex, in, out uint8) bool { return t.at[t.slot(node, in, out)] != 0 }

// VL returns the VL of one SL, see [SL2VL.VLs].
func (t *SL2VL) VL(node NodeIndex, in, out, sl uint8) uint8 {
	return t.known[t.at[t.slot(node, in, out)]][sl]
}

// Set replaces one table, while tables are made. More than 65,536 different ones do not occur and panic.
func (t *SL2VL) Set(node NodeIndex, in, out uint8, vls VLs) {
	t.at[t.slot(node, in, out)] = t.number(vls)
}

// SetAll replaces all tables by one.
func (t *SL2VL) SetAll(vls VLs) {
	i := t.number(vls)
	for slot := range t.at {
		t.at[slot] = i
	}
}

// number is where a table stands among those known.
func (t *SL2VL) number(vls VLs) uint16 {
	i, ok := t.index[vls]
	if !ok {
		if len(t.known) > 0xffff {
			panic("fabric: more than 65536 different SL2VL tables")
		}
		i = uint16(len(t.known))
		t.index[vls] = i
		t.known = append(t.known, vls)
	}
	return i
}

// On returns the tables for another fabric: those of each node are what the node from[i] of this one has, which
// must be of the same kind and size, and VL 0 where that is None.
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

// NoSL stands for no SL, where a pair has no path.
const NoSL uint8 = 0xff

// PathSLs are the SLs by which packets travel.
type PathSLs interface {
	// SL is the SL from one LID to another. LIDs that no end port has give 0.
	SL(src, dst uint16) uint8
}

// SpreadSLs are SLs some of which are spread over several of one VL.
type SpreadSLs interface {
	PathSLs
	// Range is the first of the SLs among which pairs are spread, and how many; SL is [SpreadSL] of them.
	Range(src, dst uint16) (first, n uint8)
	// Source numbers sources whose ranges are the same to every destination.
	Source(src uint16) int32
}

// SpreadSL returns the SL of a pair among n SLs from the first on: a number that pairs have evenly (a
// multiplicative hash: Knuth, "The Art of Computer Programming", 3, 6.4).
func SpreadSL(first, n uint8, src, dst uint16) uint8 {
	return first + uint8((uint32(src)<<16|uint32(dst))*2654435769>>24)%n
}
