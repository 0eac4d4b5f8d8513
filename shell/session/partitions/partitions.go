// SPDX-License-Identifier: Apache-2.0

// Package partitions computes the service levels of paths from partitions and from path requests.
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

// ErrUnreadSLs is returned if the service levels of paths are unknown.
var ErrUnreadSLs = errors.New("the service levels of paths were not read, because switches do not store them; " +
	"hint: run 'sweep full sl', or 'engine from=FILE; calibrate'")

// Asked holds the criteria of a request for paths.
type Asked struct {
	// SL is a service level, -1 for any.
	SL int
	// PKey is a partition, 0 for any.
	PKey mad.PKey
}

// Any reports whether the request has no criteria.
func (a Asked) Any() bool { return a.SL < 0 && a.PKey == 0 }

// Grants holds the SLs that the SA of OpenSM grants for requests for paths (osm_sa_path_record.c). The requested SL, or
// else the SL of the partition, is passed to the engine. The engine uses all bits of this SL, some of them, or none.
// Grants implements [fabric.PathSLs]; the SL of a refused path is [fabric.NoSL].
type Grants struct {
	asked Asked
	t     *fabric.Tables
	// bits is the mask of the SL bits that the engine uses.
	bits uint8
	// sls holds the SLs of partitions by partition number. It is nil if no file defines SLs.
	sls map[uint16]uint8
	// keys holds the P_Keys of end ports. It is nil if all end ports are full members of the default partition.
	keys map[fabric.PortIndex][]mad.PKey
}

// New returns the grants for the paths of tables. It returns an error if the request needs partitions or SLs that are
// unknown.
func New(t *fabric.Tables, keys map[fabric.PortIndex][]mad.PKey, sls map[uint16]uint8, a Asked) (*Grants, error) {
	g := &Grants{asked: a, t: t, bits: paths.PartitionBits(t.SLs), keys: keys, sls: sls}
	number := a.PKey.Partition()
	switch {
	case a.PKey == 0 || number == osm.DefaultPartition && g.sls == nil:
	case g.keys == nil:
		return nil, errors.New("the partitions are unknown; hint: run 'engine partition_config_file=FILE' or " +
			"'sweep full pkeys'")
	case g.sls == nil && a.SL < 0 && g.bits != 0:
		return nil, fmt.Errorf("the service level of partition 0x%04x is unknown; hint: run 'engine "+
			"partition_config_file=FILE'", number)
	}
	if a.SL >= 0 && t.Unread.SLs {
		return nil, ErrUnreadSLs
	}
	return g, nil
}

// Of returns the SL of the paths from a port to a LID. The result known is false if the SL is unknown. An error is the
// reason why there is no path record.
func (g *Grants) Of(src fabric.PortIndex, lid uint16) (sl uint8, known bool, err error) {
	number, ok := g.partition(src, g.t.Fabric.PortByLID(lid))
	switch {
	case !ok && g.asked.PKey != 0:
		return 0, false, fmt.Errorf("no path of partition 0x%04x: the ports must be members, at least one of "+
			"them a full member", g.asked.PKey.Partition())
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

// refused returns the error for a requested SL that differs from the SL that the engine assigns.
func (g *Grants) refused(assigned uint8) error {
	if _, table := g.t.SLs.(*fabric.SLTable); table {
		return fmt.Errorf("a path of SL %d is unknown: without a requested SL, the path has SL %d; hint: run 'engine "+
			"from=FILE; calibrate'", g.asked.SL, assigned)
	}
	return fmt.Errorf("no path of SL %d: the routing assigns SL %d", g.asked.SL, assigned)
}

// Asked reports whether the request asks for an SL or a partition.
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

// partition returns the requested partition, or a partition that two ports share if none was requested. It also reports
// whether both ports are members.
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
	if g.sls != nil { // the file lists all members
		return nil
	}
	return []mad.PKey{mad.PKeyDefault}
}

// Apply adds the SLs of partitions to computed tables. It returns the tables unchanged if no partition has an SL with
// bits that the engine uses. Unless all is set, it also leaves tables unchanged that have no SLs of their own.
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

// partitionedSLs holds the SLs of paths. Some of their bits come from the SL of the partition that both ends share.
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

// PartitionBits returns the mask of the SL bits that the engine uses.
func (p *partitionedSLs) PartitionBits() uint8 { return p.grants.bits }

// Unwrap returns the SLs of the engine.
func (p *partitionedSLs) Unwrap() fabric.PathSLs { return p.grants.t.SLs }
