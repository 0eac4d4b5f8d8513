// SPDX-License-Identifier: Apache-2.0

package paths

import (
	"math"
	"slices"

	"example.org/ibconsole/fabric/formats/pathdb"
	"example.org/ibconsole/routing"
)

// worker follows the paths to all LIDs of a tile's groups. It is scratch memory for one goroutine.
type worker struct {
	*builder
	order []int32
	// at is the number of the tile. first is the start of the current group's LIDs in the tile.
	at, first int
	// common is the state of each switch for all LIDs of the current group, or mixed. states holds the states of mixed
	// switches for each LID.
	common []state
	states []state
	cells  []uint16 // of one row
	stack  []int32
}

func newWorker(b *builder) *worker { return &worker{builder: b} }

// entry returns the entry of switch sw for LID j of the current group.
func (w *worker) entry(sw, j int) uint8 { return w.entries.of(w.at, sw)[w.first+j] }

// of returns the entries of switch sw for the n LIDs of the current group.
func (w *worker) of(sw, n int) []uint8 { return w.entries.of(w.at, sw)[w.first : w.first+n] }

func (w *worker) tile(i int) {
	records := w.out.Records.Tile(i)
	seen := w.seen[i]
	groups := w.groups[i*pathdb.TileGroups:][:records.Groups()]
	near := w.near[i*pathdb.TileGroups:][:len(groups)]
	w.at, w.first = i, 0
	w.emitNear(seen, records, groups, near)
	for g := range groups {
		group := &groups[g]
		if !near[g] {
			w.follow(group)
			w.emit(seen, records, g, group)
		}
		w.first += len(group.lids)
	}
	if w.out.Trace != nil {
		w.trace(w.out.Trace.Tile(i), groups)
	}
}

// emitNear writes the classes of those groups to which all paths have the fewest hops.
func (w *worker) emitNear(seen *classes, t *pathdb.Tile, groups []group, near []bool) {
	if !slices.Contains(near, true) {
		return
	}
	const none = math.MaxUint16
	var byHops [256]uint16
	for h := range byHops {
		byHops[h] = none
	}
	for i := range w.rows {
		hops := w.distances.From(w.rows[i].sw)
		for g := range groups {
			if !near[g] {
				continue
			}
			h := hops[groups[g].sw]
			if byHops[h] == none {
				byHops[h] = seen.ofState(w.ofHops(h))
			}
			t.SetAll(i, g, byHops[h])
		}
	}
}

// ofHops returns the state of a path over h equal links.
func (w *worker) ofHops(h uint8) state {
	switch h {
	case routing.NoHops:
		return unreached
	case 0:
		return arrived
	}
	return state(h)<<8 | state(w.uniform)
}

// follow computes the states of the paths from each switch to each LID of a group. It processes the switches nearest to
// the destination first. A switch is finished when the targets of its entries are finished. If all LIDs leave a switch
// by one port and have the same state from there, the switch takes one step for all LIDs. In most tables each hop leads
// nearer, so one round suffices. If a round makes no progress, the remaining paths are followed LID by LID.
func (w *worker) follow(g *group) {
	n := len(g.lids)
	w.common = resized(w.common, len(w.f.Switches))
	w.states = resized(w.states, len(w.f.Switches)*n)
	for i := range w.common {
		w.common[i] = open
	}
	w.arrive(g)
	w.order = nearest(w.distances.From(g.sw), w.order)
	if w.common[g.sw] == open {
		// Some LIDs of the group belong to the switch itself.
		w.chase(g)
		return
	}
	for left := w.order; len(left) > 0; {
		waiting := left[:0]
		for _, sw := range left {
			if w.common[sw] == open && !w.step(int(sw), n) {
				waiting = append(waiting, sw)
			}
		}
		if len(waiting) == len(left) {
			w.chase(g)
			return
		}
		left = waiting
	}
	for i, s := range w.common {
		if s == open {
			w.common[i] = unreached
		}
	}
}

// step computes the states of a switch from the states of its next switches. It reports whether these are known.
func (w *worker) step(sw, n int) bool {
	entries := w.of(sw, n)
	wires := w.wires[sw<<8 : sw<<8+256]
	if n == 1 || pathdb.Constant(entries) {
		wire := &wires[entries[0]]
		if wire.to < 0 {
			w.common[sw] = unreached
			return true
		}
		next := w.common[wire.to]
		switch next {
		case open:
			return false
		case mixed:
			to := w.states[int(wire.to)*n:][:n]
			for j, s := range to {
				w.states[sw*n+j] = s.over(wire.link)
			}
			w.common[sw] = mixed
		default:
			w.common[sw] = next.over(wire.link)
		}
		return true
	}
	states := w.states[sw*n:][:n]
	for j, p := range entries {
		wire := &wires[p]
		next := unreached
		if wire.to >= 0 {
			if next = w.common[wire.to]; next == mixed {
				next = w.states[int(wire.to)*n+j]
			}
			if next == open {
				return false
			}
		}
		states[j] = next.over(wire.link)
	}
	w.settle(sw, n)
	return true
}

// settle records whether all LIDs have the same state at a switch.
func (w *worker) settle(sw, n int) {
	states := w.states[sw*n:][:n]
	w.common[sw] = states[0]
	for _, s := range states {
		if s != states[0] {
			w.common[sw] = mixed
			return
		}
	}
}

func resized(s []state, n int) []state {
	if cap(s) < n {
		return make([]state, n)
	}
	return s[:n]
}

// arrive sets the states of the destination's switch for the entries that lead directly to their LID. If some entries
// lead on to another switch, the states stay open.
func (w *worker) arrive(g *group) {
	n := len(g.lids)
	for j, l := range g.lids {
		to := w.wires[int(g.sw)<<8|int(w.entry(int(g.sw), j))].to
		s := unreached
		switch {
		case to == toPort(w.f.PortByLID(l)):
			s = arrived
		case to >= 0:
			return
		}
		w.states[int(g.sw)*n+j] = s
	}
	w.settle(int(g.sw), n)
}

// chase follows the paths to each LID of a group separately. O(switches) for each LID.
func (w *worker) chase(g *group) {
	n := len(g.lids)
	for i := range w.states {
		w.states[i] = open
	}
	for j, l := range g.lids {
		to := toPort(w.f.PortByLID(l))
		if w.wires[int(g.sw)<<8|int(w.entry(int(g.sw), j))].to == to {
			w.states[int(g.sw)*n+j] = arrived
		}
		for s := range w.f.Switches {
			w.chaseFrom(s, j, n)
		}
	}
	for s := range w.f.Switches {
		w.settle(s, n)
	}
}

// chaseFrom follows the path from switch s to LID j of the n LIDs of the current group.
func (w *worker) chaseFrom(s, j, n int) {
	at := int32(s)
	for w.states[int(at)*n+j] == open {
		w.stack = append(w.stack, at)
		// a second visit means a loop
		w.states[int(at)*n+j] = unreached
		to := w.wires[int(at)<<8|int(w.entry(int(at), j))].to
		if to < 0 {
			break
		}
		at = to
	}
	for i := len(w.stack) - 1; i >= 0; i-- {
		at := int(w.stack[i])
		wire := &w.wires[at<<8|int(w.entry(at, j))]
		if wire.to < 0 {
			continue
		}
		w.states[at*n+j] = w.states[int(wire.to)*n+j].over(wire.link)
	}
	w.stack = w.stack[:0]
}

// emit writes the classes of all rows for a group.
func (w *worker) emit(seen *classes, t *pathdb.Tile, g int, group *group) {
	n := len(group.lids)
	alike := w.sls != nil && w.alike(group)
	for i := range w.rows {
		row := &w.rows[i]
		common := w.common[row.sw]
		if common == unreached || w.sls == nil && common != mixed {
			t.SetAll(i, g, seen.ofState(common))
			continue
		}
		if common != mixed && alike {
			t.SetAll(i, g, seen.add(key(common, w.sls.Range(row.lid, group.lids[0]))))
			continue
		}
		w.cells = w.cells[:0]
		for j, l := range group.lids {
			s := common
			if s == mixed {
				s = w.states[int(row.sw)*n+j]
			}
			if w.sls == nil || s == unreached {
				w.cells = append(w.cells, seen.ofState(s))
				continue
			}
			w.cells = append(w.cells, seen.add(key(s, w.sls.Range(row.lid, l))))
		}
		t.Set(i, g, w.cells)
	}
}

// trace writes the entries of all switches for some groups.
func (w *worker) trace(t *pathdb.Tile, groups []group) {
	for s := range w.f.Switches {
		entries := w.entries.of(w.at, s)
		for g := range groups {
			n := len(groups[g].lids)
			t.SetBytes(s, g, entries[:n])
			entries = entries[n:]
		}
	}
}
