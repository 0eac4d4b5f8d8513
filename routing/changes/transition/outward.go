// SPDX-License-Identifier: Apache-2.0

package transition

import "example.org/ibconsole/fabric"

// outward orders the entries so that each switch changes after all switches on its new path. Switches without a new
// path change last, after settling. It reports whether this order is safe. It is, if the dependencies of old entries,
// of new entries, and of packets that took an old and then a new entry have no ring: no packet meets an old entry after
// a new one. No packet is lost (Mahajan and Wattenhofer, "On Consistent Updates in Software Defined Networks",
// 2013).
func (c *change) outward() (steps []Step, ok bool, err error) {
	turns := make([][]uint16, len(c.dests))
	between := make([][]uint8, len(c.dests)) // the entries after the turns
	workers, err := c.each(func(w *worker, d int) {
		turns[d], between[d] = w.turns(&c.dests[d], c.old[d], c.new[d])
		w.walk(&c.dests[d], c.old[d], between[d], turns[d])
		w.keep()
	})
	if err != nil {
		return nil, false, err
	}
	if c.isBad(c.joined(workers, c.multicast)) {
		return nil, false, nil
	}
	late := false
	for d := range between {
		late = late || &between[d][0] != &c.new[d][0]
	}
	rest := c.change(between, c.new, c.maps...)
	if late {
		workers, err := rest.each(func(w *worker, d int) {
			w.walk(&c.dests[d], between[d], c.new[d], nil)
			w.keep()
		})
		if err != nil || c.isBad(c.joined(workers, c.multicast)) {
			return nil, false, err
		}
	}
	for d, turn := range turns {
		for s, t := range turn {
			if t == 0 {
				continue
			}
			for int(t) > len(steps) {
				steps = append(steps, Step{})
			}
			step := &steps[t-1]
			step.Entries = append(step.Entries, Entry{
				Switch: fabric.SwitchIndex(s), LID: c.dests[d].lid, Old: c.old[d][s], New: c.new[d][s],
			})
		}
	}
	if len(steps) > 0 {
		steps[len(steps)-1].Settle = true
	}
	if late {
		steps = append(steps, Step{Entries: rest.entries(), Settle: true})
	}
	return steps, true, nil
}

// isBad reports whether dependencies have a ring that neither the old nor the new tables have alone.
func (c *change) isBad(deps bits) bool {
	return c.judge(deps.has, c.oldAlone.has, c.newAlone.has)
}

// turns returns the step of each changed entry of a destination, from 1, and the entries after these steps. The step is
// 0 for entries that stay or that lose their path.
func (w *walker) turns(d *dest, old, new []uint8) (turn []uint16, between []uint8) {
	w.fates(d, new, w.fate)
	between = new
	for s := range old {
		if old[s] == new[s] {
			continue
		}
		if turn == nil {
			turn = make([]uint16, w.switches)
		}
		if w.fate[s] != reaches {
			if &between[0] == &new[0] {
				between = append([]uint8(nil), new...)
			}
			between[s] = old[s]
		}
	}
	if turn == nil {
		return nil, between
	}
	// depth is 1 + the latest turn on the new path from a switch on, 0 if unknown
	clear(w.depth)
	for s := range fabric.SwitchIndex(w.switches) {
		if w.fate[s] != reaches {
			continue
		}
		x := s
		for x >= 0 && w.depth[x] == 0 {
			w.stack = append(w.stack, x)
			x = w.wires.Next(x, new[x])
		}
		last := int32(0)
		if x >= 0 {
			last = w.depth[x] - 1
		}
		for len(w.stack) > 0 {
			y := w.stack[len(w.stack)-1]
			w.stack = w.stack[:len(w.stack)-1]
			if old[y] != new[y] {
				last++
				turn[y] = uint16(last)
			}
			w.depth[y] = last + 1
		}
	}
	return turn, between
}
