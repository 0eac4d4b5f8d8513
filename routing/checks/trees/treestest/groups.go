// SPDX-License-Identifier: Apache-2.0

package treestest

import (
	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// AddGroup adds a multicast group to tables: the part of a spanning tree of shortest paths to a root that its members
// need. It returns the members that the tree does not reach.
func AddGroup(f *fabric.Fabric, mft *fabric.MFT, mlid uint16, root fabric.SwitchIndex,
	members []fabric.PortIndex) (outside []fabric.PortIndex) {
	up := map[fabric.SwitchIndex]routing.TreeLink{}
	todo := []fabric.SwitchIndex{root}
	for i := 0; i < len(todo); i++ {
		n := f.SwitchNode(todo[i])
		for p := n.FirstPort + 1; p <= n.FirstPort+fabric.PortIndex(n.NumPorts); p++ {
			s := f.PeerSwitch(p)
			if _, known := up[s]; s != fabric.None && s != root && !known {
				up[s] = routing.TreeLink{Above: todo[i], Up: f.Ports[f.Ports[p].Peer].Num, Down: f.Ports[p].Num}
				todo = append(todo, s)
			}
		}
	}
	return routing.AddTree(f, mft, mlid, root, members,
		func(s fabric.SwitchIndex) (routing.TreeLink, bool) { l, ok := up[s]; return l, ok })
}
