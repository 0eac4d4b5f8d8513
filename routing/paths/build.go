// SPDX-License-Identifier: Apache-2.0

// Package paths builds databases of path records (package pathdb) from forwarding tables. It compares databases with
// tables, and computes the difference between two databases.
package paths

import (
	"cmp"
	"context"
	"fmt"
	"math/bits"
	"slices"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/pathdb"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/routing"
)

// DefaultLifeTime is the default packet life time in OpenSM's path records, as a code. It stands for about one second
// (opensm(8), subnet_timeout).
const DefaultLifeTime = 18

// Options holds the inputs of Build that the tables do not contain.
type Options struct {
	// Trace also stores the switches on each path.
	Trace bool
	// Prefix is the subnet prefix, LifeTime the packet life time. 0 stands for the default.
	Prefix   uint64
	LifeTime uint8
	// PKeys holds the P_Keys of end ports. An end port without P_Keys is in the default partition.
	PKeys map[fabric.PortIndex][]mad.PKey
	// PartitionSLs holds the SLs of partitions by partition number. The SL of other partitions is 0. PartitionSLs is
	// nil if the SLs are not known. If an engine sets SLs itself, only the bits that [PartitionLevels] returns are
	// taken from the SL of a partition.
	PartitionSLs map[uint16]uint8
	// Like, if set, is a database whose ports, LIDs and order are kept, so that a difference can be computed. Ports
	// that no longer exist remain in the database. If the subnet has additional ports, Build returns an error that
	// wraps [pathdb.ErrLayout].
	Like *pathdb.View
	// Built is the time of the tables.
	Built time.Time
	// Progress, if set, is called with the number of steps done and their total.
	Progress func(done, total int)
}

// Build computes a database and returns its bytes. O(switches x LIDs).
func Build(ctx context.Context, t *fabric.Tables, opt Options) ([]byte, error) {
	b, err := newBuilder(ctx, t, opt)
	if err != nil {
		return nil, err
	}
	if err := b.sources(); err != nil {
		return nil, fmt.Errorf("build the path database: %w", err)
	}
	if err := b.walk(ctx); err != nil {
		return nil, fmt.Errorf("build the path database: %w", err)
	}
	b.classes()
	return pathdb.Encode(&b.out)
}

type builder struct {
	t       *fabric.Tables
	f       *fabric.Fabric
	opt     Options
	out     pathdb.Contents
	rates   *rates
	wires   []wire
	entries entries
	// near marks the groups to which all paths have the fewest hops; see nearer.
	near []bool
	sls  fabric.SpreadSLs // nil for SL 0 everywhere
	// uniform describes the links between switches if all are equal. It is -1 if they differ.
	uniform int
	// distances determines the order in which switches are visited.
	distances *routing.Distances
	rows      []row
	groups    []group
	// The field ends lists the ports of the database. It contains None for a port that no longer exists.
	ends []fabric.PortIndex
	// seen holds the classes of paths in each tile. A class has its own number in each tile.
	seen []*classes
}

// row is a row of records: the sources at one switch whose paths have the same SLs.
type row struct {
	sw  fabric.SwitchIndex
	lid uint16 // one of the sources
}

// group is the set of LIDs of one switch.
type group struct {
	sw   fabric.SwitchIndex
	lids []uint16
}

func newBuilder(ctx context.Context, t *fabric.Tables, opt Options) (b *builder, err error) {
	b = &builder{t: t, f: t.Fabric, opt: opt, rates: newRates(t.Fabric)}
	b.out = pathdb.Contents{
		Built: opt.Built, Origin: t.Origin, Prefix: cmp.Or(opt.Prefix, mad.DefaultGIDPrefix),
		LifeTime: cmp.Or(opt.LifeTime, DefaultLifeTime),
		SLMask:   PartitionBits(t.SLs),
	}
	if b.wires, err = newWires(ctx, b.f, b.rates); err != nil {
		return nil, err
	}
	b.uniform = uniform(b.wires)
	b.switches()
	b.ports()
	if opt.Like != nil {
		if err := b.like(opt.Like); err != nil {
			return nil, err
		}
	}
	b.point()
	return b, nil
}

// The method ports lists the end ports that have a LID, sorted by GUID, and the LIDs of each switch. Switches with many
// LIDs come first, so that similar switches are adjacent.
func (b *builder) ports() {
	f := b.f
	for _, p := range f.EndPorts {
		if f.Ports[p].LID != 0 {
			b.ends = append(b.ends, p)
		}
	}
	slices.SortFunc(b.ends, func(x, y fabric.PortIndex) int { return cmp.Compare(f.Ports[x].GUID, f.Ports[y].GUID) })
	b.ends = slices.CompactFunc(b.ends, func(x, y fabric.PortIndex) bool { return f.Ports[x].GUID == f.Ports[y].GUID })
	byPlace := make([]group, len(f.Switches))
	sets := b.keptSets()
	for _, i := range b.ends {
		p := &f.Ports[i]
		out := pathdb.Port{GUID: p.GUID, LID: p.LID, LMC: p.LMC, MTU: p.MTU, Rate: b.rates.code(p), Row: -1, Peer: -1,
			PKeys: b.pKeys(sets, i)}
		at, num := f.AttachedSwitch(i)
		out.Switch, out.SwitchPort = int32(at), num
		switch f.Nodes[p.Node].Type {
		case mad.NodeSwitch:
			out.Flags |= pathdb.SwitchPort
			out.MTU, out.Rate = 0, 0 // sweeps do not read the MTU and rate of port 0
		case mad.NodeRouter:
			out.Flags |= pathdb.RouterPort
		}
		if at != fabric.None {
			g := &byPlace[at]
			g.sw = at
			for l := int(p.LID); l < int(p.LID)+1<<p.LMC; l++ {
				if f.PortByLID(uint16(l)) == i {
					g.lids = append(g.lids, uint16(l))
				}
			}
		}
		b.out.Ports = append(b.out.Ports, out)
	}
	for i := range byPlace {
		slices.Sort(byPlace[i].lids)
	}
	b.groups = slices.DeleteFunc(byPlace, func(g group) bool { return len(g.lids) == 0 })
	slices.SortStableFunc(b.groups, func(x, y group) int {
		return cmp.Compare(min(2, len(y.lids)), min(2, len(x.lids)))
	})
}

// The method point sets the indexes by which ports and switches refer to each other.
func (b *builder) point() {
	index := make(map[fabric.PortIndex]int32, len(b.ends))
	for i, p := range b.ends {
		if p != fabric.None {
			index[p] = int32(i)
		}
	}
	at := func(port fabric.PortIndex) int32 {
		if i, ok := index[port]; ok {
			return i
		}
		return -1
	}
	for i, p := range b.ends {
		if p != fabric.None && b.out.Ports[i].Switch == fabric.None && b.f.Ports[p].Peer != fabric.None {
			b.out.Ports[i].Peer = at(b.f.EndPortOf(b.f.Ports[p].Peer))
		}
	}
	for s := range b.out.Switches {
		b.behind(fabric.SwitchIndex(s), at)
	}
	for _, g := range b.groups {
		b.out.Groups = append(b.out.Groups, pathdb.Group{LIDs: g.lids})
	}
}

// saOrder returns the key by which OpenSM's subnet administration orders P_Keys. The key is the partition in network
// byte order, read as a number (osm_physp_find_common_pkey).
func saOrder(k mad.PKey) uint16 { return bits.ReverseBytes16(k.Partition()) }

// PartitionLevels is implemented by an engine's SLs if some of their bits come from the SL of the partition.
// PartitionBits returns these bits.
type PartitionLevels interface{ PartitionBits() uint8 }

// PartitionBits returns the bits of SLs that the partition or the request determines.
func PartitionBits(sls fabric.PathSLs) uint8 {
	if sls == nil {
		return 15
	}
	if p, ok := sls.(PartitionLevels); ok {
		return p.PartitionBits()
	}
	return 0
}

// keptSets returns the numbers of the sets of P_Keys in the database Options.Like.
func (b *builder) keptSets() map[string]int32 {
	sets := map[string]int32{}
	if b.opt.Like != nil {
		b.out.PKeys = b.opt.Like.PKeySets()
	}
	for i, set := range b.out.PKeys {
		sets[fmt.Sprint(set)] = int32(i)
	}
	return sets
}

// pKeys returns the number of the set of P_Keys of a port.
func (b *builder) pKeys(sets map[string]int32, port fabric.PortIndex) int32 {
	var set []pathdb.PKey
	for _, k := range b.opt.PKeys[port] {
		if k.Partition() != 0 {
			set = append(set, pathdb.PKey{Key: k, SL: b.opt.PartitionSLs[k.Partition()]})
		}
	}
	if len(set) == 0 {
		sl := b.opt.PartitionSLs[mad.PKeyDefault.Partition()]
		if sl == 0 {
			return -1
		}
		set = []pathdb.PKey{{Key: mad.PKeyDefault, SL: sl}}
	}
	slices.SortStableFunc(set, func(x, y pathdb.PKey) int { return cmp.Compare(saOrder(x.Key), saOrder(y.Key)) })
	key := fmt.Sprint(set)
	i, ok := sets[key]
	if !ok {
		i = int32(len(b.out.PKeys))
		sets[key] = i
		b.out.PKeys = append(b.out.PKeys, set)
	}
	return i
}

func (b *builder) switches() {
	for _, n := range b.f.Switches {
		b.out.Switches = append(b.out.Switches, pathdb.Switch{GUID: b.f.Nodes[n].GUID})
	}
}

func (b *builder) behind(sw fabric.SwitchIndex, peerOf func(fabric.PortIndex) int32) {
	n := b.f.SwitchNode(sw)
	s := &b.out.Switches[sw]
	s.Port = peerOf(n.FirstPort)
	s.Behind = make([]uint32, int(n.NumPorts)+1)
	for p := range s.Behind {
		to := pathdb.BehindNothing
		if w := b.wires[int(sw)<<8|p]; p > 0 && w.to >= 0 {
			to = pathdb.BehindSwitch(w.to)
		} else if p > 0 && w.to < nowhere {
			if end := peerOf(portOf(w.to)); end >= 0 {
				to = pathdb.BehindPort(end)
			}
		}
		s.Behind[p] = to
	}
}

// SharedPartition returns a partition that two ports share. a and b are the P_Keys of the ports. At least one port must
// be a full member of the partition. If the argument wanted is not 0, only this partition is considered. Otherwise
// SharedPartition returns the first shared partition in the order of OpenSM's subnet administration.
func SharedPartition(a, b []mad.PKey, wanted uint16) (number uint16, ok bool) {
	for _, k := range a {
		for _, other := range b {
			n := k.Partition()
			switch {
			case n == 0 || n != other.Partition() || (k|other)&mad.PKeyFull == 0 || wanted != 0 && n != wanted:
			case !ok || saOrder(k) < saOrder(mad.PKey(number)):
				number, ok = n, true
			}
		}
	}
	return number, ok
}

// like arranges the ports and LIDs in the order of the database v.
func (b *builder) like(v *pathdb.View) error {
	differ := func(format string, args ...any) error {
		return fmt.Errorf("%w: %s", pathdb.ErrLayout, fmt.Sprintf(format, args...))
	}
	guids := v.Switches()
	if !slices.EqualFunc(guids, b.out.Switches, func(guid uint64, s pathdb.Switch) bool { return guid == s.GUID }) {
		return differ("other switches")
	}
	here := make(map[uint64]int, len(b.out.Ports))
	for i := range b.out.Ports {
		here[b.out.Ports[i].GUID] = i
	}
	var ports []pathdb.Port
	var ends []fabric.PortIndex
	for _, p := range v.Ports() {
		i, ok := here[p.GUID]
		if !ok {
			p.Flags |= pathdb.Gone
			p.Row, p.Peer, p.PKeys = -1, -1, -1
			ports, ends = append(ports, p), append(ends, fabric.None)
			continue
		}
		now := b.out.Ports[i]
		if now.LID != p.LID || now.LMC != p.LMC || now.Switch != p.Switch {
			return differ("port 0x%016x has another LID or is attached to another switch", p.GUID)
		}
		ports, ends = append(ports, now), append(ends, b.ends[i])
		delete(here, p.GUID)
	}
	for guid := range here {
		return differ("port 0x%016x is new", guid)
	}
	b.out.Ports, b.ends = ports, ends
	places := make(map[uint16]fabric.SwitchIndex, len(ports))
	for i := range ports {
		for l := range 1 << ports[i].LMC {
			places[ports[i].LID+uint16(l)] = fabric.SwitchIndex(ports[i].Switch)
		}
	}
	b.groups = b.groups[:0]
	for _, g := range v.Groups() {
		b.groups = append(b.groups, group{sw: places[g.LIDs[0]], lids: g.LIDs})
	}
	return nil
}
