// SPDX-License-Identifier: Apache-2.0

package paths

import (
	"context"
	"errors"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/pathdb"
	"example.org/ibconsole/routing"
)

// Address holds the numbers that a queue pair has loaded for a path: the two LIDs and the service level. The zero value
// is no path.
type Address struct {
	SLID, DLID uint16
	SL         uint8
}

// Connection is a connection whose addresses differ between two databases. Its ends are identified by GUID.
type Connection struct {
	From, To uint64
	// Old and New are the addresses of the path. New is zero if the path is lost.
	Old, New Address
	// OldSLs and NewSLs are the service levels that a record of the path may have.
	OldSLs, NewSLs fabric.SLRange
	// OldAlternate and NewAlternate are the addresses of the path to another LID of the same port that shares the
	// fewest links with the path, and of these the one with the lowest LID. They are zero if there is none.
	OldAlternate, NewAlternate Address
	// SL, LID and Alternate report which of them changed. All are false if the path is lost.
	SL, LID, Alternate bool
}

// Lost reports whether the connection has no path any more.
func (c *Connection) Lost() bool { return c.New.DLID == 0 }

// ConnectionOptions controls [Connections].
type ConnectionOptions struct {
	// IgnoreSLs ignores service levels, because one of the databases does not have them.
	IgnoreSLs bool
	Progress  func(done, total int)
}

// ConnectionChanges lists changed connections.
type ConnectionChanges struct {
	List []Connection // by GUID of the source and of the destination, then by LID
	// All counts the connections of the old database, and Added the connections that only the new database has.
	All, Added int64
}

// Affected returns the number of connections that need other addresses. If tables of the new database were not read, it
// does not count connections without a path in this database: they are unknown.
func (c *ConnectionChanges) Affected(partial bool) (affected, unknown int) {
	for i := range c.List {
		if partial && c.List[i].Lost() {
			unknown++
		}
	}
	return len(c.List) - unknown, unknown
}

// ErrNoRoutes reports that the alternate paths of ports with several LIDs are unknown.
var ErrNoRoutes = errors.New("ports have several LIDs, and a path database has no traces, so alternate paths are " +
	"unknown")

// Connections compares the connections of two databases. A connection leads from a port to a LID of another port.
// O(ports^2 x LIDs of a port).
func Connections(ctx context.Context, before, after *pathdb.View, opt ConnectionOptions) (*ConnectionChanges, error) {
	x := comparer{before: before, after: after, opt: opt}
	for _, v := range []*pathdb.View{before, after} {
		for _, p := range v.Ports() {
			x.ports = append(x.ports, p.GUID)
			if p.LMC > 0 && !v.Info().HasTrace {
				return nil, ErrNoRoutes
			}
		}
	}
	slices.Sort(x.ports)
	x.ports = slices.Compact(x.ports)
	parts := make([]ConnectionChanges, len(x.ports))
	err := routing.ForEach(ctx, len(x.ports), opt.Progress, func(_, i int) { parts[i] = x.from(ctx, x.ports[i]) })
	if err != nil {
		return nil, err
	}
	all := &ConnectionChanges{}
	for i := range parts {
		all.List = append(all.List, parts[i].List...)
		all.All += parts[i].All
		all.Added += parts[i].Added
	}
	return all, nil
}

type comparer struct {
	before, after *pathdb.View
	ports         []uint64
	opt           ConnectionOptions
}

// from compares the connections from one port.
func (x *comparer) from(ctx context.Context, guid uint64) (r ConnectionChanges) {
	var was, is side
	for _, to := range x.ports {
		if to == guid {
			continue
		}
		was.read(x.before, guid, to)
		is.read(x.after, guid, to)
		for i := range max(len(was.records), len(is.records)) {
			a, b := was.record(i), is.record(i)
			switch {
			case a == nil && b != nil:
				r.Added++
			case a != nil:
				r.All++
				c := Connection{From: guid, To: to, Old: address(a), OldSLs: a.SLs, OldAlternate: was.alternate(i)}
				if b != nil {
					c.New, c.NewAlternate = address(b), is.alternate(i)
					c.NewSLs = b.SLs
					c.LID = c.Old.SLID != c.New.SLID || c.Old.DLID != c.New.DLID
					c.SL = !x.opt.IgnoreSLs && (a.SL != b.SL || a.SLs != b.SLs)
					c.Alternate = x.differ(c.OldAlternate, c.NewAlternate)
				}
				if c.Lost() || c.LID || c.SL || c.Alternate {
					r.List = append(r.List, c)
				}
			}
		}
		if ctx.Err() != nil {
			return r
		}
	}
	return r
}

func (x *comparer) differ(a, b Address) bool {
	if x.opt.IgnoreSLs {
		a.SL, b.SL = 0, 0
	}
	return a != b
}

func address(r *pathdb.Record) Address { return Address{r.SLID, r.DLID, r.SL} }

// side holds the records of a pair of ports in one database, one for each LID of the destination. A record with DLID 0
// does not exist.
type side struct {
	records []pathdb.Record
	routes  [][]pathdb.Hop // empty if the destination has one LID
}

func (s *side) read(v *pathdb.View, from, to uint64) {
	s.records, s.routes = s.records[:0], s.routes[:0]
	a, ok := v.ByGUID(from)
	b, there := v.ByGUID(to)
	if !ok || !there {
		return
	}
	src, dst := v.Port(a), v.Port(b)
	for i := range uint16(1) << dst.LMC {
		r, err := v.Query(src.LID+i&(1<<src.LMC-1), dst.LID+i, pathdb.Want{})
		if err != nil {
			r = pathdb.Record{}
		}
		s.records = append(s.records, r)
		if dst.LMC > 0 {
			var hops []pathdb.Hop
			if err == nil {
				hops, _ = v.Route(nil, r.SLID, r.DLID) // a record has a route
			}
			s.routes = append(s.routes, hops)
		}
	}
}

// record returns nil if there is no record.
func (s *side) record(i int) *pathdb.Record {
	if i >= len(s.records) || s.records[i].DLID == 0 {
		return nil
	}
	return &s.records[i]
}

// alternate returns the address of the alternate path for record i.
func (s *side) alternate(i int) (best Address) {
	least := -1
	for j := range s.routes {
		r := s.record(j)
		if j == i || r == nil {
			continue
		}
		shared := 0
		for _, h := range s.routes[j] {
			if slices.Contains(s.routes[i], h) {
				shared++
			}
		}
		if least < 0 || shared < least {
			least, best = shared, address(r)
		}
	}
	return best
}
