// SPDX-License-Identifier: Apache-2.0

package sweep

import (
	"math"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// maxRounds is the maximum number of times that a sweep repeats open requests and reads contradictory ports again.
const maxRounds = 4

// settle repeats requests that were lost, and reads ports again that changed during the sweep. Links whose ends still
// disagree are dropped with a warning.
func (s *sweeper) settle() error {
	for round := range maxRounds {
		if err := s.detour(); err != nil {
			return err
		}
		s.retry(round)
		if round < maxRounds/2 {
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

// retry repeats requests whose answers may have been lost by chance. It estimates the loss from the answered requests,
// and repeats requests only while this loss makes lost answers likely. So silent nodes of a subnet without loss are not
// asked twice. Once the fabric is built, only requests for tables are repeated.
func (s *sweeper) retry(round int) {
	const uneven = 3 // some links may lose this many times the average
	missed := math.Pow(min(1, uneven*s.loss()), float64(s.client.Options().Tries))
	if float64(s.stats.Requests)*math.Pow(missed, float64(round+1)) < 0.01 {
		return
	}
	s.requeue(func(m miss) bool { return s.recoverable(m) && s.nodes[m.task.node].unanswered < mostUnanswered })
}

// requeue queues those unanswered requests again for which match returns true.
func (s *sweeper) requeue(match func(miss) bool) {
	kept := s.misses[:0]
	for _, m := range s.misses {
		if !match(m) {
			kept = append(kept, m)
			continue
		}
		s.stats.Missed--
		s.ask(m.task)
	}
	s.misses = kept
}

// loss estimates the probability that a request or its answer is lost. It considers only requests that were finally
// answered.
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

// recheck reads ports again if the two ends of their link disagree, because the link may have changed between the two
// reads. In the first round it also reads the ports behind which no node responded.
func (s *sweeper) recheck(round int) {
	for i := range s.nodes {
		for num := range s.nodes[i].ports {
			if p := &s.nodes[i].ports[num]; p.linked() && !agree(p, s.peer(p)) {
				s.readAgain(int32(i), uint8(num))
			}
		}
	}
	for _, m := range s.misses {
		if round == 0 && m.task.kind == askNode && !s.nodes[m.task.node].ports[m.task.port].linked() {
			s.readAgain(m.task.node, m.task.port)
		}
	}
}

func (s *sweeper) readAgain(node int32, num uint8) {
	if s.nodes[node].unanswered < mostUnanswered {
		s.ask(task{kind: askAgain, node: node, port: num})
	}
}

func (s *sweeper) peer(p *port) *port { return &s.nodes[p.peer].ports[p.peerNum] }

// agree reports whether the states, widths and speeds of two ports can be those of one link.
func agree(p, q *port) bool {
	if !p.known || !q.known {
		return true
	}
	a, b := &p.info, &q.info
	return a.PortState == b.PortState && a.LinkWidthActive == b.LinkWidthActive &&
		a.LinkSpeedActive == b.LinkSpeedActive && a.LinkSpeedExtActive == b.LinkSpeedExtActive
}

// gotAgain handles the PortInfo of a port that was read again.
func (s *sweeper) gotAgain(t task, r *mad.Reply) {
	p := &s.nodes[t.node].ports[t.port]
	if decodePort(r, &p.info) == nil {
		p.known = true
	}
}

// decodePort decodes the PortInfo of a port. A port that is not trained has no link. ibsim leaves the PortState of such
// a port unchanged, so decodePort sets it to Down.
func decodePort(r *mad.Reply, info *mad.PortInfo) error {
	err := r.Decode(info)
	if s := info.PhysState; err == nil && (s == mad.PhysDisabled || s == mad.PhysPolling || s == mad.PhysSleep) {
		info.PortState = mad.PortDown
	}
	return err
}

// lostAgain handles a port that did not respond when it was read again.
func (s *sweeper) lostAgain(t task) { s.nodes[t.node].ports[t.port].known = false }

// down reports whether the port is known to be down.
func (p *port) down() bool { return p.known && p.info.PortState <= mad.PortDown }

// dropHalfLinks removes links of which one end is down.
func (s *sweeper) dropHalfLinks() {
	for i := range s.nodes {
		for num := range s.nodes[i].ports {
			p := &s.nodes[i].ports[num]
			if !p.linked() || !p.down() {
				continue
			}
			q := s.peer(p)
			if q.known && !q.down() {
				s.warn("%s is down but %s at the other end of its link is not; the link counts as down",
					s.portName(int32(i), uint8(num)), s.portName(p.peer, p.peerNum))
			}
			p.peer, q.peer = fabric.None, fabric.None
		}
	}
}
