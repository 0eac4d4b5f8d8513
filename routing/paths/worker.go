// SPDX-License-Identifier: Apache-2.0

package paths

import (
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/pathdb"
	"example.org/ibconsole/routing"
)

// worker follows the paths to all LIDs of a tile's groups.
type worker struct {
	*builder
	order  []int32
	states []state // of each switch those of the group's LIDs
	// ports are of each switch the entries for the tile's LIDs, stride of them; the
	// group's begin at first.
	ports         []uint8
	stride, first int
	cells         []uint16 // of one row
	stack         []int32
}

func newWorker(b *builder) *worker { return &worker{builder: b} }

// entry is that of a switch for a LID of the group.
func (w *worker) entry(sw, j int) uint8 { return w.ports[sw*w.stride+w.first+j] }

// of are the entries of a switch for the group's LIDs.
func (w *worker) of(sw, n int) []uint8 {
	i := sw*w.stride + w.first
	return w.ports[i : i+n]
}

func (w *worker) tile(i int) {
	records := w.out.Records.Tile(i)
	groups := w.groups[i*pathdb.TileGroups:][:records.Groups()]
	near := w.near[i*pathdb.TileGroups:][:len(groups)]
	if w.out.Trace != nil || slices.Contains(near, false) {
		w.entries(groups)
	}
	for g := range groups {
		group := &groups[g]
		if near[g] {
			w.emitNear(w.builder.seen[i], records, g, group)
		} else {
			w.follow(group)
			w.emit(w.builder.seen[i], records, g, group)
		}
		if w.out.Trace != nil {
			w.trace(w.out.Trace.Tile(i), g, len(group.lids))
		}
		w.first += len(group.lids)
	}
}

// emitNear hands over the classes of a group to which all paths are of the least
// hops.
func (w *worker) emitNear(seen *classes, t *pathdb.Tile, g int, group *group) {
	hops := w.distances.From(group.sw)
	for i := range w.rows {
		s := arrived
		switch h := hops[w.rows[i].sw]; {
		case h == routing.NoHops:
			s = unreached
		case h > 0:
			s = state(h)<<8 | state(w.uniform)
		}
		t.SetAll(i, g, seen.ofState(s))
	}
}

// follow fills states with what the paths from each switch to each LID of a group
// are like. Most tables lead nearer with each hop, so that the switches nearest to
// the destination come first; what is left over is chased.
func (w *worker) follow(g *group) {
	n := len(g.lids)
	if need := len(w.f.Switches) * n; cap(w.states) < need {
		w.states = make([]state, need)
	}
	w.states = w.states[:len(w.f.Switches)*n]
	for i := range w.states {
		w.states[i] = open
	}
	w.arrive(g)
	w.order = nearest(w.distances.From(g.sw), w.order)
	left := false
	for _, sw := range w.order {
		wires := w.wires[int(sw)<<8 : int(sw)<<8+256]
		states := w.states[int(sw)*n : int(sw)*n+n]
		for j, p := range w.of(int(sw), n) {
			if states[j] != open {
				continue
			}
			wire := &wires[p]
			next := unreached
			if wire.to >= 0 {
				next = w.states[int(wire.to)*n+j]
			}
			switch {
			case next == open:
				left = true
			case next == unreached:
				states[j] = unreached
			default:
				states[j] = next.over(wire.link)
			}
		}
	}
	if left {
		w.chase(n)
	}
}

// entries gathers the entries of all switches for the LIDs of some groups.
func (w *worker) entries(groups []group) {
	var lids []uint16
	for i := range groups {
		lids = append(lids, groups[i].lids...)
	}
	w.stride, w.first = len(lids), 0
	if need := len(w.f.Switches) * w.stride; cap(w.ports) < need {
		w.ports = make([]uint8, need)
	}
	w.ports = w.ports[:len(w.f.Switches)*w.stride]
	for s := range w.f.Switches {
		out := w.ports[s*w.stride : (s+1)*w.stride]
		row := w.row(s)
		for j, l := range lids {
			out[j] = fabric.NoPath
			if int(l) < len(row) {
				out[j] = row[l]
			}
		}
	}
}

// arrive finds the switches whose entries lead straight to the destination.
func (w *worker) arrive(g *group) {
	n := len(g.lids)
	for j, l := range g.lids {
		end := w.f.PortByLID(l)
		i := int(g.sw)*n + j
		entry := w.entry(int(g.sw), j)
		if to := w.wires[int(g.sw)<<8|int(entry)]; to.to == toPort(end) {
			w.states[i] = arrived
		} else if to.to < 0 {
			w.states[i] = unreached
		}
	}
}

// chase follows what is still open, path by path. O(switches) for each LID.
func (w *worker) chase(n int) {
	for s := range w.f.Switches {
		for j := range n {
			if w.states[s*n+j] != open {
				continue
			}
			at := int32(s)
			for w.states[int(at)*n+j] == open {
				w.stack = append(w.stack, at)
				// who comes here again is in a loop
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
				if next := w.states[int(wire.to)*n+j]; next != unreached {
					w.states[at*n+j] = next.over(wire.link)
				}
			}
			w.stack = w.stack[:0]
		}
	}
}

// emit hands over the classes of all rows for a group.
func (w *worker) emit(seen *classes, t *pathdb.Tile, g int, group *group) {
	n := len(group.lids)
	for i := range w.rows {
		row := &w.rows[i]
		w.cells = w.cells[:0]
		states := w.states[int(row.sw)*n : int(row.sw)*n+n]
		if w.sls == nil && same(states) {
			t.SetAll(i, g, seen.ofState(states[0]))
			continue
		}
		for j, s := range states {
			if w.sls == nil || s >= unreached {
				w.cells = append(w.cells, seen.ofState(s))
				continue
			}
			first, spread := w.sls.Range(row.lid, group.lids[j])
			w.cells = append(w.cells, seen.add(key(s, first, spread)))
		}
		t.Set(i, g, w.cells)
	}
}

// trace hands over the entries of all switches for a group.
func (w *worker) trace(t *pathdb.Tile, g, n int) {
	for s := range w.f.Switches {
		w.cells = w.cells[:0]
		for _, p := range w.of(s, n) {
			w.cells = append(w.cells, uint16(p))
		}
		t.Set(s, g, w.cells)
	}
}

func same(states []state) bool {
	for _, s := range states {
		if s != states[0] {
			return false
		}
	}
	return true
}
