// SPDX-License-Identifier: Apache-2.0

// Package partitions finds the service levels that partitions and requests give paths.
package partitions

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/osm"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/routing/paths"
)

// ErrUnreadSLs says that nobody knows the service levels of paths.
var ErrUnreadSLs = errors.New("the service levels of paths were not read, as no switch has them (try: sweep full sl, " +
	"or engine from=FILE; calibrate)")

// Asked is what paths are asked for by.
type Asked struct {
	// SL is a service level, -1 for any.
	SL int
	// PKey is a partition, 0 for any.
	PKey mad.PKey
}

// Any reports whether nothing is asked for in particular.
func (a Asked) Any() bool { return a.SL < 0 && a.PKey == 0 }

// Grants are the SLs that OpenSM's subnet administration grants to those who ask for
// the paths of a picture (osm_sa_path_record.c): the SL asked for, else that of the partition, goes
// to the engine, which takes all of it, some bits, or none. It is a [fabric.PathSLs] with
// [fabric.NoSL] where nothing is granted.
type Grants struct {
	asked Asked
	t     *fabric.Tables
	// bits are those of SLs that the engine takes.
	bits uint8
	// sls are those of partitions by their number, nil where no file says them.
	sls map[uint16]uint8
	// keys are the P_Keys of end ports, nil where all are full members of the default
	// partition.
	keys map[fabric.PortIndex][]mad.PKey
}

// New returns the grants of tables. It fails where somebody must be a member of a partition of
// which nobody said anything.
func New(t *fabric.Tables, keys map[fabric.PortIndex][]mad.PKey, sls map[uint16]uint8, a Asked) (*Grants, error) {
	g := &Grants{asked: a, t: t, bits: paths.PartitionBits(t.SLs), keys: keys, sls: sls}
	number := a.PKey.Partition()
	switch {
	case a.PKey == 0 || number == osm.DefaultPartition && g.sls == nil:
	case g.keys == nil:
		return nil, errors.New("no partitions are known (try: engine partition_config_file=FILE, or sweep full pkeys)")
	case g.sls == nil && a.SL < 0 && g.bits != 0:
		return nil, fmt.Errorf("the service level of partition 0x%04x is not known (try: engine "+
			"partition_config_file=FILE)", number)
	}
	if a.SL >= 0 && t.Unread.SLs {
		return nil, ErrUnreadSLs
	}
	return g, nil
}

// Of is the SL of the paths from a port to a LID; known is false where nobody knows
// it. The error says why there is no path record.
func (g *Grants) Of(src fabric.PortIndex, lid uint16) (sl uint8, known bool, err error) {
	number, ok := g.partition(src, g.t.Fabric.PortByLID(lid))
	switch {
	case !ok && g.asked.PKey != 0:
		return 0, false, fmt.Errorf("no path of partition 0x%04x: not both are members, at least one of them a "+
			"full one", g.asked.PKey.Partition())
	case !ok:
		return 0, false, errors.New("no path: the ports share no partition")
	}
	slid := g.t.Fabric.Ports[src].LID
	own, known := g.t.SL(slid, lid)
	switch {
	case g.asked.SL >= 0:
		sl = uint8(g.asked.SL)
		if would := own&^g.bits | sl&g.bits; would != sl && !g.t.MayHaveSL(slid, lid, sl&^g.bits) {
			return 0, false, g.refused(would)
		}
		return sl, true, nil
	case g.sls != nil && known:
		return own&^g.bits | g.sls[number]&g.bits, true, nil
	}
	return own, known, nil
}

// refused says that the SL asked for is not the one that the engine gives.
func (g *Grants) refused(is uint8) error {
	if _, table := g.t.SLs.(*fabric.SLTable); table {
		return fmt.Errorf("whether there is a path of SL %d is not known: it has SL %d where none is asked for (try: "+
			"engine from=FILE; calibrate)", g.asked.SL, is)
	}
	return fmt.Errorf("no path of SL %d: the routing gives it SL %d", g.asked.SL, is)
}

// Asked reports whether an SL or a partition was asked for.
func (g *Grants) Asked() bool { return !g.asked.Any() }

// SL implements [fabric.PathSLs].
func (g *Grants) SL(src, dst uint16) uint8 {
	f := g.t.Fabric
	from := f.PortByLID(src)
	if from == fabric.None || f.PortByLID(dst) == fabric.None {
		return fabric.NoSL
	}
	sl, _, err := g.Of(from, dst)
	if err != nil {
		return fabric.NoSL
	}
	return sl
}

// partition is the one that two ports share, or that was asked for.
func (g *Grants) partition(a, b fabric.PortIndex) (uint16, bool) {
	if g.keys == nil {
		return osm.DefaultPartition, true
	}
	return paths.SharedPartition(g.keysOf(a), g.keysOf(b), g.asked.PKey.Partition())
}

func (g *Grants) keysOf(p fabric.PortIndex) []mad.PKey {
	if keys, ok := g.keys[p]; ok {
		return keys
	}
	if g.sls != nil { // a file says all members
		return nil
	}
	return []mad.PKey{mad.PKeyDefault}
}

// Apply gives computed tables the SLs that partitions decide, where one of the
// settings' has another than 0. Without all only tables with SLs of their own get any.
func Apply(t *fabric.Tables, keys map[fabric.PortIndex][]mad.PKey, sls map[uint16]uint8, all bool) *fabric.Tables {
	bits := paths.PartitionBits(t.SLs)
	if t.SLs == nil && !all || bits == 0 || !slices.ContainsFunc(slices.Collect(maps.Values(sls)), func(sl uint8) bool {
		return sl&bits != 0
	}) {
		return t
	}
	out := *t
	out.SLs = &partitionedSLs{Grants{asked: Asked{SL: -1}, t: t, bits: bits, sls: sls, keys: keys}}
	return &out
}

// partitionedSLs are SLs of paths with the bits of the partition that the ends share.
type partitionedSLs struct{ grants Grants }

// SL implements [fabric.PathSLs].
func (p *partitionedSLs) SL(src, dst uint16) uint8 {
	f := p.grants.t.Fabric
	own, _ := p.grants.t.SL(src, dst)
	from, to := f.PortByLID(src), f.PortByLID(dst)
	if from == fabric.None || to == fabric.None {
		return own
	}
	number, _ := p.grants.partition(from, to)
	return own&^p.grants.bits | p.grants.sls[number]&p.grants.bits
}

// PartitionBits are those that the engine takes.
func (p *partitionedSLs) PartitionBits() uint8 { return p.grants.bits }

// Unwrap is the engine's SLs.
func (p *partitionedSLs) Unwrap() fabric.PathSLs { return p.grants.t.SLs }
