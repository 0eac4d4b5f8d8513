// SPDX-License-Identifier: Apache-2.0

package assign

import (
	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// Recommend returns the function by which OpenSM would choose the port to a LID after all routes were computed, as it
// does for opensm.fdbs (osm_dump.c; osm_switch_recommend_path without LMC).
//
// The routes of three tables count as uses of ports: opt.Counted, own and applied. The argument own has the tables of
// the engine if the engine counts them. The argument applied has the tables of a file. Each table may be nil. With
// scatter_ports each call draws the next random number, so calls must be in the order of the dump.
func Recommend(f *fabric.Fabric, hops routing.Hops, opt *routing.Options, own *fabric.LFT,
	applied *fabric.Tables) routing.Recommend {
	r := &recommender{f: f, hops: hops, opt: opt, applied: applied, orders: searchOrders(f, opt.PortSearchOrder),
		sw: fabric.None}
	if opt.ScatterPorts != 0 {
		r.random = routing.NewRandom(opt.ScatterPorts)
	}
	for _, counted := range []*fabric.LFT{opt.Counted, own} {
		if counted != nil {
			r.counted, r.targets = append(r.counted, counted), targetOrder(f, opt)
		}
	}
	return r.recommend
}

// recommender recommends ports of one switch at a time.
type recommender struct {
	f       *fabric.Fabric
	hops    routing.Hops
	opt     *routing.Options
	applied *fabric.Tables
	// counted are tables whose routes count as uses of ports. targets are the LIDs that are counted.
	counted []*fabric.LFT
	targets targets
	orders  map[fabric.SwitchIndex][]uint8
	random  routing.Random

	sw    fabric.SwitchIndex
	order []uint8 // the ports in their search order
	count [256]int
	found []uint8 // scratch
}

func (r *recommender) recommend(sw fabric.SwitchIndex, lid uint16) uint8 {
	end := r.f.PortByLID(lid)
	if end == fabric.None {
		return fabric.NoPath
	}
	dst, local := r.f.AttachedSwitch(end)
	if dst == sw && dst != fabric.None {
		return local
	}
	if dst == fabric.None || r.hops.Least(sw, dst) == routing.NoHops {
		return fabric.NoPath
	}
	if sw != r.sw {
		r.turnTo(sw)
	}
	r.found = r.found[:0]
	total, least := 0, r.hops.Least(sw, dst)
	for _, port := range r.order {
		if r.f.Port(r.f.Switches[sw], port) != fabric.None && r.f.Ports[r.f.Port(r.f.Switches[sw], port)].Linked() &&
			r.hops.Through(sw, port, dst) == least {
			r.found = append(r.found, port)
			total += r.count[port]
		}
	}
	if len(r.found) == 0 {
		return fabric.NoPath
	}
	return r.choose(total)
}

// choose chooses one of the ports that were found. The argument total is the sum of the uses of these ports.
func (r *recommender) choose(total int) uint8 {
	n, start := len(r.found), 0
	if r.opt.PortShifting {
		start = total / n % n
	}
	best, fewest := r.found[start], 0
	for i := range n {
		if port := r.found[(start+i)%n]; r.count[port] < r.count[best] {
			best = port
		}
	}
	if r.opt.ScatterPorts == 0 {
		return best
	}
	for _, port := range r.found {
		if r.count[port] == r.count[best] {
			r.found[fewest] = port
			fewest++
		}
	}
	return r.found[r.random.Next()%uint32(fewest)]
}

// turnTo counts the routes of a switch.
func (r *recommender) turnTo(sw fabric.SwitchIndex) {
	r.sw, r.count, r.order = sw, [256]int{}, nil
	if order := r.orders[sw]; order != nil {
		r.order = order[1:]
	} else {
		for p := range int(r.f.SwitchNode(sw).NumPorts) {
			r.order = append(r.order, uint8(p+1))
		}
	}
	for i := range r.targets.runs {
		run := &r.targets.runs[i]
		for _, t := range r.targets.of(run) {
			for n := 0; run.counted && n < int(t.lids); n++ {
				for _, lft := range r.counted {
					r.count[lft.Port(sw, t.lid+uint16(n))]++
				}
			}
		}
	}
	if r.applied != nil {
		r.countApplied()
	}
}

// countApplied counts the routes of a file as OpenSM counts them when it reads the file. OpenSM omits routes to
// switches here if ProfileSwitchNodes is set, although the option says that they count.
func (r *recommender) countApplied() {
	for lid := 1; lid <= int(r.applied.Top[r.sw]); lid++ {
		e := r.f.PortByLID(uint16(lid))
		if r.opt.ProfileSwitchNodes && e != fabric.None && r.f.Nodes[r.f.Ports[e].Node].IsSwitch() {
			continue
		}
		r.count[r.applied.Port(r.sw, uint16(lid))]++
	}
}
