// SPDX-License-Identifier: Apache-2.0

package ftree

import "example.org/ibconsole/fabric"

// The methods in this file are OpenSM's walks before both of Bull's upgrades (Morey-Chaisemartin, "[RFC] Fat-Tree
// upgrades", 2009). They differ from the later walks:
//
//   - The first path to a switch stays, even if a shorter path is found later.
//   - Groups stay in the order of tuples. Paths down begin at another group each time. Secondary paths up take the
//     first port of their group.
//   - Only main paths are counted.
//   - An absent target only affects counts.

// earlyDown routes the switches below s by way of s, if they have no path to the target yet.
func (w *walker) earlyDown(s, from fabric.SwitchIndex, main bool, hops uint8) bool {
	list := w.down[s]
	if len(list) == 0 || hops >= farthest {
		return false
	}
	found := w.at[s].hosts
	first := int(w.turn[s] % uint64(len(list)))
	for i := range list {
		g := &list[(first+i)%len(list)]
		found = w.earlyBelow(g, s, from, main, hops+1) || found
	}
	if w.lid != 0 {
		for i := range w.side[s] {
			found = w.earlyBelow(&w.side[s][i], s, from, main, hops+1) || found
		}
	}
	if found {
		w.turn[s]++
	}
	return found
}

func (w *walker) earlyBelow(g *group, s, from fabric.SwitchIndex, main bool, next uint8) bool {
	r := g.remote
	if w.ticks++; w.err != nil || w.ticks%ticksPerCheck == 0 && w.cancelled() {
		return false
	}
	if r == fabric.None || r == from || w.hops[g.slot] != fabric.NoPath {
		return false
	}
	far := g.far
	if g.n > 1 {
		p := w.leastUp(g)
		far = p.far
		if main {
			p.up++
		}
	}
	if w.lid != 0 {
		w.set(g, far, s, next)
	}
	return w.earlyDown(r, fabric.None, main, next)
}

// earlyUp corresponds to goUp. The main path takes the least used group and port.
func (w *walker) earlyUp(s, from fabric.SwitchIndex, main bool, credit uint16, hops uint8) {
	w.earlyDown(s, from, main, hops)
	if hops >= farthest || w.err != nil {
		return
	}
	if w.rank[s] == 0 {
		w.earlyTurnAtRoot(s, main, credit, hops)
		return
	}
	list := w.up[s]
	if main && len(list) > 0 {
		w.earlyMain(leastUsed(list), s, credit, hops+1)
	}
	if w.lid == 0 {
		return
	}
	w.earlyOthers(list, s, credit, hops+1)
	w.earlyOthers(w.side[s], s, credit, hops+1)
	for i := 0; credit > 0 && i < len(w.down[s]); i++ {
		w.earlyTurnBack(w.down[s][i].remote, s, true, credit, hops)
	}
}

// leastUsed returns the group with the fewest counted paths down. In a tie it returns the first.
func leastUsed(list []group) *group {
	best := &list[0]
	for i := range list[1:] {
		if g := &list[i+1]; g.key/onePath < best.key/onePath {
			best = g
		}
	}
	return best
}

func (w *walker) earlyMain(g *group, s fabric.SwitchIndex, credit uint16, next uint8) {
	far := g.far
	if g.n > 1 {
		p := w.leastDown(g)
		p.down++
		far = p.far
	}
	g.key += onePath
	if w.lid != 0 && w.out[g.slot] == fabric.NoPath {
		w.set(g, far, s, next)
	}
	w.earlyUp(g.remote, s, true, credit, next)
}

func (w *walker) earlyOthers(list []group, s fabric.SwitchIndex, credit uint16, next uint8) {
	for i := range list {
		g := &list[i]
		if w.out[g.slot] == fabric.NoPath {
			w.set(g, g.far, s, next)
			w.earlyUp(g.remote, s, false, credit, next)
		}
	}
}

func (w *walker) earlyTurnAtRoot(s fabric.SwitchIndex, main bool, credit uint16, hops uint8) {
	n := uint64(len(w.down[s]))
	if credit == 0 || n == 0 {
		return
	}
	w.turn[s]++
	first := w.turn[s] % n
	for i := range n {
		w.earlyTurnBack(w.down[s][(first+i)%n].remote, s, main, credit, hops)
	}
}

func (w *walker) earlyTurnBack(r, from fabric.SwitchIndex, main bool, credit uint16, hops uint8) {
	if r != fabric.None {
		w.earlyUp(r, from, main, credit-1, hops+1)
	}
}
