// SPDX-License-Identifier: Apache-2.0

package counters

import "example.org/ibconsole/mad"

// Class is what it means that a counter rises.
type Class uint8

// The classes.
const (
	Elsewhere Class = iota // what happened at another port
	LinkFault              // a fault of the link
	Signal                 // a bad signal
	Refused                // packets that a partition or a size forbids
	Lost                   // packets that were dropped
	Waited                 // a wait for credits
	Traffic                // packets and what was in them
)

// row is what there is to know of a counter.
type row struct {
	class Class
	// queried is set of those that ibqueryerrors compares with thresholds.
	queried bool
	// threshold is that of infiniband-diags' ibcheckerrors, 0 for none.
	threshold uint64
	// name is the counter's name in perfquery and in files of thresholds, short what people call it, "" for the same.
	name, short string
	// metric is the end of its name for Prometheus, behind infiniband_switch_ or infiniband_hca_, and help says what it counts.
	metric, help string
	// bits is its width in PortCounters, 0 where that does not have it, and narrow reads it there.
	bits   int
	narrow func(*mad.PortCounters) uint64
	wide   func(*mad.PortCountersExtended) uint64
	// select1 and select2 are the bits that clear it in PortCounters, with CounterSelect2 from bit 16 on, and in
	// PortCountersExtended, with CounterSelect2 from bit 16 on; 0 where there is none. XmitWait is bit 0 of the former's
	// CounterSelect2. QP1Dropped has none in PortCounters.
	select1, select2 uint64
}

type (
	narrow = mad.PortCounters
	wide   = mad.PortCountersExtended
)

// table has a row for each counter (IBA 1.2.1, 16.1.3.5 and 16.1.4.11).
var table = [NumCounters]row{
	SymbolErrors: {Signal, true, 10, "SymbolErrorCounter", "symbol", "port_symbol_error", "minor link errors",
		16, func(a *narrow) uint64 { return uint64(a.SymbolErrors) }, func(a *wide) uint64 { return a.SymbolErrors }, 1 << 0, 1 << 16},
	LinkErrorRecovery: {LinkFault, true, 10, "LinkErrorRecoveryCounter", "link recovery", "port_link_error_recovery", "times that the link recovered from errors by itself",
		8, func(a *narrow) uint64 { return uint64(a.LinkErrorRecovery) }, func(a *wide) uint64 { return a.LinkErrorRecovery }, 1 << 1, 1 << 17},
	LinkDowned: {LinkFault, true, 10, "LinkDownedCounter", "link downed", "port_link_downed", "times that the link went down",
		8, func(a *narrow) uint64 { return uint64(a.LinkDowned) }, func(a *wide) uint64 { return a.LinkDowned }, 1 << 2, 1 << 18},
	RcvErrors: {Signal, true, 10, "PortRcvErrors", "rcv errors", "port_receive_errors", "packets received with errors",
		16, func(a *narrow) uint64 { return uint64(a.RcvErrors) }, func(a *wide) uint64 { return a.RcvErrors }, 1 << 3, 1 << 19},
	RcvRemotePhysical: {Elsewhere, true, 0, "PortRcvRemotePhysicalErrors", "remote physical", "port_receive_remote_physical_errors", "packets received that were marked bad on their way",
		16, func(a *narrow) uint64 { return uint64(a.RcvRemotePhysical) }, func(a *wide) uint64 { return a.RcvRemotePhysical }, 1 << 4, 1 << 20},
	RcvSwitchRelay: {Elsewhere, true, 0, "PortRcvSwitchRelayErrors", "relay", "port_receive_switch_relay_errors", "packets that a switch could not relay",
		16, func(a *narrow) uint64 { return uint64(a.RcvSwitchRelay) }, func(a *wide) uint64 { return a.RcvSwitchRelay }, 1 << 5, 1 << 21},
	XmitDiscards: {Lost, true, 100, "PortXmitDiscards", "discards", "port_transmit_discards", "packets discarded as they could not be sent",
		16, func(a *narrow) uint64 { return uint64(a.XmitDiscards) }, func(a *wide) uint64 { return a.XmitDiscards }, 1 << 6, 1 << 22},
	XmitConstraintErrors: {Refused, true, 100, "PortXmitConstraintErrors", "xmit constraint", "port_transmit_constraint_errors", "packets not sent for constraints",
		8, func(a *narrow) uint64 { return uint64(a.XmitConstraintErrors) }, func(a *wide) uint64 { return a.XmitConstraintErrors }, 1 << 7, 1 << 23},
	RcvConstraintErrors: {Refused, true, 100, "PortRcvConstraintErrors", "rcv constraint", "port_receive_constraint_errors", "packets received and discarded for constraints",
		8, func(a *narrow) uint64 { return uint64(a.RcvConstraintErrors) }, func(a *wide) uint64 { return a.RcvConstraintErrors }, 1 << 8, 1 << 24},
	LocalLinkIntegrity: {LinkFault, true, 10, "LocalLinkIntegrityErrors", "link integrity", "port_local_link_integrity_errors", "times that local physical errors were too many",
		4, func(a *narrow) uint64 { return uint64(a.LocalLinkIntegrity) }, func(a *wide) uint64 { return a.LocalLinkIntegrity }, 1 << 9, 1 << 25},
	BufferOverruns: {LinkFault, true, 10, "ExcessiveBufferOverrunErrors", "overruns", "port_excessive_buffer_overrun_errors", "times that buffers overran again and again",
		4, func(a *narrow) uint64 { return uint64(a.BufferOverruns) }, func(a *wide) uint64 { return a.BufferOverruns }, 1 << 10, 1 << 26},
	VL15Dropped: {Lost, true, 100, "VL15Dropped", "VL15 dropped", "port_vl15_dropped", "management packets dropped for want of buffers",
		16, func(a *narrow) uint64 { return uint64(a.VL15Dropped) }, func(a *wide) uint64 { return a.VL15Dropped }, 1 << 11, 1 << 27},
	XmitWait: {Waited, true, 0, "PortXmitWait", "waits", "port_transmit_wait", "ticks in which data waited for credits",
		32, func(a *narrow) uint64 { return uint64(a.XmitWait) }, func(a *wide) uint64 { return a.XmitWait }, 1 << 16, 1 << 28},
	QP1Dropped: {Lost, false, 100, "QP1Dropped", "QP1 dropped", "port_qp1_dropped", "packets for queue pair 1 that were dropped",
		16, func(a *narrow) uint64 { return uint64(a.QP1Dropped) }, func(a *wide) uint64 { return a.QP1Dropped }, 0, 1 << 29},
	XmitData: {Traffic, false, 0, "PortXmitData", "", "port_transmit_data_bytes", "bytes sent",
		32, func(a *narrow) uint64 { return uint64(a.XmitData) }, func(a *wide) uint64 { return a.XmitData }, 1 << 12, 1 << 0},
	RcvData: {Traffic, false, 0, "PortRcvData", "", "port_receive_data_bytes", "bytes received",
		32, func(a *narrow) uint64 { return uint64(a.RcvData) }, func(a *wide) uint64 { return a.RcvData }, 1 << 13, 1 << 1},
	XmitPackets: {Traffic, false, 0, "PortXmitPkts", "", "port_transmit_packets", "packets sent",
		32, func(a *narrow) uint64 { return uint64(a.XmitPackets) }, func(a *wide) uint64 { return a.XmitPackets }, 1 << 14, 1 << 2},
	RcvPackets: {Traffic, false, 0, "PortRcvPkts", "", "port_receive_packets", "packets received",
		32, func(a *narrow) uint64 { return uint64(a.RcvPackets) }, func(a *wide) uint64 { return a.RcvPackets }, 1 << 15, 1 << 3},
	UnicastXmitPackets: {Traffic, false, 0, "PortUnicastXmitPkts", "", "port_unicast_transmit_packets", "unicast packets sent",
		0, nil, func(a *wide) uint64 { return a.UnicastXmitPackets }, 0, 1 << 4},
	UnicastRcvPackets: {Traffic, false, 0, "PortUnicastRcvPkts", "", "port_unicast_receive_packets", "unicast packets received",
		0, nil, func(a *wide) uint64 { return a.UnicastRcvPackets }, 0, 1 << 5},
	MulticastXmitPackets: {Traffic, false, 0, "PortMulticastXmitPkts", "", "port_multicast_transmit_packets", "multicast packets sent",
		0, nil, func(a *wide) uint64 { return a.MulticastXmitPackets }, 0, 1 << 6},
	MulticastRcvPackets: {Traffic, false, 0, "PortMulticastRcvPkts", "", "port_multicast_receive_packets", "multicast packets received",
		0, nil, func(a *wide) uint64 { return a.MulticastRcvPackets }, 0, 1 << 7},
}

func setOf(has func(*row) bool) Set {
	var s Set
	for c := range table {
		if has(&table[c]) {
			s |= 1 << c
		}
	}
	return s
}
