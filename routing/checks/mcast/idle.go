// SPDX-License-Identifier: Apache-2.0

package mcast

import (
	"example.org/ibconsole/fabric"
)

// tidy counts the pairs of a tree: each receives its packets once.
func (c *checker) tidy() {
	c.counts.Pairs = pairs(c.lid.Members)
	c.idle()
}

// pairs returns the number of pairs of a member and another one that receives.
func pairs(members []Member) int64 {
	receivers := int64(0)
	for _, m := range members {
		if m.Join.Receives() {
			receivers++
		}
	}
	return int64(len(members))*receivers - receivers
}

// idle counts the switches of a tree behind which there is no member: leaves of the tree without members, repeatedly.
func (c *checker) idle() {
	degree, leads := map[fabric.SwitchIndex]int{}, map[fabric.SwitchIndex]bool{}
	links := func(s fabric.SwitchIndex, each func(next fabric.SwitchIndex)) {
		node := c.f.SwitchNode(s)
		for out := range c.t.MFT.Each(s, c.lid.MLID) {
			if out == 0 || out > int(node.NumPorts) || c.f.PeerSwitch(node.FirstPort+fabric.PortIndex(out)) ==
				fabric.None {
				continue
			}
			each(c.f.PeerSwitch(node.FirstPort + fabric.PortIndex(out)))
		}
	}
	for _, s := range c.switches {
		links(s, func(fabric.SwitchIndex) { degree[s]++ })
	}
	for _, m := range c.lid.Members {
		if sw, _ := c.f.AttachedSwitch(m.End); sw != fabric.None {
			leads[sw] = true
		}
	}
	var tips []fabric.SwitchIndex
	for _, s := range c.switches {
		if degree[s] == 1 && !leads[s] {
			tips = append(tips, s)
		}
	}
	for len(tips) > 0 {
		s := tips[len(tips)-1]
		tips = tips[:len(tips)-1]
		degree[s] = 0
		c.counts.Idle++
		links(s, func(next fabric.SwitchIndex) {
			if degree[next] == 0 {
				return
			}
			if degree[next]--; degree[next] == 1 && !leads[next] {
				tips = append(tips, next)
			}
		})
	}
}
