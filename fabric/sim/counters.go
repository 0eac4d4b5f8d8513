// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"math"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// SetCounters sets the counters of a port, which are 0 initially. Both PortCounters and PortCountersExtended return
// these values; PortCounters limits them to its widths. PortSelect and CounterSelect are ignored. The packets of the
// simulation itself are not counted; see [Sim.SetTraffic].
func (s *Sim) SetCounters(port fabric.PortIndex, c mad.PortCountersExtended) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count(port, s.now())
	s.ports[port].counters = &c
}

// SetRcvErrorDetails sets the details of the receive errors of a port, which are 0 initially.
func (s *Sim) SetRcvErrorDetails(port fabric.PortIndex, d mad.PortRcvErrorDetails) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ports[port].details = d
}

// countersOf returns the counters of a port. The caller may change them.
func (s *Sim) countersOf(port fabric.PortIndex) *mad.PortCountersExtended {
	p := &s.ports[port]
	if p.counters == nil {
		p.counters = &mad.PortCountersExtended{}
	}
	return p.counters
}

// Counters returns the counters of a port.
func (s *Sim) Counters(port fabric.PortIndex) mad.PortCountersExtended {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.catchUp()
	s.count(port, s.now())
	return *s.countersOf(port)
}

// perf processes a performance management request (IBA 1.2.1, 16.1).
func (a *agent) perf(attr mad.AttrID) mad.Status {
	switch attr {
	case mad.AttrClassPortInfo:
		return a.perfClassPortInfo()
	case mad.AttrPortCounters:
		var q mad.PortCounters
		_ = q.UnmarshalBinary(a.data) // the length is right
		selected := uint32(q.CounterSelect) | uint32(q.CounterSelect2&1)<<16
		sum, ok := a.counters(q.PortSelect, narrowOrder, selected)
		if !ok {
			return mad.StatusInvalidValue
		}
		q = narrow(&sum, &q)
		clear(a.data)
		_, _ = q.AppendBinary(a.data[:0])
	case mad.AttrPortCountersExtended:
		var q mad.PortCountersExtended
		_ = q.UnmarshalBinary(a.data) // the length is right
		selected := uint32(q.CounterSelect) | q.CounterSelect2<<8
		sum, ok := a.counters(q.PortSelect, wideOrder, selected)
		if !ok {
			return mad.StatusInvalidValue
		}
		sum.PortSelect, sum.CounterSelect, sum.CounterSelect2 = q.PortSelect, q.CounterSelect, q.CounterSelect2
		_, _ = sum.AppendBinary(a.data[:0])
	case mad.AttrPortSamplesControl:
		return a.samplesControl()
	case mad.AttrPortRcvErrorDetails:
		return a.rcvErrorDetails()
	default:
		return mad.StatusMethodAttrMismatch
	}
	return mad.StatusOK
}

func (a *agent) rcvErrorDetails() mad.Status {
	var q mad.PortRcvErrorDetails
	_ = q.UnmarshalBinary(a.data) // the length is right
	if a.node.sw == nil && q.PortSelect != a.end.num || q.PortSelect > a.node.info.NumPorts {
		return mad.StatusInvalidValue
	}
	d := &a.s.ports[a.node.first+fabric.PortIndex(q.PortSelect)].details
	if a.set {
		for bit, counter := range d.Counters() {
			if q.CounterSelect>>bit&1 != 0 {
				*counter = 0
			}
		}
	}
	reply := *d
	reply.PortSelect, reply.CounterSelect = q.PortSelect, q.CounterSelect
	clear(a.data)
	_, _ = reply.AppendBinary(a.data[:0])
	return mad.StatusOK
}

func (a *agent) perfClassPortInfo() mad.Status {
	if a.set {
		return mad.StatusMethodAttrMismatch
	}
	info := mad.ClassPortInfo{
		BaseVersion: 1, ClassVersion: 1, RespTime: respTime,
		CapabilityMask: mad.PerfExtendedWidth | mad.PerfXmitWait,
	}
	if a.s.wide {
		info.CapabilityMask2 |= mad.PerfAdditional
	}
	if a.node.sw != nil {
		info.CapabilityMask |= mad.PerfAllPortSelect
	}
	clear(a.data)
	_, _ = info.AppendBinary(a.data[:0])
	return mad.StatusOK
}

// counters returns the counters of the port that a request selects. For all ports of a switch it returns the sums. If
// the request is a Set, counters first clears the selected counters.
func (a *agent) counters(port uint8, order counterOrder, selected uint32) (sum mad.PortCountersExtended, ok bool) {
	first, last := fabric.PortIndex(port), fabric.PortIndex(port)
	switch {
	case a.node.sw == nil && port != a.end.num:
		return sum, false
	case a.node.sw != nil && port == mad.AllPorts:
		first, last = 0, fabric.PortIndex(a.node.info.NumPorts)
	case port > a.node.info.NumPorts:
		return sum, false
	}
	now := a.s.now()
	for i := first; i <= last; i++ {
		a.s.count(a.node.first+i, now)
		c := a.s.ports[a.node.first+i].counters
		if c == nil {
			continue
		}
		if a.set {
			for bit, counter := range order(c) {
				if selected>>bit&1 != 0 {
					*counter = 0
				}
			}
		}
		add(&sum, c)
	}
	return sum, true
}

// counterOrder returns pointers to counters in the order of their select bits.
type counterOrder func(*mad.PortCountersExtended) []*uint64

// narrowOrder returns the counters in the order of PortCounters: the bits of CounterSelect, then one bit of
// CounterSelect2.
func narrowOrder(c *mad.PortCountersExtended) []*uint64 {
	return []*uint64{
		&c.SymbolErrors, &c.LinkErrorRecovery, &c.LinkDowned, &c.RcvErrors, &c.RcvRemotePhysical, &c.RcvSwitchRelay,
		&c.XmitDiscards, &c.XmitConstraintErrors, &c.RcvConstraintErrors, &c.LocalLinkIntegrity, &c.BufferOverruns,
		&c.VL15Dropped, &c.XmitData, &c.RcvData, &c.XmitPackets, &c.RcvPackets, &c.XmitWait,
	}
}

// wideOrder returns the counters in the order of PortCountersExtended: 8 bits of CounterSelect, then CounterSelect2.
func wideOrder(c *mad.PortCountersExtended) []*uint64 {
	all := c.Counters()
	return all[:]
}

func add(sum, c *mad.PortCountersExtended) {
	to := sum.Counters()
	for i, counter := range c.Counters() {
		if *to[i] += *counter; *to[i] < *counter {
			*to[i] = math.MaxUint64
		}
	}
}

// narrow returns the counters c as PortCounters. Its counters stop at their greatest values.
func narrow(c *mad.PortCountersExtended, q *mad.PortCounters) mad.PortCounters {
	return mad.PortCounters{
		PortSelect: q.PortSelect, CounterSelect: q.CounterSelect, CounterSelect2: q.CounterSelect2,
		SymbolErrors:         uint16(min(c.SymbolErrors, math.MaxUint16)),
		LinkErrorRecovery:    uint8(min(c.LinkErrorRecovery, math.MaxUint8)),
		LinkDowned:           uint8(min(c.LinkDowned, math.MaxUint8)),
		RcvErrors:            uint16(min(c.RcvErrors, math.MaxUint16)),
		RcvRemotePhysical:    uint16(min(c.RcvRemotePhysical, math.MaxUint16)),
		RcvSwitchRelay:       uint16(min(c.RcvSwitchRelay, math.MaxUint16)),
		XmitDiscards:         uint16(min(c.XmitDiscards, math.MaxUint16)),
		XmitConstraintErrors: uint8(min(c.XmitConstraintErrors, math.MaxUint8)),
		RcvConstraintErrors:  uint8(min(c.RcvConstraintErrors, math.MaxUint8)),
		LocalLinkIntegrity:   uint8(min(c.LocalLinkIntegrity, 15)),
		BufferOverruns:       uint8(min(c.BufferOverruns, 15)),
		QP1Dropped:           uint16(min(c.QP1Dropped, math.MaxUint16)),
		VL15Dropped:          uint16(min(c.VL15Dropped, math.MaxUint16)),
		XmitData:             uint32(min(c.XmitData, math.MaxUint32)),
		RcvData:              uint32(min(c.RcvData, math.MaxUint32)),
		XmitPackets:          uint32(min(c.XmitPackets, math.MaxUint32)),
		RcvPackets:           uint32(min(c.RcvPackets, math.MaxUint32)),
		XmitWait:             uint32(min(c.XmitWait, math.MaxUint32)),
	}
}

// packet is the size of one simulated packet in bytes: the maximum payload with headers (IBA 1.2.1, 7).
const packet = 4096 + 26

// traffic is the traffic through a port.
type traffic struct {
	out, in      float64 // bytes per second
	wait, errors float64 // counts of XmitWait and of SymbolErrors per second
	// left holds the fractions of words, packets and counts that have not been counted yet.
	left  [6]float64
	since time.Time
}

// SetTraffic sets the traffic that ports count from now on. It takes, by port index, the bytes per second that leave
// each port. The port at the other end counts the same bytes as received. Earlier traffic remains counted.
func (s *Sim) SetTraffic(bytes []float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	s.countAll()
	s.load, s.unsettled = nil, false
	for i := range s.ports {
		t := traffic{out: bytes[i], since: now}
		if peer := s.f.Ports[i].Peer; peer != fabric.None {
			t.in = bytes[peer]
		}
		s.ports[i].traffic = &t
	}
}

// count adds the traffic of a port up to a time to the port's counters.
func (s *Sim) count(port fabric.PortIndex, now time.Time) {
	s.settle(now)
	t := s.ports[port].traffic
	if t == nil {
		return
	}
	seconds := now.Sub(t.since).Seconds()
	t.since = now
	c := s.countersOf(port)
	for i, to := range [6]struct {
		counters []*uint64
		rate     float64
	}{
		{[]*uint64{&c.XmitData}, t.out / 4}, {[]*uint64{&c.RcvData}, t.in / 4},
		{[]*uint64{&c.XmitPackets, &c.UnicastXmitPackets}, t.out / packet},
		{[]*uint64{&c.RcvPackets, &c.UnicastRcvPackets}, t.in / packet},
		{[]*uint64{&c.XmitWait}, t.wait}, {[]*uint64{&c.SymbolErrors}, t.errors},
	} {
		t.left[i] += to.rate * seconds
		whole := uint64(t.left[i])
		t.left[i] -= float64(whole)
		for _, counter := range to.counters {
			*counter += whole // modulo 2^64
		}
	}
}
