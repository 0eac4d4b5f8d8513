// SPDX-License-Identifier: Apache-2.0

package routing

import "example.org/ibconsole/fabric"

// Tiers are the distances of switches, by switch, from the nearest switch with hosts; all are 0 where there are no
// hosts, and so are those that none leads to. O(ports).
func Tiers(f *fabric.Fabric) []int32 {
	tier := make([]int32, len(f.Switches))
	var queue []fabric.SwitchIndex
	for s := range f.NumSwitches() {
		tier[s] = fabric.None
		if hasHosts(f, s) {
			tier[s] = 0
			queue = append(queue, s)
		}
	}
	for ; len(queue) > 0; queue = queue[1:] {
		n := f.SwitchNode(queue[0])
		for p := range n.Ports() {
			if peer := f.PeerSwitch(p); peer != fabric.None && tier[peer] == fabric.None {
				tier[peer] = tier[queue[0]] + 1
				queue = append(queue, peer)
			}
		}
	}
	for s := range tier {
		tier[s] = max(tier[s], 0)
	}
	return tier
}

// hasHosts reports whether a switch has a link to a node that is no switch.
func hasHosts(f *fabric.Fabric, sw fabric.SwitchIndex) bool {
	n := f.SwitchNode(sw)
	for p := range n.Ports() {
		if peer := f.PeerNode(p); peer != fabric.None && !f.Nodes[peer].IsSwitch() {
			return true
		}
	}
	return false
}
