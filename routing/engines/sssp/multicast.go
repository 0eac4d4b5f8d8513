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
	for _, m := range members {
		sw, port := g.f.AttachedSwitch(m)
		if sw == fabric.None || s.distance[sw] == infinity {
			outside = append(outside, m)
			continue
		}
		if port == 0 || isAdapter(g.f, m) {
			mft.Add(sw, mlid, port)
		} else {
			outside = append(outside, m)
		}
		for ; sw != root; sw = g.from[s.by[sw]] {
			arc := s.by[sw]
			mft.Add(sw, mlid, g.farPort[arc])
			mft.Add(g.from[arc], mlid, g.port[arc])
		}
	}
	return outside, nil
}
