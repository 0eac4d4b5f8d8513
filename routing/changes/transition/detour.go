// SPDX-License-Identifier: Apache-2.0

package transition

import (
	"cmp"
	"slices"

	"example.org/ibconsole/fabric"
)

// overTree tries to change all paths to a spanning tree, and from there to the new tables.
func (p *planner) overTree(all *change) error {
	for _, root := range p.roots() {
		if p.late() {
			break
		}
		p.report(Tree, 0)
		tree := p.tree(root, all.old)
		legs := []*change{p.change(all.old, tree, p.before)}
		if p.before != p.after {
			legs = append(legs, p.change(tree, tree, p.before, p.after))
		}
		legs = append(legs, p.change(tree, all.new, p.after))
		var steps []Step
		found := true
		for _, leg := range legs {
			_, more, outcome, err := p.sequence([]*change{leg}, nil, false)
			if err != nil {
				return err
			}
			if found = outcome == Found; !found {
				break
			}
			steps = append(steps, more...)
		}
		if found {
			p.plan.Root = root
			p.take(Tree, steps)
			return nil
		}
	}
	return nil
}

// roots returns the switches that are tried as roots: those with the most links to other switches, and in between
// others evenly spread.
func (p *planner) roots() []fabric.SwitchIndex {
	all := make([]fabric.SwitchIndex, p.switches)
	for s := range all {
		all[s] = fabric.SwitchIndex(s)
	}
	slices.SortStableFunc(all, func(a, b fabric.SwitchIndex) int {
		return cmp.Compare(p.first[b+1]-p.first[b], p.first[a+1]-p.first[a])
	})
	n := min(p.opt.Roots, len(all))
	roots := make([]fabric.SwitchIndex, n)
	for i := range roots {
		roots[i] = all[i*len(all)/n]
	}
	return roots
}

// tree returns entries that send all packets to hosts over the links of a spanning tree. Entries of other LIDs, and of
// switches that the tree does not reach, stay.
func (p *planner) tree(root fabric.SwitchIndex, old [][]uint8) [][]uint8 {
	parent := slices.Repeat([]fabric.SwitchIndex{fabric.None}, p.switches)
	up, down := make([]uint8, p.switches), make([]uint8, p.switches) // the ports of the link to the parent
	order := []fabric.SwitchIndex{root}
	parent[root] = root
	for i := 0; i < len(order); i++ {
		s := order[i]
		for l := p.first[s]; l < p.first[s+1]; l++ {
			if to := p.into[l]; p.lasting[l] && parent[to] == fabric.None {
				parent[to], up[to], down[to] = s, p.entry[l], uint8(p.ports[l]-p.f.SwitchNode(s).FirstPort)
				order = append(order, to)
			}
		}
	}
	cols := make([][]uint8, len(p.dests))
	for d := range p.dests {
		dst := &p.dests[d]
		if cols[d] = old[d]; !dst.host || dst.at < 0 || parent[dst.at] == fabric.None {
			continue
		}
		col := slices.Clone(old[d])
		for _, s := range order {
			col[s] = up[s]
		}
		for port := range 256 {
			if p.wires.Next(dst.at, uint8(port)) == dst.end {
				col[dst.at] = uint8(port)
			}
		}
		for s := dst.at; s != root; s = parent[s] {
			col[parent[s]] = down[s]
		}
		cols[d] = col
	}
	return cols
}

// otherLIDs tries to change half of the LIDs of each port and then the other half, without a mixture of old and new
// entries. In between, the old entries of one half and the new ones of the other must have no ring together.
func (p *planner) otherLIDs(all *change, mixed *mixture) error {
	if p.before != p.after {
		return nil
	}
	if err := p.alone(); err != nil {
		return err
	}
	for half := range uint16(2) {
		s, err := all.newSearch(mixed)
		if err != nil {
			return err
		}
		var halves [2][]*moving
		for _, m := range s.moving {
			port := p.f.PortByLID(p.dests[m.d].lid)
			if port == fabric.None || p.f.Ports[port].LMC == 0 {
				return nil
			}
			h := (p.dests[m.d].lid - p.f.Ports[port].LID + half) & 1
			halves[h] = append(halves[h], m)
		}
		if steps, ok := s.byHalves(halves); ok {
			p.take(OtherLIDs, steps)
			for _, m := range s.moving {
				p.plan.Drained = append(p.plan.Drained, s.dests[m.d].lid)
			}
			slices.Sort(p.plan.Drained)
			return nil
		}
	}
	return nil
}

// byHalves clears and renews one half of the destinations, then the other.
func (s *search) byHalves(halves [2][]*moving) ([]Step, bool) {
	steps := []Step{{Entries: s.free, Settle: true}}
	for _, half := range halves {
		gone, back := Step{Settle: true}, Step{Settle: true}
		for _, m := range half {
			gone.Entries = append(gone.Entries, s.clear(m).Entries...)
			back.Entries = s.entriesOf(back.Entries, m.d, m.cur, s.new[m.d])
			copy(m.cur, s.new[m.d])
			copy(m.next, m.cur)
			s.recount(m)
		}
		if s.late() || s.isBad() {
			return nil, false
		}
		steps = append(steps, gone, back)
	}
	return slices.DeleteFunc(steps, func(st Step) bool { return len(st.Entries) == 0 }), true
}

// drained changes single entries with settling. Whenever no entry can change, one more destination loses its path until
// the end.
func (p *planner) drained(all *change) error {
	for _, sequence := range p.sequences(all.old, all.new) {
		var steps []Step
		p.plan.Drained = nil
		found := true
		for _, c := range sequence {
			mixed, err := c.mix()
			if err != nil {
				return err
			}
			if c.mapped() {
				if found = mixed.isSafe(); found {
					steps = append(steps, Step{SL2VL: true, Settle: true})
				}
			} else {
				s, err := c.newSearch(mixed)
				if err != nil {
					return err
				}
				var more []Step
				if more, found = s.drain(); found {
					steps = append(steps, more...)
				}
			}
			if !found {
				break
			}
		}
		if found {
			p.take(Drain, steps)
			return nil
		}
	}
	p.plan.Drained = nil
	return nil
}

// drain is like greedy, but destinations lose their path where no entry can change.
func (s *search) drain() ([]Step, bool) {
	steps := []Step{{Entries: s.free, Settle: true}}
	var drained []*moving
	for first := true; !s.isDone(); first = false {
		if s.grow(&steps, first) {
			continue
		}
		if s.late() {
			return nil, false
		}
		m := s.worst()
		steps = append(steps, s.clear(m))
		drained = append(drained, m)
		s.plan.Drained = append(s.plan.Drained, s.dests[m.d].lid)
		s.report(Drain, 100*s.done/max(1, s.total))
	}
	last := Step{Settle: true}
	for _, m := range drained {
		last.Entries = s.entriesOf(last.Entries, m.d, m.cur, s.new[m.d])
	}
	if len(drained) > 0 {
		steps = append(steps, last)
	}
	slices.Sort(s.plan.Drained)
	return slices.DeleteFunc(steps, func(st Step) bool { return len(st.Entries) == 0 }), true
}

// worst returns the destination with the most dependencies on rings among the remaining destinations.
func (s *search) worst() *moving {
	var worst *moving
	for _, m := range s.moving {
		if len(m.left) > 0 && (worst == nil || len(m.deps) > len(worst.deps)) {
			worst = m
		}
	}
	return worst
}

// clear removes all entries of a destination. It returns the step that does so.
func (s *search) clear(m *moving) Step {
	for x := range m.next {
		m.next[x] = fabric.NoPath
	}
	step := Step{Entries: s.entriesOf(nil, m.d, m.cur, m.next), Settle: true}
	s.done += len(m.left)
	m.left = nil
	copy(m.cur, m.next)
	s.recount(m)
	return step
}
