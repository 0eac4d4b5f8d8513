// SPDX-License-Identifier: Apache-2.0

package trace

import "example.org/ibconsole/fabric"

// countChoices counts at each switch of the path the ports on a shortest path to the destination. O(ports).
func (t *trace) countChoices() {
	f := t.Scene.Picture.Fabric
	t.choices = make([]int, len(t.hops.Hops))
	if t.hops.Dst == fabric.None {
		return
	}
	to, _ := f.AttachedSwitch(t.hops.Dst)
	if to == fabric.None {
		return
	}
	away := distances(f, to)
	for i, h := range t.hops.Hops {
		s := f.Nodes[h.Node].Switch
		if s == fabric.None || away[s] == fabric.None {
			continue
		}
		if s == to {
			t.choices[i] = 1
			continue
		}
		n := f.SwitchNode(s)
		for p := range n.Ports() {
			if q := f.PeerSwitch(p); q != fabric.None && away[q] == away[s]-1 {
				t.choices[i]++
			}
		}
	}
}

// distances are the links from each switch to one, None where there is no path.
func distances(f *fabric.Fabric, to fabric.SwitchIndex) []int32 {
	away := make([]int32, len(f.Switches))
	for s := range away {
		away[s] = fabric.None
	}
	away[to] = 0
	for queue := []fabric.SwitchIndex{to}; len(queue) > 0; queue = queue[1:] {
		n := f.SwitchNode(queue[0])
		for p := range n.Ports() {
			if q := f.PeerSwitch(p); q != fabric.None && away[q] == fabric.None {
				away[q] = away[queue[0]] + 1
				queue = append(queue, q)
			}
		}
	}
	return away
}
