// SPDX-License-Identifier: Apache-2.0

package mcast

import (
	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// minHop builds multicast trees from hop counts, as OpenSM does for most engines (osm_mcast_mgr.c, mcast_mgr_branch).
// From the root on, packets leave each switch by the first port with the fewest hops to the switch of a member,
// independent of other members.
//
// If hop counts are distances, the result is a tree. If an engine prohibits some paths, as up/down routing does, two
// branches may meet again. In this case OpenSM and minHop write entries with a cycle.
type minHop struct {
	f    *fabric.Fabric
	hops routing.Hops
}

// maxDepth is the maximum number of switches in a row on a branch. OpenSM abandons a longer branch.
const maxDepth = 63

// AddGroup implements [routing.GroupRouter]. A group of fewer than two members gets no entries. It takes O(switches x
// switches with members), and O(hops x ports) for each switch with members.
func (h *minHop) AddGroup(mft *fabric.MFT, mlid uint16, members []fabric.PortIndex) (outside []fabric.PortIndex,
	err error) {
	if len(members) < 2 {
		return nil, nil
	}
	root := routing.GroupRoot(h.f, h.hops, members)
	if root == fabric.None {
		return members, nil
	}
	g := grower{minHop: h, mft: mft, mlid: mlid}
	g.branch(root, members, 0, 1)
	return g.outside, nil
}

// grower grows the tree of one group.
type grower struct {
	*minHop
	mft     *fabric.MFT
	mlid    uint16
	outside []fabric.PortIndex
}

// branch adds the entries of switch sw for some members, and of the switches behind it. up is the port by which packets
// enter sw, or 0 for the root.
func (g *grower) branch(sw fabric.SwitchIndex, members []fabric.PortIndex, up uint8, depth int) {
	if depth > maxDepth {
		g.outside = append(g.outside, members...)
		return
	}
	node := g.f.SwitchNode(sw)
	byPort := g.divide(sw, members)
	if depth > 1 {
		g.mft.Add(sw, g.mlid, up)
	}
	for port, behind := range byPort {
		if behind == nil {
			continue
		}
		i := node.FirstPort + fabric.PortIndex(port)
		if port != 0 && !g.f.Ports[i].Linked() {
			g.outside = append(g.outside, behind...)
			continue
		}
		g.mft.Add(sw, g.mlid, uint8(port))
		if next := g.f.PeerSwitch(i); port != 0 && next != fabric.None {
			g.branch(next, behind, g.f.Ports[g.f.Ports[i].Peer].Num, depth+1)
		}
	}
}

// divide groups members by the port of the switch that leads to them.
func (g *grower) divide(sw fabric.SwitchIndex, members []fabric.PortIndex) [][]fabric.PortIndex {
	byPort := make([][]fabric.PortIndex, int(g.f.SwitchNode(sw).NumPorts)+1)
	ports := map[fabric.SwitchIndex]int{} // by the switch that they are attached to
	for _, m := range members {
		at, port := g.f.AttachedSwitch(m)
		out := int(port)
		if at == fabric.None {
			out = noPort
		} else if at != sw {
			var met bool
			if out, met = ports[at]; !met {
				out = g.first(sw, at)
				ports[at] = out
			}
		}
		if out == noPort {
			g.outside = append(g.outside, m)
			continue
		}
		byPort[out] = append(byPort[out], m)
	}
	return byPort
}

const noPort = -1

// first returns the first port of switch sw with the fewest hops to switch dst.
func (g *grower) first(sw, dst fabric.SwitchIndex) int {
	least := g.hops.Least(sw, dst)
	if least == routing.NoHops {
		return noPort
	}
	for port := 1; port <= int(g.f.SwitchNode(sw).NumPorts); port++ {
		if g.hops.Through(sw, uint8(port), dst) == least {
			return port
		}
	}
	return noPort
}
