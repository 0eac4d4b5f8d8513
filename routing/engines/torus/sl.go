// SPDX-License-Identifier: Apache-2.0

package torus

import (
	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// qosLevel is the bit of an SL for the second level of quality of service. The lower bits mark the dimensions in which
// the shortest path crosses the dateline.
const qosLevel = 1 << dims

// Supports reports whether this engine can use an SL of a partition or of a request. It can if the SL has no bits
// except the bit of the QoS level.
func Supports(sl uint8) bool { return sl&^qosLevel == 0 }

// PathSLs holds the SLs of paths. An SL depends on the places of both ends and not on failures. Therefore SLs that were
// given to applications stay valid after a failure.
type PathSLs struct {
	*Torus
	// Level is the level of quality of service, 0 or 1.
	Level uint8
}

// SL implements [fabric.PathSLs]. Like OpenSM, it returns 0 for a LID outside the torus.
func (p *PathSLs) SL(src, dst uint16) uint8 {
	l := &p.slParts
	a, b := l.on(src), l.on(dst)
	if a == absent || b == absent {
		return 0
	}
	sl := p.between(a, b)
	if p.Level != 0 {
		sl |= qosLevel
	}
	return sl
}

// between returns the SL of the first QoS level for packets from one switch to another switch.
func (t *Torus) between(a, b int32) (sl uint8) {
	from, to := &t.switches[a].at, &t.switches[b].at
	for d := range dims {
		sl |= t.slParts.crossing[d][from[d]*t.Radix[d]+to[d]]
	}
	return sl
}

// slParts are lookup tables for SLs.
type slParts struct {
	// at is the switch that a LID is on.
	at []int32
	// crossing holds, for each dimension, the bit of the dimension if the path between two coordinates crosses the
	// dateline, otherwise 0. The index is from x radix + to.
	crossing [dims][]uint8
}

func (t *Torus) newSLParts() slParts {
	l := slParts{at: make([]int32, int(t.f.MaxLID)+1)}
	for lid := range l.at {
		l.at[lid] = t.attached(uint16(lid))
	}
	for d, radix := range t.Radix {
		l.crossing[d] = make([]uint8, radix*radix)
		for from := range radix {
			for to := range radix {
				if crosses(from, to, radix) {
					l.crossing[d][from*radix+to] = 1 << d
				}
			}
		}
	}
	return l
}

// on returns the number of the switch to which a LID belongs or is attached, or absent if this switch is not in the
// torus.
func (l *slParts) on(lid uint16) int32 {
	if int(lid) >= len(l.at) {
		return absent
	}
	return l.at[lid]
}

// PartitionBits returns the bits of SLs that OpenSM takes from the SL of a partition.
func (p *PathSLs) PartitionBits() uint8 { return qosLevel }

// Range implements [fabric.RangedSLs].
func (p *PathSLs) Range(src, dst uint16) fabric.SLRange { return fabric.OneSL(p.SL(src, dst)) }

// Source implements [fabric.SpreadSLs].
func (p *PathSLs) Source(src uint16) int32 { return p.slParts.on(src) }

// Destination returns the same number for all destinations that have the same SLs from every source.
func (p *PathSLs) Destination(dst uint16) int32 { return p.slParts.on(dst) }

// attached returns the number of the switch to which a LID belongs or is attached.
func (t *Torus) attached(lid uint16) int32 {
	end := t.f.PortByLID(lid)
	if end == fabric.None {
		return absent
	}
	sw, _ := t.f.AttachedSwitch(end)
	if sw == fabric.None {
		return absent
	}
	return t.of[sw]
}

// Of returns the torus for which this engine computed the tables. It returns false for tables of another engine.
func Of(tables *fabric.Tables) (*Torus, bool) {
	if tables == nil {
		return nil, false
	}
	sls := tables.SLs
	if w, ok := sls.(interface{ Unwrap() fabric.PathSLs }); ok {
		sls = w.Unwrap()
	}
	p, ok := sls.(*PathSLs)
	if !ok {
		return nil, false
	}
	return p.Torus, true
}

// dataVLs holds the numbers of data VLs that all links of a subnet can have.
type dataVLs struct {
	// between is the number for links between switches, hosts the number for links of hosts.
	between, hosts int
}

// dataVLsOf returns the minimum numbers over all linked ports, limited by max_op_vls. Ports with an unknown VLCap do
// not count.
func dataVLsOf(f *fabric.Fabric, opt *routing.Options) dataVLs {
	l := dataVLs{between: routing.MostDataVLs, hosts: routing.MostDataVLs}
	most := opt.MaxOpVLs
	if most == 0 {
		most = 5
	}
	for i := range f.NumPorts() {
		p := &f.Ports[i]
		n := &f.Nodes[p.Node]
		if !n.InSubnet || !p.Linked() || p.Num == 0 || p.VLCap == 0 {
			continue
		}
		data := min(1<<(min(p.VLCap, most)-1), routing.MostDataVLs)
		switch {
		case !n.IsSwitch():
			l.hosts = min(l.hosts, data)
		case f.PeerSwitch(i) != fabric.None:
			l.between = min(l.between, data)
		}
	}
	return l
}

// sl2vl computes the SL2VL tables of all ports (osm_torus.c, sl2vl_entry; osm_qos.c). Between switches, bit 0 of the VL
// is set if the path crosses the dateline of the dimension along which the packet leaves. Bit 1 is set if the packet
// turned against the order of dimensions. Bit 2 is the QoS level. On other links bit 0 is the QoS level. OpenSM skips
// nodes without SL2VL tables and ports without a link.
func (t *Torus) sl2vl(l dataVLs) *fabric.SL2VL {
	tables := fabric.NewSL2VL(t.f)
	for i := range t.f.NumNodes() {
		n := &t.f.Nodes[i]
		if !n.InSubnet {
			continue
		}
		if n.IsSwitch() {
			t.sl2vlOf(tables, i, l)
			continue
		}
		for p := range n.Ports() {
			if t.f.Ports[p].Linked() && t.f.MapsSLs(p) {
				tables.Set(i, 0, t.f.Ports[p].Num, t.vlsOf(p, local, local, l.hosts))
			}
		}
	}
	return tables
}

func (t *Torus) sl2vlOf(tables *fabric.SL2VL, node fabric.NodeIndex, l dataVLs) {
	n := &t.f.Nodes[node]
	if !t.f.MapsSLs(n.FirstPort) {
		return
	}
	data := l.between
	if t.of[n.Switch] == absent {
		data = l.hosts
	}
	first := fabric.PortIndex(1)
	if n.EnhancedPort0 {
		first = 0
	}
	for out := first; out <= fabric.PortIndex(n.NumPorts); out++ {
		port := n.FirstPort + out
		if out != 0 && !t.f.Ports[port].Linked() {
			continue
		}
		var vls [dims + 1]fabric.VLs // by the dimension along which a packet arrives
		for in := range vls {
			vls[in] = t.vlsOf(port, in, t.dimension(port), data)
		}
		for in := range fabric.PortIndex(n.NumPorts) + 1 {
			tables.Set(node, uint8(in), uint8(out), vls[t.dimension(n.FirstPort+in)])
		}
	}
}

// dimension returns the dimension along which a switch port leads. It returns local for a port that leads to a host or
// outside the torus.
func (t *Torus) dimension(port fabric.PortIndex) int {
	if g := t.group[port]; g != noGroup {
		return int(g) / 2
	}
	return local
}

// vlsOf returns the VL of each SL for packets that arrive along one dimension and leave along another by a port. The
// argument data is the number of data VLs.
func (t *Torus) vlsOf(port fabric.PortIndex, in, out, data int) (vls fabric.VLs) {
	mask := uint8(0xf)
	if oper := t.f.Ports[port].OperVLs; oper > 0 && oper < 5 {
		mask = 1<<(oper-1) - 1
	}
	for sl := range uint8(len(vls)) {
		level := sl / qosLevel
		vl := uint8(0)
		switch {
		case data < 2:
		case out == local:
			vl = level
		default:
			vl = sl >> out & 1
			if in > out && in != local && data >= 4 {
				vl |= 2
			}
			if data >= 8 {
				vl |= level << 2
			}
		}
		vls[sl] = vl & mask
	}
	return vls
}
