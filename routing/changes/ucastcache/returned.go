// SPDX-License-Identifier: Apache-2.0

package ucastcache

import "example.org/ibconsole/fabric"

// After is like [Cache.Next] with the subnet of the last sweep. A switch that returns with its LID makes OpenSM drop
// the cache if one of its links leads away from the subnet manager: the sweep finds that link when the switch is
// already known, removes it from the cache, and then does not find it there (osm_ucast_cache_check_new_link). Both
// fabrics have the same indexes.
func (c Cache) After(before, f *fabric.Fabric) (*fabric.Tables, Verdict) {
	t, v := c.Next(f)
	if t == nil {
		return nil, v
	}
	depth := depths(f)
	for _, l := range f.Links() {
		a, b := f.Ports[l.A].Node, f.Ports[l.B].Node
		if !f.Nodes[a].IsSwitch() || !f.Nodes[b].IsSwitch() || depth[a] == 0 || depth[b] == 0 {
			continue
		}
		near, far := a, b
		if depth[near] > depth[far] {
			near, far = far, near
		}
		newNear, newFar := !before.Nodes[near].InSubnet, !before.Nodes[far].InSubnet
		if newNear && !newFar || newFar && !newNear && depth[near] == depth[far] {
			v.Reasons = append(v.Reasons, Reason{
				LinkLate, "the link " + linkName(f, l) + " of a switch that returned leads away from the subnet " +
					"manager",
			})
			t = nil
		}
	}
	return t, v
}

// depths returns 1 + the distance of each switch from the subnet manager's node in links, or 0 for nodes that are not
// reached.
func depths(f *fabric.Fabric) []int {
	depth := make([]int, len(f.Nodes))
	if f.SMPort == fabric.None {
		return depth
	}
	first := f.Ports[f.SMPort].Node
	depth[first] = 1
	for queue := []fabric.NodeIndex{first}; len(queue) > 0; queue = queue[1:] {
		n := queue[0]
		if n != first && !f.Nodes[n].IsSwitch() {
			continue
		}
		for p := range f.Nodes[n].Slots() {
			if peer := f.PeerNode(p); peer != fabric.None && depth[peer] == 0 && (n != first || f.Nodes[n].IsSwitch() ||
				p == f.SMPort) {
				depth[peer] = depth[n] + 1
				queue = append(queue, peer)
			}
		}
	}
	return depth
}
