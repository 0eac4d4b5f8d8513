// SPDX-License-Identifier: Apache-2.0

// Package administration queries the subnet administration (SA).
package administration

import (
	"context"
	"errors"
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/sa"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/connection"
	"example.org/ibconsole/shell/session/pairs"
)

// PathRecords requests the path records of pairs of the live fabric from the SA, by LID, with one request for each
// pair. It calls the function visit with each record or error, and returns the first error of visit.
func PathRecords(ctx context.Context, s *session.Session, pairs []pairs.Pair,
	visit func(pairs.Pair, sa.PathRecord, error) error) error {
	op, err := s.Begin(ctx, "path records")
	if err != nil {
		return err
	}
	defer op.End()
	c, err := s.Connection().SA(ctx)
	if err != nil {
		return err
	}
	f := s.State().Live.Fabric
	for i, p := range pairs {
		slid := f.Ports[p.Src].LID
		if slid == 0 {
			return fmt.Errorf("%s has no LID", f.PortName(p.Src))
		}
		r, err := sa.Get(ctx, c, sa.PathRecord{SLID: slid, DLID: p.LID, NumPath: 1},
			sa.PathSLID|sa.PathDLID|sa.PathNumPath)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if errors.Is(err, mad.ErrTimeout) {
			return connection.Unanswered(err)
		}
		if err := visit(p, r, err); err != nil {
			return err
		}
		op.Progress(i+1, len(pairs))
	}
	return nil
}

// NodeRecords returns the node records of the SA. If the table arrives truncated, it requests the record of each end
// port of the last sweep one by one.
func NodeRecords(ctx context.Context, s *session.Session) ([]sa.NodeRecord, error) {
	op, err := s.Begin(ctx, "node records")
	if err != nil {
		return nil, err
	}
	defer op.End()
	c, err := s.Connection().SA(ctx)
	if err != nil {
		return nil, err
	}
	all, err := sa.GetTable(ctx, c, sa.NodeRecord{}, 0)
	if !errors.Is(err, mad.ErrTruncated) {
		return all, connection.Unanswered(err)
	}
	all = nil
	f := s.State().Live.Fabric
	for i, port := range f.EndPorts {
		r, err := sa.Get(ctx, c, sa.NodeRecord{LID: f.Ports[port].LID}, sa.NodeLID)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err == nil:
			all = append(all, r)
		case errors.Is(err, mad.ErrTimeout):
			return nil, connection.Unanswered(err)
		}
		op.Progress(i+1, len(f.EndPorts))
	}
	return all, nil
}

// GroupText returns the MGID, the MTU and the rate of a group as text. A text is "" if the value is unknown.
func GroupText(g *fabric.Group) (mgid, mtu, rate string) {
	if g.MGID != (mad.GID{}) {
		mgid = g.MGID.String()
	}
	if g.MTU != 0 {
		mtu = mad.MTU(g.MTU).String()
	}
	if r := sa.Rate(g.Rate).Gbps(); r > 0 {
		rate = fmt.Sprintf("%g Gb/s", r)
	}
	return mgid, mtu, rate
}
