// SPDX-License-Identifier: Apache-2.0

package counters

import (
	"fmt"
	"iter"
	"math/bits"

	"example.org/ibconsole/mad"
)

// Counter is one thing that a port counts.
type Counter uint8

// The counters (IBA 1.2.1, 16.1.3.5 and 16.1.4.11); up to XmitWait errors, in the order of ibqueryerrors.
const (
	SymbolErrors Counter = iota
	LinkErrorRecovery
	LinkDowned
	RcvErrors
	RcvRemotePhysical
	RcvSwitchRelay
	XmitDiscards
	XmitConstraintErrors
	RcvConstraintErrors
	LocalLinkIntegrity
	BufferOverruns
	VL15Dropped
	XmitWait
	QP1Dropped
	XmitData // units of 4 bytes, as RcvData
	RcvData
	XmitPackets
	RcvPackets
	UnicastXmitPackets
	UnicastRcvPackets
	MulticastXmitPackets
	MulticastRcvPackets
	NumCounters
)

var names = [NumCounters]string{
	"SymbolErrorCounter", "LinkErrorRecoveryCounter", "LinkDownedCounter", "PortRcvErrors",
	"PortRcvRemotePhysicalErrors", "PortRcvSwitchRelayErrors", "PortXmitDiscards", "PortXmitConstraintErrors",
	"PortRcvConstraintErrors", "LocalLinkIntegrityErrors", "ExcessiveBufferOverrunErrors", "VL15Dropped",
	"PortXmitWait", "QP1Dropped", "PortXmitData", "PortRcvData", "PortXmitPkts", "PortRcvPkts",
	"PortUnicastXmitPkts", "PortUnicastRcvPkts", "PortMulticastXmitPkts", "PortMulticastRcvPkts",
}

// String is the counter's name in perfquery and in files of thresholds.
func (c Counter) String() string {
	if c < NumCounters {
		return names[c]
	}
	return fmt.Sprintf("counter %d", uint8(c))
}

// Set is a set of counters.
type Set uint32

// Sets of counters.
const (
	Errors Set = 1<<(XmitWait+1) - 1                       // those that ibqueryerrors compares with thresholds
	Faults     = Errors &^ (1<<XmitWait | 1<<XmitDiscards) // what is wrong with a link, whatever is sent over it
	Data   Set = All &^ (1<<XmitData - 1)                  // packets and what was in them
	All    Set = 1<<NumCounters - 1
)

// Of is the set of the counters given.
func Of(counters ...Counter) Set {
	var s Set
	for _, c := range counters {
		s |= 1 << c
	}
	return s
}

// Has reports whether a counter is in the set.
func (s Set) Has(c Counter) bool { return s>>c&1 != 0 }

// All yields the counters of the set in their order.
func (s Set) All() iter.Seq[Counter] {
	return func(yield func(Counter) bool) {
		for ; s != 0; s &= s - 1 {
			if !yield(Counter(bits.TrailingZeros32(uint32(s)))) {
				return
			}
		}
	}
}

// Values are counts by [Counter].
type Values [NumCounters]uint64

// common are the counters of PortCounters, with the greatest value that each can have.
func common(a *mad.PortCounters) (v, limit Values) {
	set := func(c Counter, value, greatest uint64) { v[c], limit[c] = value, greatest }
	set(SymbolErrors, uint64(a.SymbolErrors), 0xffff)
	set(LinkErrorRecovery, uint64(a.LinkErrorRecovery), 0xff)
	set(LinkDowned, uint64(a.LinkDowned), 0xff)
	set(RcvErrors, uint64(a.RcvErrors), 0xffff)
	set(RcvRemotePhysical, uint64(a.RcvRemotePhysical), 0xffff)
	set(RcvSwitchRelay, uint64(a.RcvSwitchRelay), 0xffff)
	set(XmitDiscards, uint64(a.XmitDiscards), 0xffff)
	set(XmitConstraintErrors, uint64(a.XmitConstraintErrors), 0xff)
	set(RcvConstraintErrors, uint64(a.RcvConstraintErrors), 0xff)
	set(LocalLinkIntegrity, uint64(a.LocalLinkIntegrity), 0xf)
	set(BufferOverruns, uint64(a.BufferOverruns), 0xf)
	set(VL15Dropped, uint64(a.VL15Dropped), 0xffff)
	set(XmitWait, uint64(a.XmitWait), 0xffffffff)
	set(QP1Dropped, uint64(a.QP1Dropped), 0xffff)
	set(XmitData, uint64(a.XmitData), 0xffffffff)
	set(RcvData, uint64(a.RcvData), 0xffffffff)
	set(XmitPackets, uint64(a.XmitPackets), 0xffffffff)
	set(RcvPackets, uint64(a.RcvPackets), 0xffffffff)
	return v, limit
}

// extended are the counters of PortCountersExtended.
func extended(a *mad.PortCountersExtended) Values {
	return Values{
		SymbolErrors: a.SymbolErrors, LinkErrorRecovery: a.LinkErrorRecovery, LinkDowned: a.LinkDowned,
		RcvErrors: a.RcvErrors, RcvRemotePhysical: a.RcvRemotePhysical, RcvSwitchRelay: a.RcvSwitchRelay,
		XmitDiscards: a.XmitDiscards, XmitConstraintErrors: a.XmitConstraintErrors, RcvConstraintErrors: a.RcvConstraintErrors,
		LocalLinkIntegrity: a.LocalLinkIntegrity, BufferOverruns: a.BufferOverruns, VL15Dropped: a.VL15Dropped,
		XmitWait: a.XmitWait, QP1Dropped: a.QP1Dropped,
		XmitData: a.XmitData, RcvData: a.RcvData, XmitPackets: a.XmitPackets, RcvPackets: a.RcvPackets,
		UnicastXmitPackets: a.UnicastXmitPackets, UnicastRcvPackets: a.UnicastRcvPackets,
		MulticastXmitPackets: a.MulticastXmitPackets, MulticastRcvPackets: a.MulticastRcvPackets,
	}
}

// Greatest are the values at which counters of PortCounters stop, 0 for those that it does not have.
func Greatest() Values {
	_, limit := common(&mad.PortCounters{})
	return limit
}
