// SPDX-License-Identifier: Apache-2.0

package mcast_test

import (
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/checks/mcast"
)

// TestNoTreeWithoutFullMember checks that a group has a tree only as long as one of its members in the subnet is a full
// one (osm_multicast.c of OpenSM 3.3.23, osm_mgrp_cleanup).
func TestNoTreeWithoutFullMember(t *testing.T) {
	f, err := gen.ParseSpec("fattree:2,4")
	if err != nil {
		t.Fatal(err)
	}
	if f, err = fabric.AssignLIDs(f); err != nil {
		t.Fatal(err)
	}
	var hosts []uint64
	for _, e := range f.EndPorts {
		if !f.Nodes[f.Ports[e].Node].IsSwitch() {
			hosts = append(hosts, f.Ports[e].GUID)
		}
	}
	const gone = 0x1234
	member := func(guid uint64, join fabric.JoinState) fabric.Member { return fabric.Member{GUID: guid, Join: join} }
	for _, k := range []struct {
		members []fabric.Member
		tree    bool
	}{
		{[]fabric.Member{member(hosts[0], fabric.JoinFull), member(hosts[5], fabric.JoinSendOnly)}, true},
		{[]fabric.Member{member(hosts[0], fabric.JoinNon), member(hosts[5], fabric.JoinSendOnly)}, false},
		{
			[]fabric.Member{
				member(gone, fabric.JoinFull), member(hosts[0], fabric.JoinNon), member(hosts[5], fabric.JoinSendOnly),
			}, false,
		},
		{
			[]fabric.Member{member(hosts[0], fabric.JoinFull|fabric.JoinSendOnly), member(hosts[5], fabric.JoinNon)},
			true,
		},
	} {
		groups := []fabric.Group{{MLID: fabric.FirstMLID, Members: k.members}}
		res, err := mcast.Route(t.Context(), f, mcast.Router(f, routing.NewDistances(f), nil), groups, nil)
		if err != nil || (res.LIDs == 1) != k.tree {
			t.Errorf("%v: %+v, %v", k.members, res, err)
		}
	}
}
