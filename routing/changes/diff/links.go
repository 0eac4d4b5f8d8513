// SPDX-License-Identifier: Apache-2.0

package diff

import (
	"cmp"
	"slices"

	"example.org/ibconsole/fabric"
)

// endPorts lists the end ports that disappear, appear or change their base LID.
func (m *matching) endPorts(r *Result) {
	unreachable := map[uint64]bool{}
	for _, e := range m.new.f.Unreachable {
		unreachable[m.new.f.Ports[e].GUID] = true
	}
	for _, e := range m.old.f.EndPorts {
		q := m.new.f.PortByGUID(m.old.f.Ports[e].GUID)
		switch {
		case q == fabric.None:
			gone := m.old.named(e)
			gone.Unreachable = unreachable[m.old.f.Ports[e].GUID]
			r.Gone = append(r.Gone, gone)
		case m.new.lid(q) != m.old.lid(e):
			r.Moved = append(r.Moved, Moved{m.old.named(e), m.new.lid(q)})
		}
	}
	for _, e := range m.new.f.EndPorts {
		if m.old.f.PortByGUID(m.new.f.Ports[e].GUID) == fabric.None {
			r.Come = append(r.Come, m.new.named(e))
		}
	}
	byLID := func(x, y Port) int { return cmp.Compare(x.LID, y.LID) }
	slices.SortStableFunc(r.Gone, byLID)
	slices.SortStableFunc(r.Come, byLID)
	slices.SortStableFunc(r.Moved, func(x, y Moved) int { return byLID(x.Port, y.Port) })
}

func (s *side) named(port fabric.PortIndex) Port {
	p := &s.f.Ports[port]
	return Port{Name: s.f.PortName(port), GUID: GUID(p.GUID), LID: s.f.LIDOf(port)}
}

// loadOrder returns the number by which loads are sorted: gains of paths first, each the greatest change first. It has
// up to 41 bits, as no change reaches 2^40 paths.
func loadOrder(change int64) int64 {
	if change > 0 {
		return 1<<40 - change
	}
	return 1<<41 - 1 - abs(change)
}

// links lists the links that only one of the two fabrics has.
func (m *matching) links(r *Result) {
	r.Down = onlyIn(&m.old, &m.new)
	r.Up = onlyIn(&m.new, &m.old)
}

func onlyIn(s, t *side) []Link {
	links := []Link{}
	for _, l := range s.f.Links() {
		a, b := s.other[l.A], s.other[l.B]
		if a == fabric.None || b == fabric.None || t.f.Ports[a].Peer != b {
			links = append(links, Link{s.end(l.A), s.end(l.B)})
		}
	}
	return links
}

func (s *side) end(port fabric.PortIndex) End {
	p := &s.f.Ports[port]
	return End{Name: s.f.PortName(port), GUID: GUID(s.f.Nodes[p.Node].GUID), Num: p.Num}
}

// loads lists the ports whose number of entries or paths changes, and finds the links with most paths.
func (m *matching) loads(r *Result, w *walked) {
	pathsOld, pathsNew := make([]int64, len(m.old.f.Ports)), make([]int64, len(m.new.f.Ports))
	for _, x := range w.workers {
		add(pathsOld, x.old.paths)
		add(pathsNew, x.new.paths)
	}
	entriesOld, entriesNew := m.old.entryCounts(), m.new.entryCounts()
	load := func(old, new fabric.PortIndex) Load {
		l := Load{}
		if old != fabric.None {
			l.From, l.EntriesOld, l.PathsOld = m.old.end(old), entriesOld[old], pathsOld[old]
			l.To = m.old.peer(old)
		}
		if new != fabric.None {
			l.From, l.EntriesNew, l.PathsNew = m.new.end(new), entriesNew[new], pathsNew[new]
			if to := m.new.peer(new); to != nil {
				l.To = to
			}
		}
		return l
	}
	for p, q := range m.old.other {
		if m.unread(fabric.PortIndex(p)) || !m.old.linked(fabric.PortIndex(p)) && !m.new.linked(q) {
			continue
		}
		if entriesOld[p] != at(entriesNew, q) || pathsOld[p] != at(pathsNew, q) {
			r.Loads = append(r.Loads, load(fabric.PortIndex(p), q))
		}
	}
	for q, p := range m.new.other {
		if p == fabric.None && m.new.linked(fabric.PortIndex(q)) && (entriesNew[q] != 0 || pathsNew[q] != 0) {
			r.Loads = append(r.Loads, load(fabric.None, fabric.PortIndex(q)))
		}
	}
	slices.SortStableFunc(r.Loads, func(x, y Load) int {
		return cmp.Compare(loadOrder(x.PathsNew-x.PathsOld), loadOrder(y.PathsNew-y.PathsOld))
	})
	if p := m.old.worst(pathsOld); p != fabric.None {
		l := load(p, m.old.other[p])
		r.WorstOld = &l
	}
	if q := m.new.worst(pathsNew); q != fabric.None {
		l := load(m.new.other[q], q)
		r.WorstNew = &l
	}
}

// unread reports whether an old port belongs to a switch of both subnets whose entries were not read in one state.
func (m *matching) unread(port fabric.PortIndex) bool {
	so := m.old.f.Nodes[m.old.f.Ports[port].Node].Switch
	return so != fabric.None && knownOf(m.old.t, m.new.t, so, m.old.otherSwitch[so]) == unread
}

func (s *side) peer(port fabric.PortIndex) *End {
	p := s.f.Ports[port].Peer
	if p == fabric.None {
		return nil
	}
	end := s.end(p)
	return &end
}

// worst returns the switch port to another switch with most paths. If several ports have as many paths, it returns the
// first. It returns None if no such port has a path.
func (s *side) worst(paths []int64) fabric.PortIndex {
	worst, most := fabric.PortIndex(fabric.None), int64(0)
	for p, n := range paths {
		if n > most && s.f.PeerSwitch(fabric.PortIndex(p)) != fabric.None {
			worst, most = fabric.PortIndex(p), n
		}
	}
	return worst
}

// linked reports whether a port exists and has a link.
func (s *side) linked(port fabric.PortIndex) bool {
	return port != fabric.None && s.f.Ports[port].Linked()
}

// entryCounts counts the entries for each port of the switches of the subnet.
func (s *side) entryCounts() []int {
	counts := make([]int, len(s.f.Ports))
	for sw, n := range s.f.Switches {
		if !s.t.Known[sw] || !s.f.Nodes[n].InSubnet {
			continue
		}
		var hist [256]int
		row := s.t.LFT.Row(fabric.SwitchIndex(sw))
		for _, port := range row[1:max(1, min(int(s.t.Top[sw])+1, len(row)))] {
			hist[port]++
		}
		node := &s.f.Nodes[n]
		for num := fabric.PortIndex(1); num <= fabric.PortIndex(node.NumPorts); num++ {
			counts[node.FirstPort+num] = hist[num]
		}
	}
	return counts
}

func at[T int | int64](s []T, i fabric.PortIndex) T {
	if i == fabric.None {
		return 0
	}
	return s[i]
}

func add(sum, x []int64) {
	for i, n := range x {
		sum[i] += n
	}
}

func abs(n int64) int64 { return max(n, -n) }
