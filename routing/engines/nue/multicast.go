// SPDX-License-Identifier: Apache-2.0

package nue

import (
	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// groups computes the trees of multicast groups from the lengths of channels after all routes were found
// (osm_ucast_nue.c, nue_do_mcast_routing). The packets of groups can deadlock, alone and together with the unicast
// routes.
type groups struct {
	*network
	hops *hops
}

// AddGroup implements [routing.GroupRouter]. The tree consists of the shortest paths from the members to the root. The
// hop counts determine the root ([routing.GroupRoot]). O(channels + switches x rounds + members x hops).
func (g *groups) AddGroup(mft *fabric.MFT, mlid uint16, members []fabric.PortIndex) (outside []fabric.PortIndex,
	err error) {
	if len(members) < 2 {
		return nil, nil
	}
	root := routing.GroupRoot(g.f, g.hops, members)
	if root == fabric.None {
		return members, nil
	}
	t := newTree(g.network)
	t.grow(g.number[root])
	return routing.AddTree(g.f, mft, mlid, root, members, func(sw fabric.SwitchIndex) (routing.TreeLink, bool) {
		c := t.up[g.number[sw]]
		if c == fabric.None {
			return routing.TreeLink{}, false
		}
		return routing.TreeLink{Above: g.switches[g.to[c]], Up: g.port[c], Down: g.farPort[c]}, true
	}), nil
}
