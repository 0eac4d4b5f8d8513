// SPDX-License-Identifier: Apache-2.0

// Package pathrecords builds databases of path records. It opens a database for queries, and keeps a database current
// while the subnet changes.
package pathrecords

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/pathdb"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/sa"
	"example.org/ibconsole/routing/paths"
	"example.org/ibconsole/shell/session"
)

// Report describes a database that [Build] built: the title of its state and the duration.
type Report struct {
	Title string
	Took  time.Duration
	// UnknownSLs reports whether the service levels are unknown and therefore 0.
	UnknownSLs bool
	// NotRead lists the switches whose tables were not read. Paths over them have no records.
	NotRead []string
}

// Build builds a path-record database from the tables of a state. If the argument like is not nil, the new database
// keeps the order of the ports of that database. If the argument ask is set, the SLs of partitions are requested from
// the SA.
func Build(ctx context.Context, s *session.Session, of session.Kind, trace bool, like *pathdb.View,
	ask bool) (image []byte, rep Report, err error) {
	op, err := s.Begin(ctx, "path records")
	if err != nil {
		return nil, rep, err
	}
	defer op.End()
	st := s.State()
	p, err := st.FreshTablesOf(of)
	if err != nil {
		return nil, rep, err
	}
	opt := paths.Options{Trace: trace, Like: like, Built: p.When, Progress: op.Progress}
	opt.PKeys, opt.PartitionSLs = st.PartitionsOf(p.Fabric)
	if ask {
		if err := askPartitions(ctx, s, &opt); err != nil {
			return nil, rep, err
		}
	}
	start := time.Now()
	image, err = paths.Build(ctx, st.PathTables(p.Tables), opt)
	return image, Report{
		st.Title(p), time.Since(start), p.Tables.Unread.SLs, prose.Words(p.Tables.NotRead(), p.Fabric.NodeName),
	}, err
}

// ConnectionCount counts the connections that need other addresses after a change: Count, and Unknown over tables that
// were not read. UnknownSLs reports whether service levels were not compared, because they were not read.
type ConnectionCount struct {
	Count, Unknown int
	UnknownSLs     bool
}

// Changed counts the connections that need other addresses after a change between two states.
func Changed(ctx context.Context, st *session.State, before, after *session.Picture) (n ConnectionCount, err error) {
	var views [2]*pathdb.View
	for i, p := range []*session.Picture{before, after} {
		opt := paths.Options{Built: p.When}
		for _, e := range p.Fabric.EndPorts {
			opt.Trace = opt.Trace || p.Fabric.Ports[e].LMC > 0
		}
		opt.PKeys, opt.PartitionSLs = st.PartitionsOf(p.Fabric)
		image, err := paths.Build(ctx, st.PathTables(p.Tables), opt)
		if err != nil {
			return n, err
		}
		db, err := pathdb.Parse(image)
		if err != nil {
			return n, err
		}
		views[i] = db.View()
		n.UnknownSLs = n.UnknownSLs || p.Tables.Unread.SLs
	}
	changes, err := paths.Connections(ctx, views[0], views[1], paths.ConnectionOptions{IgnoreSLs: n.UnknownSLs})
	if err != nil {
		return n, err
	}
	n.Count, n.Unknown = changes.Affected(after.Tables.NotRead() != nil)
	return n, nil
}

// openDB is a database opened for queries.
type openDB struct {
	db   *pathdb.DB
	name string
}

// Close closes the database.
func (o *openDB) Close() error { return o.db.Close() }

var openSlot = session.NewSlot[*openDB]()

// Open opens a database for queries. It closes the database that was open before.
func Open(ctx context.Context, s *session.Session, name string) (*pathdb.DB, error) {
	db, err := pathdb.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	var old *openDB
	s.Publish(0, func(st *session.State) {
		old = openSlot.Of(st)
		openSlot.Put(st, &openDB{db, name})
	})
	if old != nil {
		err = old.Close()
	}
	return db, err
}

// Opened returns the open database, updated from its file, and the name of the file. It returns nil if no database is
// open.
func Opened(s *session.Session) (*pathdb.DB, string) {
	st := s.State()
	o := openSlot.Of(&st)
	if o == nil {
		return nil, ""
	}
	_ = o.db.Refresh() // if the file is damaged or missing, the database stays as it was
	return o.db, o.name
}

// askPartitions requests one path in each partition from the SA. The SL of this path is the SL of the partition, unless
// the routing engine determines SLs. The life time and the prefix of the GIDs are the same in the whole subnet.
func askPartitions(ctx context.Context, s *session.Session, opt *paths.Options) error {
	c, err := s.Connection().SA(ctx)
	if err != nil {
		return err
	}
	st := s.State()
	f := st.Live.Fabric
	opt.PartitionSLs = map[uint16]uint8{}
	members := membersOf(&st)
	for _, partition := range slices.Sorted(maps.Keys(members)) {
		m := members[partition]
		if m.full == fabric.None {
			continue // limited members communicate only with full members
		}
		to := m.other
		if to == fabric.None {
			to = m.full
		}
		ask := sa.PathRecord{SLID: f.Ports[m.full].LID, DLID: f.Ports[to].LID, PKey: mad.PKey(partition) | mad.PKeyFull,
			NumPath: 1}
		r, err := sa.Get(ctx, c, ask, sa.PathSLID|sa.PathDLID|sa.PathPKey|sa.PathNumPath)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil && !errors.Is(err, sa.NoRecords) {
			return fmt.Errorf("query the subnet administration for a path of partition 0x%04x: %w", partition, err)
		}
		if err != nil {
			continue
		}
		opt.PartitionSLs[partition] = r.SL
		opt.Prefix = r.SGID.Prefix()
		if to != m.full {
			opt.LifeTime = r.LifeTime
		}
	}
	return nil
}

// membership holds a full member of a partition and another member. Each is None if there is no such member.
type membership struct{ full, other fabric.PortIndex }

// membersOf returns members of each partition, from the P_Keys of HCAs. Ports whose P_Keys were not read count as full
// members of the default partition.
func membersOf(st *session.State) map[uint16]membership {
	f := st.Live.Fabric
	out := map[uint16]membership{}
	for _, p := range f.EndPorts {
		port := &f.Ports[p]
		if port.LID == 0 || port.Num == 0 {
			continue
		}
		keys := st.PKeys[port.GUID]
		if keys == nil {
			keys = []mad.PKey{mad.PKeyDefault}
		}
		for _, k := range keys {
			n := k.Partition()
			m, ok := out[n]
			switch {
			case n == 0:
				continue
			case !ok:
				m = membership{fabric.None, fabric.None}
			}
			if k&mad.PKeyFull != 0 && m.full == fabric.None {
				m.full = p
			} else if m.other == fabric.None {
				m.other = p
			}
			out[n] = m
		}
	}
	return out
}
