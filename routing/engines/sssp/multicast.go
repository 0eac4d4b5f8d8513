// SPDX-License-Identifier: Apache-2.0

package sssp

import (
	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// groups makes the trees of multicast groups out of the lengths that arcs have
// once all routes are found (osm_ucast_dfsssp.c, dfsssp_do_mcast_routing).
type groups struct {
	*graph
	hops *hops
}

// AddGroup implements [routing.GroupRouter]. The tree is the part that members need
// of the shortest ways from the root that hop counts choose ([routing.GroupRoot]). A
// member that is a router is not reached. O(links x log switches + members x hops).
func (g *groups) AddGroup(mft *fabric.MFT, mlid uint16, members []fabric.PortIndex) (outside []fabric.PortIndex, err error) {
	if len(members) < 2 {
		return nil, nil
	}
	root := routing.GroupRoot(g.f, g.hops, members)
	if root == fabric.None {
		return members, nil
	}
	s := newSearch(g.graph)
	s.run(root, true)
	return routing.AddTree(g.f, mft, mlid, root, members, func(sw fabric.SwitchIndex) (routing.TreeLink, bool) {
		arc := s.by[sw]
		if arc == fabric.None {
			return routing.TreeLink{}, false
		}
		return routing.TreeLink{Above: g.from[arc], Up: g.farPort[arc], Down: g.port[arc]}, true
	}), nil
}
