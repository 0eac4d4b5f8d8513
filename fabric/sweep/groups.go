// SPDX-License-Identifier: Apache-2.0

package sweep

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/sa"
)

// DefaultSAKey is the key that OpenSM by default expects of trusted clients.
const DefaultSAKey = 1

// Groups reads all multicast groups and their members from the subnet administration (SA), sorted by MLID.
//
// The SA reports the members of groups only to trusted clients, which have the SA's key. Without the key in c, or if a
// table is truncated, Groups requests the memberships of each end port of f. The SA also reports join states only to
// trusted clients. For other clients the result full is false, and all members are assumed to be full members. With a
// wrong key OpenSM does not respond, and the error wraps mad.ErrTimeout.
func Groups(ctx context.Context, c *sa.Client, f *fabric.Fabric, progress func(done, total int)) (groups []fabric.Group,
	full bool, err error) {
	a := groupReader{ctx: ctx, c: c, untrusted: c, f: f}
	if c.SMKey != 0 {
		// OpenSM does not report groups without members to trusted clients, so a client without the key reads them.
		untrusted := *c
		untrusted.SMKey = 0
		a.untrusted = &untrusted
	}
	all, err := sa.GetTable(ctx, c, sa.MCMemberRecord{}, 0)
	if err == nil && c.SMKey != 0 {
		var empty []sa.MCMemberRecord
		if empty, err = sa.GetTable(ctx, a.untrusted, sa.MCMemberRecord{}, 0); err == nil {
			return GroupsOf(append(all, empty...)), true, nil
		}
	}
	if errors.Is(err, mad.ErrTruncated) {
		all, err = a.byLID()
	}
	if err == nil {
		all, err = a.byPort(all, progress)
	}
	if err != nil {
		return nil, false, fmt.Errorf("read multicast groups: %w", err)
	}
	return GroupsOf(all), c.SMKey != 0, nil
}

// asker asks for groups piece by piece.
type groupReader struct {
	ctx context.Context
	// untrusted is a client without a key.
	c, untrusted *sa.Client
	f            *fabric.Fabric
}

// maxGap is the number of consecutive multicast LIDs without a group after which byLID ends.
const maxGap = 128

// byLID returns the groups without their members. It reads the groups of one multicast LID after the other.
func (a *groupReader) byLID() (all []sa.MCMemberRecord, err error) {
	for mlid, none := fabric.FirstMLID, 0; mlid <= fabric.LastMLID && none < maxGap; mlid++ {
		of, err := sa.GetTable(a.ctx, a.untrusted, sa.MCMemberRecord{MLID: uint16(mlid)}, sa.MemberMLID)
		if err != nil {
			return nil, fmt.Errorf("read the members of multicast LID 0x%04x: %w", mlid, err)
		}
		if none++; len(of) > 0 {
			none = 0
		}
		all = append(all, of...)
	}
	return all, nil
}

// byPort adds the members of groups.
func (a *groupReader) byPort(groups []sa.MCMemberRecord, progress func(done, total int)) ([]sa.MCMemberRecord, error) {
	all := groups
	for i, e := range a.f.EndPorts {
		memberships, err := a.memberships(groups, mad.NewGID(mad.DefaultGIDPrefix, a.f.Ports[e].GUID))
		if err != nil {
			return nil, fmt.Errorf("of %s: %w", a.f.PortName(e), err)
		}
		all = append(all, memberships...)
		if progress != nil {
			progress(i+1, len(a.f.EndPorts))
		}
	}
	return all, nil
}

// memberships returns the records of the groups of which a port is a member.
func (a *groupReader) memberships(groups []sa.MCMemberRecord, gid mad.GID) ([]sa.MCMemberRecord, error) {
	of, err := sa.GetTable(a.ctx, a.c, sa.MCMemberRecord{PortGID: gid}, sa.MemberPortGID)
	if errors.Is(err, mad.ErrTruncated) {
		of, err = nil, nil
		for i := range groups {
			one, err := sa.GetTable(a.ctx, a.c, sa.MCMemberRecord{MGID: groups[i].MGID, PortGID: gid},
				sa.MemberMGID|sa.MemberPortGID)
			if err != nil {
				return nil, err
			}
			of = append(of, one...)
		}
	}
	for i := range of {
		of[i].PortGID = gid
		if of[i].JoinState == 0 {
			of[i].JoinState = sa.JoinFull
		}
	}
	return of, err
}

// GroupsOf combines the records of each group into one group. A record without a PortGID describes a group that has no
// members, or whose members are not reported.
func GroupsOf(records []sa.MCMemberRecord) []fabric.Group {
	var groups []fabric.Group
	at := map[mad.GID]int{}
	for i := range records {
		r := &records[i]
		n, met := at[r.MGID]
		if !met {
			n = len(groups)
			at[r.MGID] = n
			groups = append(groups, fabric.Group{
				MGID: r.MGID, MLID: r.MLID, MTU: uint8(r.MTU), Rate: uint8(r.Rate), Life: r.LifeTime, SL: r.SL,
				TrafficClass: r.TrafficClass,
				HopLimit:     r.HopLimit, Scope: r.Scope, PKey: uint16(r.PKey), QKey: r.QKey, FlowLabel: r.FlowLabel,
			})
		}
		if r.PortGID != (mad.GID{}) {
			groups[n].Members = append(groups[n].Members, fabric.Member{
				Prefix: r.PortGID.Prefix(), GUID: r.PortGID.GUID(), Join: fabric.JoinState(r.JoinState),
				Proxy: r.ProxyJoin,
			})
		}
	}
	for i := range groups {
		groups[i].Members = fabric.SortMembers(groups[i].Members)
	}
	slices.SortStableFunc(groups, func(a, b fabric.Group) int { return int(a.MLID) - int(b.MLID) })
	return groups
}
