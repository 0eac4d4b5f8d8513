// SPDX-License-Identifier: Apache-2.0

package sweep

import (
	"errors"

	"example.org/ibconsole/mad"
)

const (
	maxDetours = 3  // how many other paths to a node are tried
	atFirst    = 64 // how many nodes are looked for by other paths until one answers
)

// detour looks for other paths to nodes that stopped answering, as a link or a switch on the path to them may
// have gone in mid-sweep. What such a node left open, where it does answer by another path, is queued again;
// all that was not answered is where a node answers by the same path after all, as agents or the subnet were
// at a standstill for a while. Nothing else may be queued. O(ports).
func (s *sweeper) detour() error {
	s.found, s.resumed = map[int32]bool{}, false
	s.goneOn()
	for inVain := 0; inVain < maxDetours; inVain++ {
		lost, before := s.stopped(), len(s.found)
		if len(lost) == 0 {
			break
		}
		for i := range lost {
			s.suspect(s.nodes[i].path)
		}
		if s.probe(s.ways(lost)); s.batch.Len() == 0 {
			break
		}
		if err := s.run(); err != nil {
			return err
		}
		if len(s.found) > before {
			inVain = 0
		}
	}
	s.reask(func(m miss) bool { return (s.resumed || s.found[m.task.node]) && s.recoverable(m) })
	return nil
}

// goneOn finds nodes, once each, that answered after leaving something open: perhaps they do not know what was
// asked.
func (s *sweeper) goneOn() {
	for _, m := range s.misses {
		n := s.nodes[m.task.node]
		if m.task.kind == askNode || n.unanswered > 0 || s.found[m.task.node] || n.detours > 0 || !s.recoverable(m) {
			continue
		}
		n.detours++
		s.found[m.task.node], s.resumed = true, true
	}
}

// probe asks nodes who they are, by the same path as before no more than once.
func (s *sweeper) probe(paths map[int32]mad.Path) {
	for i, n := range s.nodes { // in this order, so that sweeps are alike
		if len(s.found) == 0 && s.batch.Len() == atFirst {
			return
		}
		if path, found := paths[int32(i)]; found && n.detours < maxDetours && (path != n.path || n.detours == 0) {
			n.detours++
			s.stats.Requests++
			s.batch.Go(mad.Request{Attr: mad.AttrNodeInfo, Path: path, User: task{node: int32(i)}.pack()}, s.gotProbe)
		}
	}
}

// gotProbe takes the path by which a node was asked, if it is the node that answers.
func (s *sweeper) gotProbe(r *mad.Reply) {
	s.pulse.Observe(s.batch, r.Err, s.give)
	i := unpack(r.Request.User).node
	n := s.nodes[i]
	var info mad.NodeInfo
	if r.Decode(&info) != nil || info.NodeGUID != n.info.NodeGUID {
		s.suspect(r.Request.Path)
		return
	}
	s.trust(r.Request.Path)
	s.resumed = s.resumed || n.path == r.Request.Path
	n.path, n.unanswered, s.found[i] = r.Request.Path, 0, true
}

// recoverable says that an unanswered question, of a kind that is still asked, may be answered yet.
func (s *sweeper) recoverable(m miss) bool {
	return errors.Is(m.err, mad.ErrTimeout) && m.task.kind.ofTables() == s.built
}

// stopped are nodes that answered and then no more, and the switches by which adapters among them are asked.
func (s *sweeper) stopped() map[int32]bool {
	lost := map[int32]bool{}
	for _, m := range s.misses {
		i := m.task.node
		n := s.nodes[i]
		if i == 0 || n.unanswered == 0 || s.found[i] || lost[i] || !s.recoverable(m) {
			continue
		}
		lost[i] = true
		for num := range n.ports {
			if p := &n.ports[num]; !n.isSwitch() && p.linked() && p.peer != 0 && !s.found[p.peer] {
				lost[p.peer] = true
			}
		}
	}
	return lost
}

// walk calls do with both ends of each link of a path, as far as they are known.
func (s *sweeper) walk(path mad.Path, do func(p, q *port)) {
	at := int32(0)
	for hop := range path.Len() {
		p := &s.nodes[at].ports[path.Hop(hop)]
		if !p.linked() {
			return
		}
		do(p, s.peer(p))
		at = p.peer
	}
}

// suspect takes note that a link of a path may have gone, and trust that none has.
func (s *sweeper) suspect(path mad.Path) {
	s.walk(path, func(p, q *port) { p.suspected++; q.suspected = p.suspected })
}

func (s *sweeper) trust(path mad.Path) {
	s.walk(path, func(p, q *port) { p.suspected, q.suspected = 0, 0 })
}

// ways are paths to nodes, by links that are not down and are suspected as little as can be, in all, and then
// by few hops. To lead on from one of those nodes counts as one suspicion.
func (s *sweeper) ways(to map[int32]bool) map[int32]mad.Path {
	type step struct {
		node int32
		path mad.Path
	}
	paths := map[int32]mad.Path{}
	reached := make([]bool, len(s.nodes))
	costing := [][]step{{{}}} // steps by suspicions
	for cost := 0; cost < len(costing); cost++ {
		for next := 0; next < len(costing[cost]); next++ {
			x := costing[cost][next]
			if reached[x.node] {
				continue
			}
			reached[x.node] = true
			more := 0
			if to[x.node] {
				paths[x.node] = x.path
				more = 1
			}
			n := s.nodes[x.node]
			for num := range n.ports {
				p := &n.ports[num]
				if !p.linked() || p.down() || reached[p.peer] || !n.isSwitch() && !s.isLocal(x.node, uint8(num)) ||
					s.peer(p).down() {
					continue
				}
				path, err := x.path.Append(uint8(num))
				if err != nil {
					continue
				}
				at := cost + p.suspected + more
				for at >= len(costing) {
					costing = append(costing, nil)
				}
				costing[at] = append(costing[at], step{p.peer, path})
			}
		}
		costing[cost] = nil
	}
	return paths
}
