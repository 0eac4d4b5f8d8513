// SPDX-License-Identifier: Apache-2.0

package counters

import (
	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// additional is the bit of CapabilityMask2 of agents whose PortCountersExtended
// have errors, too (IBA 1.3, 16.1.3.1: IsAdditionalPortCountersExtendedSupported).
const additional = 1 << 1

// agent is what an agent has.
type agent struct {
	mask  uint16
	mask2 uint32
}

func (a agent) extended() bool {
	return a.mask&(mad.PerfExtendedWidth|mad.PerfExtendedWidthOnly) != 0
}

// wide are the counters that PortCountersExtended has of this agent.
func (a agent) wide() Set {
	if !a.extended() {
		return 0
	}
	s := Of(XmitData, RcvData, XmitPackets, RcvPackets)
	if a.mask&mad.PerfExtendedWidth != 0 {
		s |= Of(UnicastXmitPackets, UnicastRcvPackets, MulticastXmitPackets, MulticastRcvPackets)
	}
	if a.mask2&additional != 0 {
		s |= Errors | Of(QP1Dropped)
	}
	return s
}

// narrow are those that PortCounters has.
func (a agent) narrow() Set {
	s := Errors | Of(QP1Dropped, XmitData, RcvData, XmitPackets, RcvPackets)
	if a.mask&mad.PerfXmitWait == 0 {
		s &^= Of(XmitWait)
	}
	return s
}

// Known is what agents have, by the GUID of the port that answers for them. One that does not answer, or of which a
// port does not, is asked anew. It is for one goroutine; the zero value knows nothing.
type Known struct{ agents map[uint64]agent }

func (k *Known) find(f *fabric.Fabric, end fabric.PortIndex) (agent, bool) {
	if k == nil {
		return agent{}, false
	}
	a, known := k.agents[f.Ports[end].GUID]
	return a, known
}

func (k *Known) learn(f *fabric.Fabric, end fabric.PortIndex, a agent) {
	if k == nil {
		return
	}
	if k.agents == nil {
		k.agents = map[uint64]agent{}
	}
	k.agents[f.Ports[end].GUID] = a
}

func (k *Known) forget(f *fabric.Fabric, end fabric.PortIndex) {
	if k != nil {
		delete(k.agents, f.Ports[end].GUID)
	}
}
