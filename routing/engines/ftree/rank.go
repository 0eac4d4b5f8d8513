// SPDX-License-Identifier: Apache-2.0

package ftree

import (
	"math"

	"example.org/ibconsole/fabric"
)

// unranked is the rank of a switch that has none.
const unranked = math.MaxUint32

// rankSwitches ranks the switches from the roots given, or where there are none or their file is broken, from
// what is farthest from the adapters. Numbers overflow as they do in OpenSM.
func (t *tree) rankSwitches() {
	t.rank = make([]uint32, len(t.f.Switches))
	for s := range t.rank {
		t.rank[s] = unranked
	}
	var given []fabric.SwitchIndex
	for _, guid := range t.opt.RootGUIDs {
		if s := t.f.SwitchByGUID(guid); s != fabric.None && t.f.SwitchNode(s).InSubnet {
			t.rank[s] = 0
			given = append(given, s)
		}
	}
	if len(given) > 0 && !t.opt.DetectRoots {
		t.spread(given)
		return
	}
	var leaves []fabric.SwitchIndex
	for i := range t.adapters {
		if s := t.adapters[i].sw; t.better(s, 0) {
			leaves = append(leaves, s)
		}
	}
	t.spread(leaves)
	// What lies farthest from the adapters is at the top. Roots from before a
	// broken line are ranked again, but from where they stand.
	queue := given
	for s := range t.rank {
		if t.rank[s] != unranked && t.rank[s] == uint32(t.maxRank) {
			t.rank[s] = 0
			queue = append(queue, fabric.SwitchIndex(s))
		} else {
			t.rank[s] = unranked
		}
	}
	t.spread(queue)
}

// spread ranks what can be reached from a queue of switches.
func (t *tree) spread(queue []fabric.SwitchIndex) {
	last := uint32(0)
	for k := 0; k < len(queue); k++ {
		for _, l := range t.g.Of(queue[k]) {
			if t.better(l.Peer, t.rank[queue[k]]+1) {
				last = t.rank[l.Peer]
				queue = append(queue, l.Peer)
			}
		}
	}
	t.maxRank = uint8(last)
}

// better gives a switch a rank that is lower than what it has.
func (t *tree) better(s fabric.SwitchIndex, rank uint32) bool {
	if t.rank[s] != unranked && t.rank[s] <= rank {
		return false
	}
	t.rank[s] = rank
	return true
}
