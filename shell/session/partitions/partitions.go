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
	"example.org/ibconsole/fabric/formats/osm/qospolicy"
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
	qospolicy.Request
}

// Any reports whether the request has no criteria.
func (a Asked) Any() bool { return a.SL < 0 && a.Request == (qospolicy.Request{}) }

// Known holds what determines the SLs of paths apart from the routing.
type Known struct {
	// Keys holds the P_Keys of end ports, nil if all are full members of the default partition.
	Keys map[fabric.PortIndex][]mad.PKey
	// SLs holds the SLs of partitions by partition number, nil if no file defines them.
	SLs map[uint16]uint8
	// Policy overrides the SLs of partitions, nil for none.
	Policy *qospolicy.Bound
}

// Grants holds the SLs that the SA of OpenSM grants to requests for paths (osm_sa_path_record.c). The requested SL, or
// else the SL of the policy's level, or else that of the partition, goes to the engine, which uses all its bits, some
// of them, or none. Grants implements [fabric.RangedSLs]; the SL of a refused path is [fabric.NoSL].
type Grants struct {
	Known
	asked Asked
	t     *fabric.Tables
	// bits is the mask of the SL bits that the engine uses.
	bits uint8
}

// New returns the grants for the paths of tables. It returns an error if the request needs partitions or SLs that are
// unknown.
func New(t *fabric.Tables, k Known, a Asked) (*Grants, error) {
	g := &Grants{Known: k, asked: a, t: t, bits: paths.PartitionBits(t.SLs)}
	number := a.PKey.Partition()
	switch {
	case a.PKey == 0 || number == osm.DefaultPartition && g.SLs == nil:
	case g.Keys == nil:
		return nil, errors.New("the partitions are unknown; hint: run 'engine partition_config_file=FILE' or " +
			"'sweep full pkeys'")
	case g.SLs == nil && g.Policy == nil && a.SL < 0 && g.bits != 0:
		return nil, fmt.Errorf("the service level of partition 0x%04x is unknown; hint: run 'engine "+
			"partition_config_file=FILE'", number)
	}
	if a.SL >= 0 && t.Unread.SLs {
		return nil, ErrUnreadSLs
	}
	return g, nil
}

// Grant is the SL that a path record has. It is unknown if SLs is empty.
type Grant struct {
	SL uint8
	// SLs are all SLs that the record may have. OpenSM's dfsssp draws another one of them for each request without SL.
	SLs fabric.SLRange
}

// Known reports whether the SL is known.
func (g Grant) Known() bool { return g.SLs.N > 0 }

// Of returns the SL of the paths from a port to a LID. An error is the reason why there is no path record.
func (g *Grants) Of(src fabric.PortIndex, lid uint16) (Grant, error) {
	number, ok := g.partition(src, g.t.Fabric.PortByLID(lid))
	switch {
	case !ok && g.asked.PKey != 0:
		return Grant{}, fmt.Errorf("no path of partition 0x%04x: both ports must be members, and at least one "+
			"a full member", g.asked.PKey.Partition())
	case !ok:
		return Grant{}, errors.New("no path: the ports share no partition")
	}
	hint, hinted, err := g.hint(src, g.t.Fabric.PortByLID(lid), number)
	if err != nil {
		return Grant{}, err
	}
	slid := g.t.Fabric.Ports[src].LID
	own, _ := g.t.SL(slid, lid)
	sls := g.t.SLRange(slid, lid)
	switch {
	case g.asked.SL >= 0:
		sl := uint8(g.asked.SL)
		if would := own&^g.bits | sl&g.bits; would != sl && !sls.Has(sl&^g.bits) {
			return Grant{}, g.refused(would)
		}
		return Grant{sl, fabric.OneSL(sl)}, nil
	case hinted && g.bits != 0 && sls.N > 0: // engines that take bits have single SLs
		sl := own&^g.bits | hint&g.bits
		return Grant{sl, fabric.OneSL(sl)}, nil
	}
	return Grant{own, sls}, nil
}

// hint returns the SL of the path from a port to another in a partition, of the policy or else of the partition. The
// engine takes some of its bits. ok is false if it is unknown. The error is the reason why the policy grants no path.
func (g *Grants) hint(src, dst fabric.PortIndex, number uint16) (sl uint8, ok bool, err error) {
	if g.Policy == nil {
		return g.SLs[number], g.SLs != nil, nil
	}
	level := g.Policy.Level(src, dst, g.asked.Request)
	name := fabric.Escape(level.Name)
	switch sl, ok = level.Granted(); {
	case !ok:
		return 0, false, fmt.Errorf("no path: the qos-level %s has SL %d, more than 15", name, level.SL)
	case g.asked.PKey != 0 && !level.Allows(number), g.asked.PKey == 0 && !g.shares(src, dst, level):
		return 0, false, fmt.Errorf("no path: the ports share no partition that the qos-level %s allows", name)
	case g.asked.SL >= 0 && g.asked.SL != int(level.SL):
		return 0, false, fmt.Errorf("no path of SL %d: the qos-level %s has SL %d", g.asked.SL, name, level.SL)
	}
	return sl, true, nil
}

// shares reports whether two ports share a partition that a level allows.
func (g *Grants) shares(a, b fabric.PortIndex, level *qospolicy.Level) bool {
	if g.Keys == nil {
		return level.Allows(osm.DefaultPartition)
	}
	var of []mad.PKey
	for _, k := range g.keysOf(a) {
		if level.Allows(k.Partition()) {
			of = append(of, k)
		}
	}
	_, ok := paths.SharedPartition(of, g.keysOf(b), 0)
	return ok
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
func (g *Grants) SL(src, dst uint16) uint8 { return g.between(src, dst).SL }

// Range implements [fabric.RangedSLs].
func (g *Grants) Range(src, dst uint16) fabric.SLRange { return g.between(src, dst).SLs }

func (g *Grants) between(src, dst uint16) Grant {
	refused := Grant{fabric.NoSL, fabric.OneSL(fabric.NoSL)}
	f := g.t.Fabric
	from := f.PortByLID(src)
	if from == fabric.None || f.PortByLID(dst) == fabric.None {
		return refused
	}
	grant, err := g.Of(from, dst)
	switch {
	case err != nil:
		return refused
	case !grant.Known(): // the caller knows from the tables that SLs are unread
		return Grant{grant.SL, fabric.OneSL(grant.SL)}
	}
	return grant
}

// partition returns the requested partition, or a partition that two ports share if none was requested. It also reports
// whether both ports are members.
func (g *Grants) partition(a, b fabric.PortIndex) (uint16, bool) {
	if g.Keys == nil {
		return osm.DefaultPartition, true
	}
	return paths.SharedPartition(g.keysOf(a), g.keysOf(b), g.asked.PKey.Partition())
}

func (g *Grants) keysOf(p fabric.PortIndex) []mad.PKey {
	if keys, ok := g.Keys[p]; ok {
		return keys
	}
	if g.SLs != nil { // the file lists all members
		return nil
	}
	return []mad.PKey{mad.PKeyDefault}
}

// Apply returns computed tables with the SLs of partitions or of a policy, if one of them has bits that the engine
// uses. Unless the argument all is set, it changes only tables that have SLs of their own.
func Apply(t *fabric.Tables, k Known, all bool) *fabric.Tables {
	bits := paths.PartitionBits(t.SLs)
	if t.SLs == nil && !all || bits == 0 || k.Policy == nil &&
		!slices.ContainsFunc(slices.Collect(maps.Values(k.SLs)), func(sl uint8) bool { return sl&bits != 0 }) {
		return t
	}
	out := *t
	out.SLs = &partitionedSLs{Grants{Known: k, asked: Asked{SL: -1}, t: t, bits: bits}}
	return &out
}

// ByPolicy returns tables with the SLs that a policy grants to requests without criteria, so that partitions no longer
// affect them; the same tables without a policy or without known SLs.
func ByPolicy(t *fabric.Tables, k Known) *fabric.Tables {
	if k.Policy == nil || t.Unread.SLs {
		return t
	}
	out := *t
	out.SLs = &Grants{Known: k, asked: Asked{SL: -1}, t: t, bits: paths.PartitionBits(t.SLs)}
	return &out
}

// partitionedSLs holds the SLs of paths with the bits of the partition that both ends share, or of the policy.
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
	hint, _, _ := p.grants.hint(from, to, number)
	return own&^p.grants.bits | hint&p.grants.bits
}

// PartitionBits returns the mask of the SL bits that the engine uses.
func (p *partitionedSLs) PartitionBits() uint8 { return p.grants.bits }

// Unwrap returns the SLs of the engine.
func (p *partitionedSLs) Unwrap() fabric.PathSLs { return p.grants.t.SLs }
