// SPDX-License-Identifier: Apache-2.0

package transition

import (
	"cmp"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/components"
)

// search orders the entries of those destinations that have a dependency on a ring of all mixtures, or a mixture that
// loses packets. All other destinations change in the first step: their dependencies are on no ring of any mixture.
type search struct {
	*change
	w      *walker
	part   []int32 // by channel: its component of rings, or 0
	free   []Entry // the entries of all other destinations
	moving []*moving
	count  []int32   // by dependency within a component: the number of destinations that have it
	onto   [][]int32 // by channel: the channels on which it depends by these dependencies
	on     []int32   // the channels within components
	mark   []int32   // by dependency: the last destination that was tried with it
	tries  int32
	colour []uint8 // by channel, scratch memory of closes
	rings  bool    // the old or the new tables have rings within the components
	total  int     // entries of moving destinations
	done   int
}

// moving is a destination whose entries change one after another.
type moving struct {
	d         int
	cur, next []uint8 // the entries before and after the step
	left      []fabric.SwitchIndex
	deps      []int32 // within components
	connected []fabric.SwitchIndex
}

func (c *change) newSearch(mixed *mixture) (*search, error) {
	s := &search{
		change: c, w: newWalker(c.network, c.maps...), part: mixed.part, count: make([]int32, c.size),
		mark: make([]int32, c.size), colour: make([]uint8, c.channels()), onto: make([][]int32, c.channels()),
	}
	for c, p := range s.part {
		if p > 0 {
			s.on = append(s.on, int32(c))
		}
	}
	s.add(s.onRings(slices.Collect(c.multicast.each)), 1)
	for d := range c.dests {
		if d%64 == 0 && c.ctx.Err() != nil {
			return nil, c.ctx.Err()
		}
		old, new := c.old[d], c.new[d]
		s.w.walk(&c.dests[d], old, new, nil)
		on := s.onRings(s.w.deps)
		_, loses := slices.BinarySearch(mixed.loops, d)
		switch {
		case slices.Equal(old, new):
			s.add(on, 1)
			continue
		case len(on) == 0 && !loses:
			s.free = c.entriesOf(s.free, d, old, new)
			continue
		}
		m := &moving{d: d, cur: slices.Clone(old), next: slices.Clone(old)}
		s.w.connect(&c.dests[d], old, new)
		m.connected = slices.Clone(s.w.connected)
		m.left = s.w.byDistance(&c.dests[d], old, new)
		s.total += len(m.left)
		s.moving = append(s.moving, m)
		s.w.walk(&c.dests[d], old, old, nil)
		m.deps = s.onRings(s.w.deps)
		s.add(m.deps, 1)
	}
	if c.oldAlone != nil {
		_, old := c.parts(func(dep int) bool { return s.count[dep] > 0 })
		_, new := c.parts(c.newAlone.has)
		s.rings = old+new > 0
	}
	return s, nil
}

// byDistance returns the switches whose entry changes, in the order of their distance on the new path. Those without a
// new path are last.
func (w *walker) byDistance(d *dest, old, new []uint8) []fabric.SwitchIndex {
	type at struct {
		s    fabric.SwitchIndex
		hops int
	}
	var all []at
	for s := range fabric.SwitchIndex(w.switches) {
		if old[s] == new[s] {
			continue
		}
		hops, x := 0, s
		for x >= 0 && hops <= w.switches {
			hops++
			x = w.wires.Next(x, new[x])
		}
		if x != d.end {
			hops = w.switches + 1
		}
		all = append(all, at{s, hops})
	}
	slices.SortStableFunc(all, func(a, b at) int { return cmp.Compare(a.hops, b.hops) })
	list := make([]fabric.SwitchIndex, len(all))
	for i := range all {
		list[i] = all[i].s
	}
	return list
}

// onRings returns the dependencies within components of rings.
func (s *search) onRings(deps []int32) []int32 {
	var on []int32
	for _, dep := range deps {
		if from, to := s.pair(dep); s.part[from] > 0 && s.part[from] == s.part[to] {
			on = append(on, dep)
		}
	}
	return on
}

// pair returns the channels of a dependency.
func (n *network) pair(dep int32) (from, to int32) {
	v := int32(n.vls)
	link, rest := dep/(v*v), dep%(v*v)
	l, ok := slices.BinarySearch(n.offset, link)
	for ok && n.offset[l+1] == link { // links without dependencies
		l++
	}
	if !ok {
		l--
	}
	return int32(l)*v + rest/v, (n.first[n.into[l]]+link-n.offset[l])*v + rest%v
}

// add adds n to the counts of dependencies.
func (s *search) add(deps []int32, n int32) {
	for _, dep := range deps {
		was := s.count[dep]
		s.count[dep] += n
		if (was > 0) == (s.count[dep] > 0) {
			continue
		}
		from, to := s.pair(dep)
		if was == 0 {
			s.onto[from] = append(s.onto[from], to)
			continue
		}
		i := slices.Index(s.onto[from], to)
		s.onto[from] = slices.Delete(s.onto[from], i, i+1)
	}
}

// isBad reports whether the dependencies in count have a ring that neither the old nor the new tables have alone.
func (s *search) isBad() bool {
	part, rings := components.Of(len(s.onto), s.on, func(c int32) []int32 { return s.onto[c] })
	strange := make([]uint8, rings)
	for _, c := range s.on {
		for _, to := range s.onto[c] {
			if part[to] != part[c] {
				continue
			}
			dep := s.dependency(c, to)
			if !s.oldAlone.has(dep) {
				strange[part[c]] |= 1
			}
			if !s.newAlone.has(dep) {
				strange[part[c]] |= 2
			}
		}
	}
	return slices.Contains(strange, 3)
}

// try adds changes of entries of a destination to the current step, if the step then is still safe.
func (s *search) try(m *moving, switches ...fabric.SwitchIndex) bool {
	dst, new := &s.dests[m.d], s.new[m.d]
	for _, x := range switches {
		m.next[x] = new[x]
	}
	s.w.connected = m.connected
	ok, longest := s.w.mixes(dst, m.cur, m.next)
	if ok {
		s.w.walk(dst, m.cur, m.next, nil)
		ok = s.adopt(m)
	}
	if !ok {
		for _, x := range switches {
			m.next[x] = m.cur[x]
		}
		return false
	}
	s.plan.Longest = max(s.plan.Longest, int(longest))
	return true
}

// adopt sets the dependencies of a destination to the dependencies that the walker found, if these close no ring.
func (s *search) adopt(m *moving) bool {
	s.tries++
	for _, dep := range m.deps {
		s.mark[dep] = s.tries
	}
	deps := s.onRings(s.w.deps)
	var more, added []int32
	for _, dep := range deps {
		if s.mark[dep] != s.tries {
			more = append(more, dep)
			if s.count[dep] == 0 {
				added = append(added, dep)
			}
		}
	}
	s.add(more, 1)
	if len(added) > 0 && s.closes(added) {
		s.add(more, -1)
		return false
	}
	m.deps = append(m.deps, more...)
	return true
}

// closes reports whether the dependencies in count have a forbidden ring. Without the dependencies in added they have
// none.
func (s *search) closes(added []int32) bool {
	if s.rings {
		return s.isBad()
	}
	clear(s.colour)
	for _, dep := range added {
		if _, to := s.pair(dep); s.descend(to) {
			return true
		}
	}
	return false
}

func (s *search) descend(c int32) bool {
	if s.colour[c] != unvisited {
		return s.colour[c] == underway
	}
	s.colour[c] = underway
	ring := slices.ContainsFunc(s.onto[c], s.descend)
	s.colour[c] = reaches
	return ring
}

// settle ends the step for a destination: packets meet only the new entries. It returns the entries of the step.
func (s *search) settle(m *moving) []Entry {
	step := s.entriesOf(nil, m.d, m.cur, m.next)
	if len(step) == 0 {
		return nil
	}
	s.done += len(step)
	copy(m.cur, m.next)
	s.recount(m)
	m.left = slices.DeleteFunc(m.left, func(x fabric.SwitchIndex) bool { return m.cur[x] == s.new[m.d][x] })
	return step
}

// recount sets the dependencies of a destination to those of its present entries.
func (s *search) recount(m *moving) {
	s.add(m.deps, -1)
	s.w.walk(&s.dests[m.d], m.cur, m.cur, nil)
	m.deps = s.onRings(s.w.deps)
	s.add(m.deps, 1)
}

// greedy adds as many changes to each step as are safe. It fails if a step has none.
func (s *search) greedy() ([]Step, bool) {
	steps := []Step{{Entries: s.free, Settle: true}}
	for first := true; !s.isDone() && s.grow(&steps, first); {
		first = false
	}
	if len(steps[0].Entries) == 0 {
		steps = steps[1:]
	}
	return steps, s.isDone()
}

func (s *search) isDone() bool { return s.done == s.total }

// grow adds a step, or more entries to the first step. It reports whether there are any.
func (s *search) grow(steps *[]Step, first bool) bool {
	for i, m := range s.moving {
		if s.late() {
			break
		}
		if i%16 == 0 {
			s.report(Settling, 100*s.done/max(1, s.total))
		}
		if len(m.left) == 0 || s.try(m, m.left...) {
			continue
		}
		for _, x := range m.left {
			s.try(m, x)
		}
	}
	var step []Entry
	for _, m := range s.moving {
		step = append(step, s.settle(m)...)
	}
	switch {
	case len(step) == 0:
		return false
	case first:
		(*steps)[0].Entries = append((*steps)[0].Entries, step...)
	default:
		*steps = append(*steps, Step{Entries: step, Settle: true})
	}
	return true
}

// mostExact is the highest number of entries for which the exhaustive search is done.
const mostExact = 20

// exact searches all orders of single entries, with settling after each. It is exhaustive: an order of steps that are
// safe in any order is safe one entry after another, and entries of other destinations do not matter.
func (s *search) exact() ([]Step, Outcome) {
	if s.total > mostExact {
		return nil, NotFound
	}
	fresh, err := s.newSearch(&mixture{part: s.part, loops: s.losing()})
	if err != nil {
		return nil, NotFound
	}
	x := exhaustive{search: fresh, visited: make([]bool, 1<<fresh.total)}
	if !x.from(0) {
		if x.gaveUp {
			return nil, NotFound
		}
		return nil, ProvedNone
	}
	steps := x.steps
	slices.Reverse(steps)
	if len(fresh.free) > 0 {
		steps = append([]Step{{Entries: fresh.free, Settle: true}}, steps...)
	}
	return steps, Found
}

// losing returns the moving destinations.
func (s *search) losing() (all []int) {
	for _, m := range s.moving {
		all = append(all, m.d)
	}
	return all
}

// exhaustive searches all sets of entries that may be changed, by depth.
type exhaustive struct {
	*search
	visited []bool // by set of changed entries
	steps   []Step // from the last to the first
	gaveUp  bool
}

func (x *exhaustive) from(set int) bool {
	if set == len(x.visited)-1 {
		return true
	}
	if x.visited[set] {
		return false
	}
	x.visited[set] = true
	if x.late() {
		x.gaveUp = true
		return false
	}
	bit := 1
	for _, m := range x.moving {
		for _, sw := range m.left {
			b := bit
			bit <<= 1
			if set&b != 0 {
				continue
			}
			before := slices.Clone(m.deps)
			if !x.try(m, sw) {
				continue
			}
			was := m.cur[sw]
			m.cur[sw] = m.next[sw]
			x.recount(m)
			if x.from(set | b) {
				x.steps = append(x.steps, Step{
					Entries: []Entry{{sw, x.dests[m.d].lid, was, m.cur[sw]}}, Settle: true,
				})
				return true
			}
			m.cur[sw], m.next[sw] = was, was
			x.add(m.deps, -1)
			m.deps = before
			x.add(m.deps, 1)
		}
	}
	return false
}
