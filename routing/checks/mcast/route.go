// SPDX-License-Identifier: Apache-2.0

// Package mcast computes the forwarding tables of multicast groups as OpenSM does. It also follows the packets of
// groups, and checks that every member receives each packet once.
package mcast

import (
	"context"
	"fmt"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// Router returns the router of multicast groups for an engine. The argument own is the field [routing.Result.Multicast]
// of the engine's result. If the argument own is nil, Router returns a router that uses the hop counts of the engine.
func Router(f *fabric.Fabric, hops routing.Hops, own routing.GroupRouter) routing.GroupRouter {
	if own != nil {
		return own
	}
	return &minHop{f, hops}
}

// Result holds multicast tables and warnings.
type Result struct {
	MFT *fabric.MFT
	// LIDs counts the multicast LIDs with entries. Alone counts the LIDs that have too few members in the subnet for a
	// tree.
	LIDs, Alone int
	Warnings    []string
}

// shown is the maximum number of unreached members in warnings.
const shown = 5

// Route computes the multicast tables of groups. Groups that share a LID share a tree. Members outside the subnet do
// not count. The other members count with any join state, as long as their group has a full member, because OpenSM
// deletes a group when its last full member leaves (osm_multicast.c, osm_mgrp_cleanup). Route returns the error of ctx
// if ctx ends first. It takes the time of AddGroup for each LID, on all processors.
func Route(ctx context.Context, f *fabric.Fabric, by routing.GroupRouter, groups []fabric.Group,
	progress func(done, total int)) (*Result, error) {
	lids := ByLID(f, full(f, groups))
	top := uint16(0)
	for i := range lids {
		top = max(top, lids[i].MLID)
	}
	r := &Result{MFT: fabric.NewMFT(f, top)}
	outside, errs := make([][]fabric.PortIndex, len(lids)), make([]error, len(lids))
	err := routing.ForEach(ctx, len(lids), progress, func(_, i int) {
		outside[i], errs[i] = by.AddGroup(r.MFT, lids[i].MLID, lids[i].ends())
	})
	if err != nil {
		return nil, fmt.Errorf("route multicast groups: %w", err)
	}
	gone := 0
	for i := range lids {
		if errs[i] != nil {
			return nil, fmt.Errorf("route multicast group 0x%04x: %w", lids[i].MLID, errs[i])
		}
		gone += lids[i].NotInSubnet + len(lids[i].Lost)
		if slices.ContainsFunc(f.Switches, func(n fabric.NodeIndex) bool {
			return r.MFT.Any(f.Nodes[n].Switch, lids[i].MLID)
		}) {
			r.LIDs++
		} else {
			r.Alone++
		}
	}
	if gone > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("members of multicast groups outside the subnet: %d", gone))
	}
	r.Warnings = append(r.Warnings, unreached(f, lids, outside)...)
	return r, nil
}

// full returns the groups without the members of groups that have no full member in the subnet.
func full(f *fabric.Fabric, groups []fabric.Group) []fabric.Group {
	out := slices.Clone(groups)
	for i := range out {
		if !slices.ContainsFunc(out[i].Members, func(m fabric.Member) bool {
			return (m.Join&fabric.JoinFull != 0 || m.Join == 0) && endOf(f, m) != fabric.None
		}) {
			out[i].Members = slices.DeleteFunc(slices.Clone(out[i].Members), func(m fabric.Member) bool {
				return endOf(f, m) != fabric.None
			})
		}
	}
	return out
}

// endOf returns the end port of a member, or None if the subnet does not contain this end port.
func endOf(f *fabric.Fabric, m fabric.Member) fabric.PortIndex {
	e := f.PortByGUID(m.GUID)
	if e == fabric.None || !f.Nodes[f.Ports[e].Node].InSubnet || f.Ports[e].LID == 0 {
		return fabric.None
	}
	return e
}

// lostEnd returns the end port of a member if it is unreachable or has no LID, otherwise None.
func lostEnd(f *fabric.Fabric, m fabric.Member) fabric.PortIndex {
	if e := f.PortByGUID(m.GUID); e != fabric.None && f.Ports[e].LID == 0 {
		return e
	}
	at := slices.IndexFunc(f.Unreachable, func(e fabric.PortIndex) bool { return f.Ports[e].GUID == m.GUID })
	if at < 0 {
		return fabric.None
	}
	return f.Unreachable[at]
}

func unreached(f *fabric.Fabric, lids []LID, outside [][]fabric.PortIndex) []string {
	var out []string
	n := 0
	for i := range lids {
		for _, m := range outside[i] {
			if n++; n <= shown {
				out = append(out, fmt.Sprintf("multicast 0x%04x does not reach %s", lids[i].MLID, f.PortName(m)))
			}
		}
	}
	if n > shown {
		out = append(out, fmt.Sprintf("%d more members of multicast groups are not reached", n-shown))
	}
	return out
}

// LID combines the groups that share a multicast LID.
type LID struct {
	MLID uint16
	// Groups holds the indexes of these groups in the original list.
	Groups []int
	// Members lists the members in the subnet, in the order of [fabric.Fabric.EndPorts].
	Members []Member
	// Lost lists members that failures have separated from the subnet, or that have no LID. They neither send nor
	// receive packets.
	Lost []Member
	// NotInSubnet counts the members that the subnet does not have.
	NotInSubnet int
}

// Member is a member of a group, identified by its end port.
type Member struct {
	End  fabric.PortIndex
	Join fabric.JoinState
}

func (l *LID) ends() []fabric.PortIndex {
	ends := make([]fabric.PortIndex, len(l.Members))
	for i, m := range l.Members {
		ends[i] = m.End
	}
	return ends
}

// ByLID combines groups with the same LID. The result is in ascending order of LIDs and omits LIDs outside the
// multicast range.
func ByLID(f *fabric.Fabric, groups []fabric.Group) []LID {
	joined := map[uint16]map[fabric.PortIndex]fabric.JoinState{}
	byLID := map[uint16]*LID{}
	for i := range groups {
		g := &groups[i]
		if g.MLID < fabric.FirstMLID || g.MLID > fabric.LastMLID {
			continue
		}
		l := byLID[g.MLID]
		if l == nil {
			l = &LID{MLID: g.MLID}
			byLID[g.MLID], joined[g.MLID] = l, map[fabric.PortIndex]fabric.JoinState{}
		}
		l.Groups = append(l.Groups, i)
		for _, m := range g.Members {
			if e := endOf(f, m); e != fabric.None {
				joined[g.MLID][e] |= m.Join
			} else if e := lostEnd(f, m); e != fabric.None {
				at := slices.IndexFunc(l.Lost, func(o Member) bool { return o.End == e })
				if at < 0 {
					at, l.Lost = len(l.Lost), append(l.Lost, Member{End: e})
				}
				l.Lost[at].Join |= m.Join
			} else {
				l.NotInSubnet++
			}
		}
	}
	order := map[fabric.PortIndex]int{}
	for i, e := range f.EndPorts {
		order[e] = i
	}
	var out []LID
	for mlid, l := range byLID {
		for e, join := range joined[mlid] {
			l.Members = append(l.Members, Member{e, join})
		}
		slices.SortStableFunc(l.Members, func(a, b Member) int { return order[a.End] - order[b.End] })
		out = append(out, *l)
	}
	slices.SortStableFunc(out, func(a, b LID) int { return int(a.MLID) - int(b.MLID) })
	return out
}
