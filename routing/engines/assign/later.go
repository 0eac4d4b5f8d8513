// SPDX-License-Identifier: Apache-2.0

package assign

// laterLIDs computes the entries for one LID of each target of a run, other than the first LID. The argument offset is
// the position of the LID among the LIDs of the target. If possible, the route passes other systems and switches than
// the routes to the lower LIDs of the target (osm_switch.c, osm_switch_recommend_path, routing_for_lmc).
func (a *assigner[S]) laterLIDs(ports S, r *run, offset int) {
	towards := a.towards(ports)
	for _, t := range a.of(r) {
		if offset >= int(t.lids) {
			continue
		}
		port, kept := a.kept(ports, t.lid+uint16(offset))
		if !kept {
			a.use(towards)
			port = a.choose(t.lid, offset, r.counted)
		}
		a.give(t.lid+uint16(offset), port, r.counted)
	}
}

// choose finds a port of the current set.
func (a *assigner[S]) choose(lid uint16, offset int, counted bool) uint8 {
	start := a.start(lid + uint16(offset))
	var used []byte
	if counted {
		used = a.row[lid : int(lid)+offset]
	}
	switch {
	case !a.dor:
		var systems, nodes S
		for _, port := range used {
			if !has(a.ignored, port) {
				systems = or(systems, a.sameSystem[port])
				nodes = or(nodes, a.sameNode[port])
			}
		}
		if fresh := minus(a.set, systems); !empty(fresh) {
			return a.leastUsed(fresh, start)
		}
		if fresh := minus(a.set, nodes); !empty(fresh) {
			return a.leastUsed(fresh, start)
		}
	case a.opt.PortShifting:
		// Dimension order routing with port_shifting never uses leastForwarded.
		return a.leastUsed(a.set, start)
	}
	return a.leastForwarded(used, start)
}

// start returns the place at which the search for a port begins. The LID must not be the first LID of its port.
func (a *assigner[S]) start(lid uint16) uint8 {
	start := uint8(1)
	if !a.dor {
		start = uint8((int(a.portAt[a.row[lid-1]]) + 1) % a.numPorts)
	}
	if !a.opt.PortShifting {
		return start
	}
	late := from(a.set, start)
	turn, n := a.turn(), size(late)
	if turn < n {
		return nth(late, turn)
	}
	return nth(a.set, turn-n)
}

// leastUsed returns the first of the least used ports in a part of the current set. The argument start is the position
// at which the search begins.
func (a *assigner[S]) leastUsed(among S, start uint8) uint8 {
	if best := and(among, a.best); !empty(best) {
		return firstFrom(best, start)
	}
	least, best := ^uint32(0), uint8(0)
	for _, port := range a.search(among, start) {
		if a.count[port] < least {
			least, best = a.count[port], port
		}
	}
	return best
}

// search lists ports in the order of the search. The argument start is the position at which the search begins.
func (a *assigner[S]) search(ports S, start uint8) []uint8 {
	late := from(ports, start)
	return list(list(a.found[:0], late), minus(ports, late))
}

// leastForwarded makes OpenSM's choice if the target already uses all neighbours. It returns the least used port. In a
// tie it takes the port whose neighbour has fewer of the target's LIDs than all previous choices. Like OpenSM, it does
// not reset that number when it finds a port with fewer uses. Dimension order routing counts LIDs by cable and not by
// neighbour.
func (a *assigner[S]) leastForwarded(used []byte, start uint8) uint8 {
	for _, port := range used {
		if !has(a.ignored, port) {
			a.forwarded[a.cable(port)]++
		}
	}
	leastCount, leastForwarded, best := ^uint32(0), ^uint32(0), uint8(0)
	for _, port := range a.search(a.set, start) {
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

// cable returns a number that is equal for all ports that leastForwarded does not distinguish.
func (a *assigner[S]) cable(port uint8) uint8 {
	if a.dor {
		return port
	}
	return first(a.sameNode[port])
}

// countDraws returns how many random numbers the routes of the switch need.
func (a *assigner[S]) countDraws() int {
	draws := 0
	for i := range a.runs {
		r := &a.runs[i]
		ports := at[S](a.sets, r.sw)
		if r.sw == a.sw || empty(ports) {
			continue
		}
		for _, t := range a.of(r) {
			if _, kept := a.kept(ports, t.lid); t.scatter && !kept {
				draws++
			}
		}
	}
	return draws
}
