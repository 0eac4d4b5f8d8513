// SPDX-License-Identifier: Apache-2.0

package updn

import (
	"context"
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/engines/minhop"
)

// OpenSM takes a switch as a root if the hosts of the subnet are at one distance from it. The share of the hosts at
// that distance must exceed most. The share at every other distance must not exceed few.
const (
	most = 0.9
	few  = 0.05
	// farthest is the number of distances that count: IB_SUBNET_PATH_HOPS_MAX.
	farthest = 64
)

// detectRoots marks the switches that OpenSM would detect as roots. If there are none, it returns the reason.
// O(switches^2).
func detectRoots(f *fabric.Fabric, hops routing.Hops, isRoot []bool) (why string) {
	total := eachHistogram(f, hops, func(h *Histogram) {
		if h.Root() {
			isRoot[h.Switch] = true
		}
	})
	if total == 0 {
		return "no roots found: there are no hosts"
	}
	return fmt.Sprintf("no roots found: from no switch are more than 90 %% of the %d host ports at one distance, "+
		"and not more than 5 %% at any other; root_guid_file can list the roots", total)
}

// Histogram counts the host ports at each distance from a switch. OpenSM detects roots by it.
type Histogram struct {
	Switch fabric.SwitchIndex
	// Ports counts the host ports, indexed by the number of hops to the switches to which they are attached.
	Ports [farthest]int
	// OverMost counts the distances with more than 90 % of all host ports. OverFew counts the distances with more than
	// 5 %.
	OverMost, OverFew int
}

// Root reports whether OpenSM takes the switch as a root.
func (h *Histogram) Root() bool { return h.OverMost == 1 && h.OverFew == 1 }

// Histograms returns the histograms by which updn detects roots with the given options, one for each switch of the
// subnet. It also returns the number of host ports. O(switches^2).
func Histograms(ctx context.Context, f *fabric.Fabric, opt *routing.Options) (all []Histogram, hosts int, err error) {
	hops, err := minhop.Hops(ctx, f, routing.NewGraph(f), opt)
	if err != nil {
		return nil, 0, err
	}
	hosts = eachHistogram(f, hops, func(h *Histogram) { all = append(all, *h) })
	return all, hosts, nil
}

// eachHistogram calls the function visit with the histogram of each switch, and returns the number of host ports.
func eachHistogram(f *fabric.Fabric, hops routing.Hops, visit func(*Histogram)) (total int) {
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
		h := Histogram{Switch: s}
		row = leastFrom(hops, s, row)
		for _, leaf := range leaves {
			if d := row[leaf]; d < farthest {
				h.Ports[d] += hosts[leaf]
			}
		}
		for _, n := range h.Ports {
			if float64(n) > float64(total)*most {
				h.OverMost++
			}
			if float64(n) > float64(total)*few {
				h.OverFew++
			}
		}
		visit(&h)
	}
	return total
}

// leastFrom returns the least counts from switch sw. It may use the slice row for the result.
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

// hostsOf counts the ports of adapters and routers on each switch. The result total is their sum.
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

// rank returns the distance of each switch from the nearest of some switches.
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
