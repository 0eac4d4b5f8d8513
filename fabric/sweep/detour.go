// SPDX-License-Identifier: Apache-2.0

package sweep

import (
	"errors"

	"example.org/ibconsole/mad"
)

const (
	maxDetours  = 3  // other paths tried for each node
	firstProbes = 64 // nodes probed until the first of them answers
)

// detour searches other paths to nodes that stopped responding, because a link or switch on their paths may have failed
// during the sweep. If a node responds by another path, its open requests are queued again.
//
// If a node responds by the same path after all, the subnet or its agents paused. Then all unanswered requests are
// queued again. The queue must be empty when detour is called. O(ports).
func (s *sweeper) detour() error {
	s.recovered, s.resumed = map[int32]bool{}, false
	s.findRecovered()
	for inVain := 0; inVain < maxDetours; inVain++ {
		lost, before := s.lostNodes(), len(s.recovered)
		if len(lost) == 0 {
			break
		}
		for i := range lost {
			s.suspect(s.nodes[i].path)
		}
		if s.probe(s.alternativePaths(lost)); s.batch.Len() == 0 {
			break
		}
		if err := s.run(); err != nil {
			return err
		}
		if len(s.recovered) > before {
			inVain = 0
		}
	}
	s.requeue(func(m miss) bool { return (s.resumed || s.recovered[m.task.node]) && s.recoverable(m) })
	return nil
}

// findRecovered finds the nodes that left a request unanswered, but responded to a later request. It finds each node
// only once, because a node may not support the attribute.
func (s *sweeper) findRecovered() {
	for _, m := range s.misses {
		n := s.nodes[m.task.node]
		if m.task.kind == askNode || n.unanswered > 0 || s.recovered[m.task.node] || n.detours > 0 ||
			!s.recoverable(m) {
			continue
		}
		n.detours++
		s.recovered[m.task.node], s.resumed = true, true
	}
}

// probe requests the NodeInfo of nodes by the given paths. It tries the previous path of a node at most once.
func (s *sweeper) probe(paths map[int32]mad.Path) {
	for i, n := range s.nodes { // in this order, so that sweeps are reproducible
		if len(s.recovered) == 0 && s.batch.Len() == firstProbes {
			return
		}
		if path, ok := paths[int32(i)]; ok && n.detours < maxDetours && (path != n.path || n.detours == 0) {
			n.detours++
			s.stats.Requests++
			s.batch.Go(mad.Request{Attr: mad.AttrNodeInfo, Path: path, User: task{node: int32(i)}.pack()}, s.gotProbe)
		}
	}
}

// gotProbe handles the answer to a probe. If the expected node answered, gotProbe changes the path of the node to that
// of the probe.
func (s *sweeper) gotProbe(r *mad.Reply) {
	s.pulse.Observe(s.batch, r.Err, s.cancel)
	i := unpack(r.Request.User).node
	n := s.nodes[i]
	var info mad.NodeInfo
	if r.Decode(&info) != nil || info.NodeGUID != n.info.NodeGUID {
		s.suspect(r.Request.Path)
		return
	}
	s.trust(r.Request.Path)
	s.resumed = s.resumed || n.path == r.Request.Path
	n.path, n.unanswered, s.recovered[i] = r.Request.Path, 0, true
}

// recoverable reports whether a repeated request may get an answer, and whether the answer would still be of use.
func (s *sweeper) recoverable(m miss) bool {
	return errors.Is(m.err, mad.ErrTimeout) && m.task.kind.isTable() == s.built
}

// lostNodes returns the nodes that responded and then stopped. For adapters among them it also returns the switches
// through which they are reached.
func (s *sweeper) lostNodes() map[int32]bool {
	lost := map[int32]bool{}
	for _, m := range s.misses {
		i := m.task.node
		n := s.nodes[i]
		if i == 0 || n.unanswered == 0 || s.recovered[i] || lost[i] || !s.recoverable(m) {
			continue
		}
		lost[i] = true
		for num := range n.ports {
			if p := &n.ports[num]; !n.isSwitch() && p.linked() && p.peer != 0 && !s.recovered[p.peer] {
				lost[p.peer] = true
			}
		}
	}
	return lost
}

// walk calls the function do with the two ports of each known link of a path.
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

// suspect records that a link of the path may have failed. trust records that none has failed.
func (s *sweeper) suspect(path mad.Path) {
	s.walk(path, func(p, q *port) { p.suspected++; q.suspected = p.suspected })
}

func (s *sweeper) trust(path mad.Path) {
	s.walk(path, func(p, q *port) { p.suspected, q.suspected = 0, 0 })
}

// alternativePaths returns paths to the nodes in the argument to, over links that are not down. It prefers paths with
// the fewest suspicions (see suspect), then those with the fewest hops. Passing through a node of this argument counts
// as one suspicion.
func (s *sweeper) alternativePaths(to map[int32]bool) map[int32]mad.Path {
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
			penalty := 0
			if to[x.node] {
				paths[x.node] = x.path
				penalty = 1
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
				at := cost + p.suspected + penalty
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
