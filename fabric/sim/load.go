// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"cmp"
	"math"
	"slices"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/sim/fluid"
	"example.org/ibconsole/mad"
)

// Flow is data that an end port has to send.
type Flow struct {
	Src    fabric.PortIndex
	DLID   uint16
	Demand float64 // bytes per second
}

// Load is the traffic of a subnet. The flows take the paths of the forwarding tables. Their rates and the waits of
// ports are those of the package fluid. A flow without a path sends nothing.
type Load struct {
	Flows []Flow
	// Capacity limits the bytes per second that leave a port, if lower than the rate of the link. The port waits for
	// the rest of the time. Drain limits the bytes per second that a host takes from its port.
	Capacity, Drain map[fabric.PortIndex]float64
	// Errors holds the symbol errors per second that a port counts.
	Errors map[fabric.PortIndex]float64
}

// SetLoad sets the traffic of the subnet from now on. Earlier traffic remains counted. A load replaces that of
// [Sim.SetTraffic].
func (s *Sim) SetLoad(l Load) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.countAll()
	s.load, s.unsettled = &l, true
	for i := range s.ports {
		s.ports[i].traffic = &traffic{since: s.now()}
	}
}

// countAll counts the traffic of all ports up to now.
func (s *Sim) countAll() {
	now := s.now()
	for i := range s.ports {
		s.count(fabric.PortIndex(i), now)
	}
}

// together is the time within which changes count as one, so that writing many tables computes the traffic once.
const together = time.Millisecond

// disturb is called before a change that may affect the traffic.
func (s *Sim) disturb() {
	if s.load == nil {
		return
	}
	if now := s.now(); !s.unsettled || now.Sub(s.disturbed) > together {
		s.countAll()
		s.unsettled, s.disturbed = true, now
	}
}

// settle computes the traffic after a change.
func (s *Sim) settle(now time.Time) {
	if !s.unsettled {
		return
	}
	s.unsettled = false
	net := fluid.Net{Capacity: make([]float64, len(s.ports)), Drain: make([]float64, len(s.ports))}
	for i := range s.ports {
		port := fabric.PortIndex(i)
		net.Capacity[i], net.Drain[i] = s.rate(port), math.Inf(1)
		if limit, limited := s.load.Capacity[port]; limited {
			net.Capacity[i] = min(net.Capacity[i], limit)
		}
		if limit, limited := s.load.Drain[s.ports[i].cable]; limited && s.ports[i].cable != fabric.None {
			net.Drain[i] = limit
		}
	}
	for _, f := range s.load.Flows {
		var path []int
		_, arrives := s.walkLID(f.Src, f.DLID, func(out fabric.PortIndex) { path = append(path, int(out)) })
		if arrives && len(path) > 0 && f.Demand > 0 {
			net.Flows = append(net.Flows, fluid.Flow{Path: path, Demand: f.Demand})
		}
	}
	rates := fluid.Solve(&net)
	for i := range s.ports {
		p := &s.ports[i]
		t := traffic{out: rates.Load[i], since: now, errors: s.load.Errors[fabric.PortIndex(i)]}
		if p.traffic != nil {
			t.left, t.since = p.traffic.left, p.traffic.since
		}
		if p.cable != fabric.None {
			t.in = rates.Load[p.cable]
		}
		if rates.Busy[i] { // a port with a limited capacity waits while it repeats packets
			t.wait = max(0, s.rate(fabric.PortIndex(i))-t.out) / s.waitBytes(fabric.PortIndex(i))
		}
		p.traffic = &t
	}
}

// rate returns the data rate of a port's link in bytes per second, 0 if it is down.
func (s *Sim) rate(i fabric.PortIndex) float64 {
	p := &s.ports[i]
	if s.peer(i) == fabric.None {
		return 0
	}
	link := fabric.Port{Width: fabric.Width(p.info.LinkWidthActive.Lanes()),
		Speed: fabric.SpeedOf(p.info.SpeedActive(&s.ports[s.endPort(i)].info, false))}
	return link.DataRate()
}

// waitBytes returns the bytes that a port could have sent in one count of XmitWait.
func (s *Sim) waitBytes(i fabric.PortIndex) float64 {
	p := &s.ports[i]
	n := &s.nodes[p.node].info
	bytes, known := fabric.WaitBytes(n.VendorID, n.DeviceID, fabric.Width(p.info.LinkWidthActive.Lanes()),
		fabric.Tick(n.DeviceID))
	if !known {
		bytes = float64(fabric.Tick(n.DeviceID)) + 1
	}
	return bytes
}

func (a *agent) samplesControl() mad.Status {
	var q mad.PortSamplesControl
	_ = q.UnmarshalBinary(a.data) // the length is right
	if a.set {
		return mad.StatusMethodAttrMismatch // no samples
	}
	if a.node.sw == nil && q.PortSelect != a.end.num || q.PortSelect > a.node.info.NumPorts {
		return mad.StatusInvalidValue
	}
	reply := mad.PortSamplesControl{PortSelect: q.PortSelect, Tick: fabric.Tick(a.node.info.DeviceID)}
	clear(a.data)
	_, _ = reply.AppendBinary(a.data[:0])
	return mad.StatusOK
}

// timed is a change of the subnet at a time.
type timed struct {
	at time.Time
	do func()
}

// At schedules a call of the function do for a time of the subnet's clock. The call happens before the first request or
// look at the counters after this time. Traffic is counted as if the call happened in time. The function do may change
// the subnet, but must not send.
func (s *Sim) At(at time.Time, do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, _ := slices.BinarySearchFunc(s.timed, at, func(x timed, at time.Time) int {
		return cmp.Or(x.at.Compare(at), -1) // after those of the same time
	})
	s.timed = slices.Insert(s.timed, i, timed{at, do})
}

// catchUp makes the scheduled changes up to now. It unlocks the subnet meanwhile.
func (s *Sim) catchUp() {
	for len(s.timed) > 0 && !s.timed[0].at.After(s.clock()) {
		next := s.timed[0]
		s.timed = slices.Delete(s.timed, 0, 1)
		s.frozen = next.at
		s.mu.Unlock()
		next.do()
		s.mu.Lock()
		s.frozen = time.Time{}
	}
}

// now returns the time: that of the scheduled change that runs, otherwise that of the clock.
func (s *Sim) now() time.Time {
	if !s.frozen.IsZero() {
		return s.frozen
	}
	return s.clock()
}

// SetTables replaces the forwarding tables of the switches and makes links that are up Active, as a subnet manager
// would.
func (s *Sim) SetTables(t *fabric.Tables) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.disturb()
	s.copyTables(t)
	for i := range s.ports {
		if p := &s.ports[i]; p.info.PhysState == mad.PhysLinkUp && p.info.PortState == mad.PortInit {
			p.info.PortState = mad.PortActive
			p.encode()
		}
	}
}
