// SPDX-License-Identifier: Apache-2.0

package updn

import (
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// OpenSM takes a switch for a root if the hosts of the subnet lie at one distance
// from it: more than most of them there, and no other distance has more than few.
const (
	most = 0.9
	few  = 0.05
	// farthest bounds the distances that count: IB_SUBNET_PATH_HOPS_MAX.
	farthest = 64
)

// detectRoots marks the switches that look like roots, and says why there may be none. O(switches^2).
func detectRoots(f *fabric.Fabric, hops routing.Hops, isRoot []bool) (why string) {
	hosts, total := hostsOf(f)
	var leaves []int32
	for s, n := range hosts {
		if n > 0 {
			leaves = append(leaves, int32(s))
		}
	}
	row := make([]uint8, len(f.Switches))
	for s := range f.NumSwitches() {
		if !f.SwitchNode(s).InSubnet {
			continue
		}
		var bars [farthest]int
		row = leastFrom(hops, s, row)
		for _, leaf := range leaves {
			if h := row[leaf]; h < farthest {
				bars[h] += hosts[leaf]
			}
		}
		overMost, overFew := 0, 0
		for _, n := range bars {
			if float64(n) > float64(total)*most {
				overMost++
			}
			if float64(n) > float64(total)*few {
				overFew++
			}
		}
		if overMost == 1 && overFew == 1 {
			isRoot[s] = true
		}
	}
	if total == 0 {
		return "no hosts, and so no roots to be found"
	}
	return fmt.Sprintf("no roots found: from no switch are more than 90 %% of the %d host ports at one distance, "+
		"and not more than 5 %% at any other; root_guid_file can name the roots", total)
}

// leastFrom are the least counts from one switch, which it may write to row.
func leastFrom(hops routing.Hops, sw fabric.SwitchIndex, row []uint8) []uint8 {
	if h, ok := hops.(interface {
		From(sw fabric.SwitchIndex) []uint8
	}); ok {
		return h.From(sw)
	}
	for d := range row {
		row[d] = hops.Least(sw, fabric.SwitchIndex(d))
	}
	return row
}

// hostsOf counts the ports of adapters and routers on each switch, and all.
func hostsOf(f *fabric.Fabric) (hosts []int, total int) {
	hosts = make([]int, len(f.Switches))
	for _, e := range f.EndPorts {
		if s, port := f.AttachedSwitch(e); s != fabric.None && port != 0 {
			hosts[s]++
			total++
		}
	}
	return hosts, total
}

// rank is the distance of each switch from the nearest of some.
func rank(g *routing.Graph, from []fabric.SwitchIndex) []int32 {
	ranks := make([]int32, g.Switches())
	for s := range ranks {
		ranks[s] = routing.Unranked
	}
	queue := append(make([]fabric.SwitchIndex, 0, len(ranks)), from...)
	for _, s := range from {
		ranks[s] = 0
	}
	for k := 0; k < len(queue); k++ {
		for _, l := range g.Of(queue[k]) {
			if ranks[l.Peer] == routing.Unranked {
				ranks[l.Peer] = ranks[queue[k]] + 1
				queue = append(queue, l.Peer)
			}
		}
	}
	return ranks
}
