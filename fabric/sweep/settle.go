// SPDX-License-Identifier: Apache-2.0

package sweep

import (
	"math"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// rounds is how often at most a sweep goes back to what it has not got or does not understand.
const rounds = 4

// settle goes back to what a sweep has left open: questions that were lost on their way, and ports that
// changed while it went on. What is inconsistent after that is shown as the less, and said.
func (s *sweeper) settle() error {
	for round := range rounds {
		if err := s.detour(); err != nil {
			return err
		}
		s.retry(round)
		if round < rounds/2 {
			s.recheck(round)
		}
		if len(s.queue) == 0 {
			break
		}
		if err := s.explore(); err != nil {
			return err
		}
	}
	s.dropHalfLinks()
	return nil
}

// retry asks questions again that may have missed their answer by chance: while it is to be expected, from
// how often answered questions had to be sent, that there are any. A subnet that loses nothing is not asked
// twice about silence. Once the fabric is built only its tables can still come.
func (s *sweeper) retry(round int) {
	const uneven = 3 // times as much as all are some links taken to lose
	missed := math.Pow(min(1, uneven*s.loss()), float64(s.client.Options().Tries))
	if float64(s.stats.Requests)*math.Pow(missed, float64(round+1)) < 0.01 {
		return
	}
	s.reask(func(m miss) bool { return s.recoverable(m) && s.nodes[m.task.node].unanswered < mostUnanswered })
}

// reask queues the questions again that missed their answer and are as asked for.
func (s *sweeper) reask(which func(miss) bool) {
	kept := s.misses[:0]
	for _, m := range s.misses {
		if !which(m) {
			kept = append(kept, m)
			continue
		}
		s.stats.Missed--
		s.ask(m.task)
	}
	s.misses = kept
}

// loss estimates the share of packets, with their answers, that are lost, of those for answered questions.
func (s *sweeper) loss() float64 {
	now, tries := s.client.Stats(), uint64(s.client.Options().Tries)
	failed := now.TimedOut - s.before.TimedOut
	again := now.Retried - s.before.Retried
	sent := now.Sent - s.before.Sent
	if again <= failed*(tries-1) || sent <= failed*tries {
		return 0
	}
	return min(1, float64(again-failed*(tries-1))/float64(sent-failed*tries))
}

// recheck reads ports of links again whose ends do not agree, as where one came, went or was brought up while the
// sweep looked at one end and then the other; and once those that led to silence.
func (s *sweeper) recheck(round int) {
	for i := range s.nodes {
		for num := range s.nodes[i].ports {
			if p := &s.nodes[i].ports[num]; p.linked() && !agree(p, s.peer(p)) {
				s.again(int32(i), uint8(num))
			}
		}
	}
	for _, m := range s.misses {
		if round == 0 && m.task.kind == askNode && !s.nodes[m.task.node].ports[m.task.port].linked() {
			s.again(m.task.node, m.task.port)
		}
	}
}

func (s *sweeper) again(node int32, num uint8) {
	if s.nodes[node].unanswered < mostUnanswered {
		s.ask(task{kind: askAgain, node: node, port: num})
	}
}

func (s *sweeper) peer(p *port) *port { return &s.nodes[p.peer].ports[p.peerNum] }

// agree reports whether two ports can be the ends of one link.
func agree(p, q *port) bool {
	if !p.known || !q.known {
		return true
	}
	a, b := &p.info, &q.info
	return a.PortState == b.PortState && a.LinkWidthActive == b.LinkWidthActive &&
		a.LinkSpeedActive == b.LinkSpeedActive && a.LinkSpeedExtActive == b.LinkSpeedExtActive
}

// gotAgain handles a port that was read once more. Nothing follows from it.
func (s *sweeper) gotAgain(t task, r *mad.Reply) {
	p := &s.nodes[t.node].ports[t.port]
	if r.Decode(&p.info) == nil {
		p.known = true
	}
}

// lostAgain handles a port that was read before and does not answer any more.
func (s *sweeper) lostAgain(t task) { s.nodes[t.node].ports[t.port].known = false }

// down says that a port has said so.
func (p *port) down() bool { return p.known && p.info.PortState <= mad.PortDown }

// dropHalfLinks takes away links of which an end is down.
func (s *sweeper) dropHalfLinks() {
	for i := range s.nodes {
		for num := range s.nodes[i].ports {
			p := &s.nodes[i].ports[num]
			if !p.linked() || !p.down() {
				continue
			}
			q := s.peer(p)
			if q.known && !q.down() {
				s.warn("%s is down, and %s at the other end of its link is not; the link counts as down",
					s.portName(int32(i), uint8(num)), s.portName(p.peer, p.peerNum))
			}
			p.peer, q.peer = fabric.None, fabric.None
		}
	}
}
