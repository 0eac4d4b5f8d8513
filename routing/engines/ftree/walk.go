// SPDX-License-Identifier: Apache-2.0

package ftree

import "example.org/ibconsole/fabric"

// farthest is the number of hops to the target at which walks end.
const farthest = fabric.NoPath - 1

// set gives the neighbour of a group the entry that leads to s (argument far). The argument hops is the neighbour's new
// number of hops to the target.
func (w *walker) set(g *group, far uint8, s fabric.SwitchIndex, hops uint8) {
	w.out[g.slot], w.hops[g.slot] = far, hops
	if w.toSwitch {
		w.record.note(w.tree, g, s, hops)
	}
}

// goDown routes the switches below s, and those of the same rank, by way of s. It skips switches that already have as
// few hops to the target. The argument hops is the number of hops from s to the target. goDown reports whether it found
// adapters; if so, it counts the path up to s.
func (w *walker) goDown(s, from fabric.SwitchIndex, hops uint8) bool {
	list, at := w.down[s], &w.at[s]
	if len(list) == 0 || hops >= farthest {
		return false
	}
	if at.counted {
		order(list)
		at.counted, w.reordered[s] = false, true
	}
	side := w.side[s]
	order(side)
	found := at.hosts
	if !w.covered(at, hops) {
		if w.canRunDown(at, s, hops) {
			found = w.downRuns(s, hops) || found
		} else {
			found = w.downAll(list, s, from, hops) || found
		}
		if w.lid != 0 {
			found = w.downAll(side, s, from, hops) || found
		}
		w.cover(at, hops)
	}
	if found && at.root {
		w.turn[s]++
	}
	return found
}

// canRunDown reports whether all switches below s can be routed by way of s in runs, because nothing changes below its
// neighbours.
func (w *walker) canRunDown(at *place, s fabric.SwitchIndex, hops uint8) bool {
	return w.below[s] != nil && w.lowerCovered(at, hops) && w.canRun(s, hops)
}

// canRun reports whether the runs of s can be used. The argument hops is the number of hops from s to the target.
func (w *walker) canRun(s fabric.SwitchIndex, hops uint8) bool {
	return hops < mostHops && !w.off && (!w.toSwitch || w.record.agrees(s, hops))
}

func (w *walker) downRuns(s fabric.SwitchIndex, hops uint8) (found bool) {
	for i := range w.below[s] {
		r := &w.below[s][i]
		found = r.take(w.hops, w.out, hops+1) && r.hosts || found
	}
	return found
}

func (w *walker) downAll(list []group, s, from fabric.SwitchIndex, hops uint8) (found bool) {
	next := hops + 1
	known, out := w.hops, w.out
	for i := range list {
		g := &list[i]
		r := g.remote
		if r == fabric.None || known[g.slot] <= next || r == from || w.stays(g) {
			continue
		}
		far, p := g.far, (*port)(nil)
		if g.n > 1 {
			p = w.leastUp(g)
			far = p.far
		}
		known[g.slot], out[g.slot] = next, far
		if w.toSwitch {
			w.record.note(w.tree, g, s, next)
		}
		at := &w.at[r]
		reached := at.hosts
		if !at.bottom && (at.counted || !w.covered(at, next)) {
			reached = w.goDown(r, fabric.None, next)
		}
		if !reached {
			continue
		}
		found = true
		if p != nil {
			p.up++
		}
		if here := &w.at[s]; !here.tree {
			g.key += onePath
			here.counted = true
		}
	}
	return found
}

// stays reports whether a neighbour keeps its path even if there is a shorter path.
func (w *walker) stays(g *group) bool {
	return w.opt.NoBullMinHop && w.hops[g.slot] != fabric.NoPath
}

// goUp routes other switches to the target by way of s: first the switches below s, then the switches above s and those
// below them. The argument hops is the number of hops from s to the target.
//
// The main path goes up first, by the group and port with the fewest counted paths, and is counted. The secondary paths
// go up to switches that are farther from the target or have no path yet. The argument credit is the number of times
// that a path may still turn back down to go up elsewhere.
func (w *walker) goUp(s, from fabric.SwitchIndex, main bool, credit uint16, hops uint8) bool {
	found := w.goDown(s, from, hops)
	if hops >= farthest {
		return found
	}
	at := &w.at[s]
	if at.root {
		return w.turnAtRoot(s, main, credit, hops) || found
	}
	list := w.up[s]
	if len(list) == 0 {
		return found
	}
	if at.unordered {
		order(list)
		at.unordered = false
	}
	least := list[0].near
	if main {
		found = w.upMain(&list[0], s, credit, hops) || found
		list = list[1:]
	}
	if w.opt.NoBullSecondary {
		orderByPlace(list)
		at.unordered = true
	}
	found = w.upOthers(list, s, credit, hops, noPort) || found
	if side := w.side[s]; len(side) > 0 {
		orderByPlace(side)
		found = w.upOthers(side, s, credit, hops, least) || found
	}
	if credit == 0 || w.isLeaf[s] {
		return found
	}
	for i := 0; i < len(w.down[s]); i++ {
		found = w.turnBack(w.down[s][i].remote, s, true, credit, hops) || found
	}
	return found
}

// noPort differs from the first port of every group.
const noPort = 0

// upMain continues the main path upwards.
func (w *walker) upMain(g *group, s fabric.SwitchIndex, credit uint16, hops uint8) bool {
	next, r, far := hops+1, g.remote, g.far
	if g.n > 1 {
		p := w.leastDown(g)
		p.down++
		far = p.far
	}
	g.key += onePath
	w.at[s].unordered = true
	if w.out[g.slot] == fabric.NoPath || next < w.hops[g.slot] && !w.stays(g) {
		w.set(g, far, s, next)
	}
	return w.goUp(r, s, true, credit, next)
}

// upOthers continues the secondary paths upwards, or to switches of the same rank. In the latter case the argument
// least is not noPort. Paths to the same rank that reach adapters are then counted on the up group whose first port is
// given by this argument.
func (w *walker) upOthers(list []group, s fabric.SwitchIndex, credit uint16, hops, least uint8) (found bool) {
	next := hops + 1
	above := &w.above[s]
	for i := range list {
		if least == noPort && len(above.ports) > 0 && w.covered(&w.at[list[i].remote], next) && w.canRun(s, hops) {
			above.take(w.hops, w.out, next)
			return found
		}
		g := &list[i]
		r := g.remote
		if w.out[g.slot] != fabric.NoPath && (next >= w.hops[g.slot] || w.stays(g)) {
			continue
		}
		far, p := g.far, (*port)(nil)
		if g.n > 1 {
			p = w.leastDown(g)
			far = p.far
		}
		w.set(g, far, s, next)
		if at := &w.at[r]; at.root && credit == 0 && !at.counted && !at.hosts && w.covered(at, next) {
			continue // nothing changes below this root
		}
		if !w.goUp(r, s, false, credit, next) {
			continue
		}
		found = true
		if least != noPort {
			w.countDown(s, least)
			if p != nil {
				p.down++
			}
		}
	}
	return found
}

// countDown counts a path down on the up group with a given first port.
func (w *walker) countDown(s fabric.SwitchIndex, near uint8) {
	for i := range w.up[s] {
		if g := &w.up[s][i]; g.near == near {
			g.key += onePath
		}
	}
	w.at[s].unordered = true
}

// turnAtRoot continues paths from a root down to each neighbour and from there up elsewhere. Each call begins with
// another neighbour.
func (w *walker) turnAtRoot(s fabric.SwitchIndex, main bool, credit uint16, hops uint8) (found bool) {
	n := uint64(len(w.down[s]))
	if credit == 0 || n == 0 {
		return false
	}
	w.turn[s]++
	first := w.turn[s] % n
	for i := range n {
		found = w.turnBack(w.down[s][(first+i)%n].remote, s, main, credit, hops) || found
	}
	return found
}

// ticksPerCheck is the number of turns between two checks of the context.
const ticksPerCheck = 1024

// turnBack continues a path up from switch r, which was reached by going down from another switch.
func (w *walker) turnBack(r, from fabric.SwitchIndex, main bool, credit uint16, hops uint8) bool {
	if w.ticks++; r == fabric.None || w.err != nil || w.ticks%ticksPerCheck == 0 && w.cancelled() {
		return false
	}
	return w.goUp(r, from, main, credit-1, hops+1)
}
