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

// DefaultSAKey is what OpenSM takes for trusted where it is not told otherwise.
const DefaultSAKey = 1

// Groups asks the subnet administration for all multicast groups and their members.
// Those it tells only whom it trusts, by the key of c. Where it does not, or where
// the table is cut off, each end port of f is asked for: then join states are not
// told, and all count as full members; asked says so. Groups come in ascending order
// of MLIDs. The error wraps mad.ErrTimeout where the key is another: OpenSM does not
// answer then.
func Groups(ctx context.Context, c *sa.Client, f *fabric.Fabric, progress func(done, total int)) (groups []fabric.Group, asked bool, err error) {
	all, err := sa.GetTable(ctx, c, sa.MCMemberRecord{}, 0)
	switch {
	case err != nil && !errors.Is(err, mad.ErrCut):
		return nil, false, fmt.Errorf("ask for multicast groups: %w", err)
	case c.SMKey != 0 && err == nil:
		// OpenSM tells nobody whom it trusts of groups without members.
		bare := *c
		bare.SMKey = 0
		empty, err := sa.GetTable(ctx, &bare, sa.MCMemberRecord{}, 0)
		if err != nil {
			return nil, false, fmt.Errorf("ask for multicast groups: %w", err)
		}
		return GroupsOf(append(all, empty...)), false, nil
	}
	for i, e := range f.EndPorts {
		gid := mad.NewGID(prefix(all), f.Ports[e].GUID)
		of, err := sa.GetTable(ctx, c, sa.MCMemberRecord{PortGID: gid}, sa.MemberPortGID)
		if err != nil {
			return nil, true, fmt.Errorf("ask for the multicast groups of %s: %w", f.PortName(e), err)
		}
		for j := range of {
			of[j].PortGID = gid
			if of[j].JoinState == 0 {
				of[j].JoinState = sa.JoinFull
			}
		}
		all = append(all, of...)
		if progress != nil {
			progress(i+1, len(f.EndPorts))
		}
	}
	return GroupsOf(all), true, nil
}

// prefix is that of the ports that records tell of.
func prefix(records []sa.MCMemberRecord) uint64 {
	for i := range records {
		if p := records[i].PortGID.Prefix(); p != 0 {
			return p
		}
	}
	return mad.DefaultGIDPrefix
}

// GroupsOf puts the records of members together; one without a PortGID is a group
// that has none, or of which they are not told.
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
				MGID: r.MGID, MLID: r.MLID, MTU: uint8(r.MTU), Rate: uint8(r.Rate), Life: r.LifeTime, SL: r.SL, TrafficClass: r.TrafficClass,
				HopLimit: r.HopLimit, Scope: r.Scope, PKey: uint16(r.PKey), QKey: r.QKey, FlowLabel: r.FlowLabel,
			})
		}
		if r.PortGID != (mad.GID{}) {
			groups[n].Members = append(groups[n].Members, fabric.Member{
				Prefix: r.PortGID.Prefix(), GUID: r.PortGID.GUID(), Join: fabric.JoinState(r.JoinState), Proxy: r.ProxyJoin,
			})
		}
	}
	for i := range groups {
		groups[i].Members = fabric.SortMembers(groups[i].Members)
	}
	slices.SortStableFunc(groups, func(a, b fabric.Group) int { return int(a.MLID) - int(b.MLID) })
	return groups
}
