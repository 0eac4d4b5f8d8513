// SPDX-License-Identifier: Apache-2.0

package transition

import (
	"example.org/ibconsole/fabric"
)

// walker follows the packets to one destination while its entries change. It is scratch memory for one goroutine.
//
// In the simplest case all changed entries of a destination may have their old or their new value. With turns, entry s
// has its old value up to step turn[s], and its new value from this step on. A packet that took a new entry in step t
// meets no old value of an earlier step.
type walker struct {
	*network
	maps  []*fabric.SL2VL // the SL2VL tables in force
	label []int32         // by channel: the earliest step since which a packet may be in it, 0 for none
	queue []int32
	seen  []int32 // channels with a label
	deps  []int32 // the dependencies found, without duplicates
	stamp []int32 // by dependency: the last walk that found it; nil with one VL, where there are no duplicates
	walks int32

	cur, new []uint8
	turn     []uint16
	sl       uint8
	dropped  bool // a packet met a mapping to VL 15

	colour     []uint8
	depth      []int32
	stack      []fabric.SwitchIndex
	connected  []fabric.SwitchIndex
	fate, next []uint8
}

func newWalker(n *network, maps ...*fabric.SL2VL) *walker {
	w := &walker{
		network: n, label: make([]int32, n.channels()), colour: make([]uint8, n.switches),
		depth: make([]int32, n.switches), fate: make([]uint8, n.switches), next: make([]uint8, n.switches),
	}
	for _, m := range maps {
		if m != nil {
			w.maps = append(w.maps, m)
		}
	}
	if n.vls > 1 {
		w.stamp = make([]int32, n.size)
	}
	return w
}

// walk sets deps to the dependencies of packets to a destination while its entries change from cur to new.
func (w *walker) walk(d *dest, cur, new []uint8, turn []uint16) {
	w.deps = w.deps[:0]
	w.walks++
	w.cur, w.new, w.turn = cur, new, turn
	if !d.host {
		return
	}
	for _, f := range d.flow {
		w.sl = f.sl
		for _, s := range f.starts {
			if s.sw != d.at || w.hosts[s.sw] > 1 {
				w.expand(s.sw, s.entry, 1, w.reach)
			}
		}
		for len(w.queue) > 0 {
			c := w.queue[len(w.queue)-1]
			w.queue = w.queue[:len(w.queue)-1]
			w.expand(w.into[int(c)/w.vls], w.entry[int(c)/w.vls], w.label[c], w.reach)
		}
		for _, c := range w.seen {
			w.expand(w.into[int(c)/w.vls], w.entry[int(c)/w.vls], w.label[c], func(to, _ int32) { w.depend(c, to) })
		}
		for _, c := range w.seen {
			w.label[c] = 0
		}
		w.seen = w.seen[:0]
	}
}

// expand calls the function reach with the channels by which packets leave a switch that they reach in some step, and
// with the first step in which they may do so.
func (w *walker) expand(s fabric.SwitchIndex, entry uint8, label int32, reach func(to, label int32)) {
	o, n := w.cur[s], w.new[s]
	if o == n {
		w.leave(s, entry, o, label, reach)
		return
	}
	t := int32(1)
	if w.turn != nil {
		t = int32(w.turn[s])
	}
	if label <= t {
		w.leave(s, entry, o, label, reach)
	}
	w.leave(s, entry, n, max(label, t), reach)
}

func (w *walker) leave(s fabric.SwitchIndex, entry, out uint8, label int32, reach func(to, label int32)) {
	l := w.link[int(s)<<8|int(out)]
	if l < 0 {
		return
	}
	if w.vls == 1 {
		reach(l, label)
		return
	}
	for i, m := range w.maps {
		vl := m.VL(w.f.Switches[s], entry, out, w.sl)
		if i > 0 && vl == w.maps[0].VL(w.f.Switches[s], entry, out, w.sl) {
			continue
		}
		if int(vl) >= w.vls {
			w.dropped = true
			continue
		}
		reach(l*int32(w.vls)+int32(vl), label)
	}
}

func (w *walker) reach(c, label int32) {
	switch was := w.label[c]; {
	case was == 0:
		w.seen = append(w.seen, c)
	case was <= label:
		return
	}
	w.label[c] = label
	w.queue = append(w.queue, c)
}

func (w *walker) depend(from, to int32) {
	dep := w.dependency(from, to)
	if w.stamp != nil {
		if w.stamp[dep] == w.walks {
			return
		}
		w.stamp[dep] = w.walks
	}
	w.deps = append(w.deps, int32(dep))
}

const (
	unvisited = iota
	underway
	reaches
	lost
)

// fates computes for each switch whether packets to a destination arrive by the entries of one table.
func (w *walker) fates(d *dest, col, fate []uint8) {
	clear(fate)
	for s := range fabric.SwitchIndex(w.switches) {
		x := s
		for fate[x] == unvisited {
			fate[x] = underway
			w.stack = append(w.stack, x)
			next := w.wires.Next(x, col[x])
			if next < 0 {
				fate[x] = lost
				if next == d.end {
					fate[x] = reaches
				}
				break
			}
			x = next
		}
		is := fate[x]
		if is == underway {
			is = lost
		}
		for _, y := range w.stack {
			fate[y] = is
		}
		w.stack = w.stack[:0]
	}
}

// connect sets connected to the switches with hosts whose packets to a destination arrive by the entries of both
// tables.
func (w *walker) connect(d *dest, before, after []uint8) {
	w.connected = w.connected[:0]
	w.fates(d, before, w.fate)
	w.fates(d, after, w.next)
	for s := range fabric.SwitchIndex(w.switches) {
		sends := w.hosts[s] > 1 || w.hosts[s] == 1 && (s != d.at || !d.host) // a host that is not the destination
		if sends && w.fate[s] == reaches && w.next[s] == reaches {
			w.connected = append(w.connected, s)
		}
	}
}

// mixes reports whether every mixture of two tables delivers all packets to a destination that enter at the switches in
// connected. If so, longest is at least the number of switches of the longest path.
func (w *walker) mixes(d *dest, cur, new []uint8) (ok bool, longest int32) {
	clear(w.colour)
	for _, s := range w.connected {
		if !w.descend(d, s, cur, new) {
			return false, 0
		}
		longest = max(longest, w.depth[s])
	}
	return true, longest
}

func (w *walker) descend(d *dest, s fabric.SwitchIndex, cur, new []uint8) bool {
	switch w.colour[s] {
	case underway:
		return false
	case reaches:
		return true
	}
	w.colour[s], w.depth[s] = underway, 1
	for i, out := range [2]uint8{cur[s], new[s]} {
		if i > 0 && out == cur[s] {
			break
		}
		next := w.wires.Next(s, out)
		if next == d.end {
			continue
		}
		if next < 0 || !w.descend(d, next, cur, new) {
			return false
		}
		w.depth[s] = max(w.depth[s], w.depth[next]+1)
	}
	w.colour[s] = reaches
	return true
}
