// SPDX-License-Identifier: Apache-2.0

package assign

import "example.org/ibconsole/routing"

// laterLIDs routes to the LIDs of a run's targets that are offset above the
// first, by other systems and switches than the LIDs before them where that can
// be (osm_switch.c, osm_switch_recommend_path, routing_for_lmc).
func (a *assigner) laterLIDs(set *routing.PortSet, r *run, offset int) {
	towards := a.towards(set)
	for _, t := range r.targets {
		if offset >= int(t.lids) {
			continue
		}
		port, kept := a.kept(set, t.lid+uint16(offset))
		if !kept {
			port = a.choose(towards, t.lid, offset, r.counted)
		}
		a.give(t.lid+uint16(offset), port, r.counted)
	}
}

func (a *assigner) choose(set *routing.PortSet, lid uint16, offset int, counted bool) uint8 {
	a.use(set)
	start := a.start(lid + uint16(offset))
	var used []byte
	if counted {
		used = a.row[lid : int(lid)+offset]
	}
	switch {
	case !a.dor:
		var systems, nodes routing.PortSet
		for _, port := range used {
			if !a.ignored.Has(port) {
				systems.Join(&a.sameSystem[port])
				nodes.Join(&a.sameNode[port])
			}
		}
		if fresh := set.Without(&systems); !fresh.Empty() {
			return a.leastUsed(&fresh, start)
		}
		if fresh := set.Without(&nodes); !fresh.Empty() {
			return a.leastUsed(&fresh, start)
		}
	case a.opt.PortShifting:
		// What follows is never asked for shifted dimension order routing.
		return a.leastUsed(set, start)
	}
	return a.leastForwarded(used, start)
}

// start is the place from which on the ports of the current set are looked at for
// a LID that is not the first one of its port.
func (a *assigner) start(lid uint16) uint8 {
	start := uint8(1)
	if !a.dor {
		start = uint8((int(a.portAt[a.row[lid-1]]) + 1) % a.numPorts)
	}
	if !a.opt.PortShifting {
		return start
	}
	late := a.set.From(start)
	turn, n := a.turn(), late.Len()
	if turn < n {
		return late.Nth(turn)
	}
	return a.set.Nth(turn - n)
}

// leastUsed is the first port found of those used the least, among some of the
// current set.
func (a *assigner) leastUsed(among *routing.PortSet, start uint8) uint8 {
	if best := among.And(&a.best); !best.Empty() {
		return best.FirstFrom(start)
	}
	least, best := ^uint32(0), uint8(0)
	for _, port := range a.search(among, start) {
		if a.count[port] < least {
			least, best = a.count[port], port
		}
	}
	return best
}

// search lists the ports of a set in the order in which they are looked at.
func (a *assigner) search(set *routing.PortSet, start uint8) []uint8 {
	late := set.From(start)
	early := set.Without(&late)
	return early.AppendTo(late.AppendTo(a.found[:0]))
}

// leastForwarded is OpenSM's choice where all neighbours were used by the
// target: the least used port, and of two used alike that whose neighbour got
// fewer of the target's LIDs than any port looked at before had when it was
// the choice. (That least number does not start anew with a lesser count.)
// Dimension order routing looks at cables instead of neighbours.
func (a *assigner) leastForwarded(used []byte, start uint8) uint8 {
	for _, port := range used {
		if !a.ignored.Has(port) {
			a.forwarded[a.cable(port)]++
		}
	}
	leastCount, leastForwarded, best := ^uint32(0), ^uint32(0), uint8(0)
	for _, port := range a.search(&a.set, start) {
		count, forwarded := a.count[port], a.forwarded[a.cable(port)]
		switch {
		case count < leastCount:
			leastCount, best = count, port
			leastForwarded = min(leastForwarded, forwarded)
		case count == leastCount && forwarded < leastForwarded:
			leastForwarded, best = forwarded, port
		}
	}
	for _, port := range used {
		a.forwarded[a.cable(port)] = 0
	}
	return best
}

// cable is a number for what a port leads to, as far as it makes a difference.
func (a *assigner) cable(port uint8) uint8 {
	if a.dor {
		return port
	}
	return a.sameNode[port].First()
}

// countDraws is how many random numbers the switch will draw.
func (a *assigner) countDraws() int {
	draws := 0
	for i := range a.runs {
		r := &a.runs[i]
		set := a.sets.At(r.sw)
		if r.sw == a.sw || set.Empty() {
			continue
		}
		for _, t := range r.targets {
			if _, kept := a.kept(&set, t.lid); t.scatter && !kept {
				draws++
			}
		}
	}
	return draws
}
