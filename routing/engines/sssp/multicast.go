// SPDX-License-Identifier: Apache-2.0

package sssp

import (
	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// groups computes the trees of multicast groups from the lengths of arcs after all routes were found
// (osm_ucast_dfsssp.c, dfsssp_do_mcast_routing).
type groups struct {
	*graph
	hops *hops
}

// AddGroup implements [routing.GroupRouter]. The tree consists of the shortest paths from the members to the root. The
// hop counts determine the root ([routing.GroupRoot]). The tree does not reach routers. O(links x log switches +
// members x hops).
func (g *groups) AddGroup(mft *fabric.MFT, mlid uint16, members []fabric.PortIndex) (outside []fabric.PortIndex,
	err error) {
	if len(members) < 2 {
		return nil, nil
	}
	root := routing.GroupRoot(g.f, g.hops, members)
	if root == fabric.None {
		return members, nil
	}
	var p plan
	newLevels(g.graph).planTo(root, &p)
	s := newSearch(g.graph)
	s.begin(&p)
	s.run(true)
	by := make([]int32, len(g.hosts))
	for i := range by {
		by[i] = fabric.None
	}
	for _, v := range s.tree {
		by[v.sw] = v.arc
	}
	return routing.AddTree(g.f, mft, mlid, root, members, func(sw fabric.SwitchIndex) (routing.TreeLink, bool) {
		arc := by[sw]
		if arc == fabric.None {
			return routing.TreeLink{}, false
		}
		return routing.TreeLink{Above: g.to[arc], Up: g.port[arc], Down: g.farPort[arc]}, true
	}), nil
}
