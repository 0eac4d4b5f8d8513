// SPDX-License-Identifier: Apache-2.0

package paths

import (
	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/pathdb"
)

// worker follows the paths to all LIDs of a tile's groups.
type worker struct {
	*builder
	order  *order
	near   []int32
	seen   []bool
	states []state  // of each switch those of the group's LIDs
	ports  []uint8  // likewise the entries
	cells  []uint16 // of one row
	stack  []int32
}

func newWorker(b *builder, o *order) *worker {
	return &worker{builder: b, order: o, seen: make([]bool, len(b.f.Switches))}
}

func (w *worker) tile(i int) {
	records := w.out.Records.Tile(i)
	for g := range records.Groups() {
		group := &w.groups[i*64+g]
		w.follow(group)
		w.emit(w.builder.seen[i], records, g, group)
		if w.out.Trace != nil {
			w.trace(w.out.Trace.Tile(i), g, len(group.lids))
		}
	}
}

// follow fills states with what the paths from each switch to each LID of a group
// are like. Most tables lead nearer with each hop, so that the switches nearest to
// the destination come first; what is left over is chased.
func (w *worker) follow(g *group) {
	n := len(g.lids)
	w.entries(g)
	if need := len(w.f.Switches) * n; cap(w.states) < need {
		w.states = make([]state, need)
	}
	w.states = w.states[:len(w.f.Switches)*n]
	for i := range w.states {
		w.states[i] = open
	}
	w.arrive(g)
	w.near = w.order.from(g.sw, w.seen, w.near)
	left := false
	for _, sw := range w.near {
		wires := w.wires[int(sw)<<8 : int(sw)<<8+256]
		base := int(sw) * n
		ports, states := w.ports[base:base+n], w.states[base:base+n]
		for j, p := range ports {
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

// entries gathers the entries of all switches for a group's LIDs.
func (w *worker) entries(g *group) {
	n := len(g.lids)
	if need := len(w.f.Switches) * n; cap(w.ports) < need {
		w.ports = make([]uint8, need)
	}
	w.ports = w.ports[:len(w.f.Switches)*n]
	for s := range w.f.Switches {
		out := w.ports[s*n : s*n+n]
		row := w.t.LFT.Row(int32(s))
		top := min(int(w.t.Top[s]), len(row)-1)
		if !w.t.Known[s] {
			top = -1
		}
		for j, l := range g.lids {
			out[j] = fabric.NoPath
			if int(l) <= top {
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
		if to := w.wires[int(g.sw)<<8|int(w.ports[i])]; to.to == -2-end {
			w.states[i] = arrived
			if w.ports[i] != 0 {
				w.states[i] += oneHop
			}
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
				to := w.wires[int(at)<<8|int(w.ports[int(at)*n+j])].to
				if to < 0 {
					break
				}
				at = to
			}
			for i := len(w.stack) - 1; i >= 0; i-- {
				at := int(w.stack[i])
				wire := &w.wires[at<<8|int(w.ports[at*n+j])]
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
		for j, s := range w.states[int(row.sw)*n : int(row.sw)*n+n] {
			if s == open {
				s = unreached
			}
			if w.sls == nil || s == unreached {
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
		for _, p := range w.ports[s*n : s*n+n] {
			w.cells = append(w.cells, uint16(p))
		}
		t.Set(s, g, w.cells)
	}
}
