// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"time"

	"example.org/ibconsole/fabric"
)

// packet is how many bytes of traffic a packet has: the largest one, with its headers (IBA 1.2.1, 7).
const packet = 4096 + 26

// traffic is what goes through a port.
type traffic struct {
	out, in float64 // bytes a second
	// left is what was counted of neither yet: less than a word or a packet.
	left  [4]float64
	since time.Time
}

// Carry has ports count traffic from now on: so many bytes a second leave by each port, by port index, and arrive at
// the port at the other end. Whatever they carried before has been counted.
func (s *Sim) Carry(bytes []float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	for i := range s.ports {
		port := fabric.PortIndex(i)
		s.count(port, now)
		t := traffic{out: bytes[i], since: now}
		if peer := s.f.Ports[i].Peer; peer != fabric.None {
			t.in = bytes[peer]
		}
		s.ports[i].traffic = &t
	}
}

// count has a port's counters tell of what it carried up to now.
func (s *Sim) count(port fabric.PortIndex, now time.Time) {
	t := s.ports[port].traffic
	if t == nil {
		return
	}
	seconds := now.Sub(t.since).Seconds()
	t.since = now
	c := s.countersOf(port)
	for i, to := range [4]struct {
		counters []*uint64
		rate     float64
	}{
		{[]*uint64{&c.XmitData}, t.out / 4}, {[]*uint64{&c.RcvData}, t.in / 4},
		{[]*uint64{&c.XmitPackets, &c.UnicastXmitPackets}, t.out / packet},
		{[]*uint64{&c.RcvPackets, &c.UnicastRcvPackets}, t.in / packet},
	} {
		t.left[i] += to.rate * seconds
		whole := uint64(t.left[i])
		t.left[i] -= float64(whole)
		for _, counter := range to.counters {
			*counter += whole // modulo 2^64
		}
	}
}
