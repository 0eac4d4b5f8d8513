// SPDX-License-Identifier: Apache-2.0

package counters

import "example.org/ibconsole/mad"

// Class groups counters by the meaning of an increase.
type Class uint8

// The classes.
const (
	Elsewhere Class = iota // an event at another port
	LinkFault              // a fault of the link
	Signal                 // a bad signal
	Refused                // packets that a partition or a size forbids
	Lost                   // dropped packets
	Waited                 // a wait for credits
	Traffic                // packets and their data
)

// row describes a counter.
type row struct {
	class Class
	// queried is set if ibqueryerrors compares the counter with a threshold.
	queried bool
	// threshold is the threshold of ibcheckerrors in infiniband-diags, 0 for none.
	threshold uint64
	// name is the counter's name in perfquery's output and in threshold files. short is the name in ibconsole's tables,
	// "" if it equals name.
	name, short string
	// metric is the counter's name for Prometheus without the prefix infiniband_switch_ or infiniband_hca_. help is the
	// description for Prometheus.
	metric, help string
	// bits is the width of the counter in PortCounters, 0 if PortCounters does not have the counter. narrow and wide
	// return the value from PortCounters and from PortCountersExtended.
	bits   int
	narrow func(*mad.PortCounters) uint64
	wide   func(*mad.PortCountersExtended) uint64
	// select1 and select2 are the bits that clear the counter in PortCounters and in PortCountersExtended, 0 for none.
	// The bits of CounterSelect2 begin at bit 16. XmitWait is bit 0 of CounterSelect2 of PortCounters. QP1Dropped has
	// no bit in PortCounters.
	select1, select2 uint64
}

type (
	narrow = mad.PortCounters
	wide   = mad.PortCountersExtended
)

// table has one row for each counter (IBA 1.2.1, 16.1.3.5 and 16.1.4.11).
var table = [NumCounters]row{
	SymbolErrors: {
		class: Signal, queried: true, threshold: 10, bits: 16, select1: 1 << 0, select2: 1 << 16,
		name: "SymbolErrorCounter", short: "symbol",
		metric: "port_symbol_error", help: "minor link errors",
		narrow: func(a *narrow) uint64 { return uint64(a.SymbolErrors) },
		wide:   func(a *wide) uint64 { return a.SymbolErrors },
	},
	LinkErrorRecovery: {
		class: LinkFault, queried: true, threshold: 10, bits: 8, select1: 1 << 1, select2: 1 << 17,
		name: "LinkErrorRecoveryCounter", short: "link recovery",
		metric: "port_link_error_recovery", help: "times that the link recovered from errors by itself",
		narrow: func(a *narrow) uint64 { return uint64(a.LinkErrorRecovery) },
		wide:   func(a *wide) uint64 { return a.LinkErrorRecovery },
	},
	LinkDowned: {
		class: LinkFault, queried: true, threshold: 10, bits: 8, select1: 1 << 2, select2: 1 << 18,
		name: "LinkDownedCounter", short: "link downed",
		metric: "port_link_downed", help: "times that the link went down",
		narrow: func(a *narrow) uint64 { return uint64(a.LinkDowned) },
		wide:   func(a *wide) uint64 { return a.LinkDowned },
	},
	RcvErrors: {
		class: Signal, queried: true, threshold: 10, bits: 16, select1: 1 << 3, select2: 1 << 19,
		name: "PortRcvErrors", short: "rcv errors",
		metric: "port_receive_errors", help: "packets received with errors",
		narrow: func(a *narrow) uint64 { return uint64(a.RcvErrors) },
		wide:   func(a *wide) uint64 { return a.RcvErrors },
	},
	RcvRemotePhysical: {
		class: Elsewhere, queried: true, bits: 16, select1: 1 << 4, select2: 1 << 20,
		name: "PortRcvRemotePhysicalErrors", short: "remote physical",
		metric: "port_receive_remote_physical_errors", help: "packets received that were marked bad on their way",
		narrow: func(a *narrow) uint64 { return uint64(a.RcvRemotePhysical) },
		wide:   func(a *wide) uint64 { return a.RcvRemotePhysical },
	},
	RcvSwitchRelay: {
		class: Elsewhere, queried: true, bits: 16, select1: 1 << 5, select2: 1 << 21,
		name: "PortRcvSwitchRelayErrors", short: "relay",
		metric: "port_receive_switch_relay_errors", help: "packets that a switch could not relay",
		narrow: func(a *narrow) uint64 { return uint64(a.RcvSwitchRelay) },
		wide:   func(a *wide) uint64 { return a.RcvSwitchRelay },
	},
	XmitDiscards: {
		class: Lost, queried: true, threshold: 100, bits: 16, select1: 1 << 6, select2: 1 << 22,
		name: "PortXmitDiscards", short: "discards",
		metric: "port_transmit_discards", help: "packets discarded as they could not be sent",
		narrow: func(a *narrow) uint64 { return uint64(a.XmitDiscards) },
		wide:   func(a *wide) uint64 { return a.XmitDiscards },
	},
	XmitConstraintErrors: {
		class: Refused, queried: true, threshold: 100, bits: 8, select1: 1 << 7, select2: 1 << 23,
		name: "PortXmitConstraintErrors", short: "xmit constraint",
		metric: "port_transmit_constraint_errors", help: "packets not sent for constraints",
		narrow: func(a *narrow) uint64 { return uint64(a.XmitConstraintErrors) },
		wide:   func(a *wide) uint64 { return a.XmitConstraintErrors },
	},
	RcvConstraintErrors: {
		class: Refused, queried: true, threshold: 100, bits: 8, select1: 1 << 8, select2: 1 << 24,
		name: "PortRcvConstraintErrors", short: "rcv constraint",
		metric: "port_receive_constraint_errors", help: "packets received and discarded for constraints",
		narrow: func(a *narrow) uint64 { return uint64(a.RcvConstraintErrors) },
		wide:   func(a *wide) uint64 { return a.RcvConstraintErrors },
	},
	LocalLinkIntegrity: {
		class: LinkFault, queried: true, threshold: 10, bits: 4, select1: 1 << 9, select2: 1 << 25,
		name: "LocalLinkIntegrityErrors", short: "link integrity",
		metric: "port_local_link_integrity_errors", help: "times that local physical errors were too many",
		narrow: func(a *narrow) uint64 { return uint64(a.LocalLinkIntegrity) },
		wide:   func(a *wide) uint64 { return a.LocalLinkIntegrity },
	},
	BufferOverruns: {
		class: LinkFault, queried: true, threshold: 10, bits: 4, select1: 1 << 10, select2: 1 << 26,
		name: "ExcessiveBufferOverrunErrors", short: "overruns",
		metric: "port_excessive_buffer_overrun_errors", help: "times that buffers overran again and again",
		narrow: func(a *narrow) uint64 { return uint64(a.BufferOverruns) },
		wide:   func(a *wide) uint64 { return a.BufferOverruns },
	},
	VL15Dropped: {
		class: Lost, queried: true, threshold: 100, bits: 16, select1: 1 << 11, select2: 1 << 27,
		name: "VL15Dropped", short: "VL15 dropped",
		metric: "port_vl15_dropped", help: "management packets dropped for want of buffers",
		narrow: func(a *narrow) uint64 { return uint64(a.VL15Dropped) },
		wide:   func(a *wide) uint64 { return a.VL15Dropped },
	},
	XmitWait: {
		class: Waited, queried: true, bits: 32, select1: 1 << 16, select2: 1 << 28,
		name: "PortXmitWait", short: "waits",
		metric: "port_transmit_wait", help: "ticks in which data waited for credits",
		narrow: func(a *narrow) uint64 { return uint64(a.XmitWait) },
		wide:   func(a *wide) uint64 { return a.XmitWait },
	},
	QP1Dropped: {
		class: Lost, threshold: 100, bits: 16, select2: 1 << 29,
		name: "QP1Dropped", short: "QP1 dropped",
		metric: "port_qp1_dropped", help: "packets for queue pair 1 that were dropped",
		narrow: func(a *narrow) uint64 { return uint64(a.QP1Dropped) },
		wide:   func(a *wide) uint64 { return a.QP1Dropped },
	},
	XmitData: {
		class: Traffic, bits: 32, select1: 1 << 12, select2: 1 << 0,
		name:   "PortXmitData",
		metric: "port_transmit_data_bytes", help: "bytes sent",
		narrow: func(a *narrow) uint64 { return uint64(a.XmitData) },
		wide:   func(a *wide) uint64 { return a.XmitData },
	},
	RcvData: {
		class: Traffic, bits: 32, select1: 1 << 13, select2: 1 << 1,
		name:   "PortRcvData",
		metric: "port_receive_data_bytes", help: "bytes received",
		narrow: func(a *narrow) uint64 { return uint64(a.RcvData) },
		wide:   func(a *wide) uint64 { return a.RcvData },
	},
	XmitPackets: {
		class: Traffic, bits: 32, select1: 1 << 14, select2: 1 << 2,
		name:   "PortXmitPkts",
		metric: "port_transmit_packets", help: "packets sent",
		narrow: func(a *narrow) uint64 { return uint64(a.XmitPackets) },
		wide:   func(a *wide) uint64 { return a.XmitPackets },
	},
	RcvPackets: {
		class: Traffic, bits: 32, select1: 1 << 15, select2: 1 << 3,
		name:   "PortRcvPkts",
		metric: "port_receive_packets", help: "packets received",
		narrow: func(a *narrow) uint64 { return uint64(a.RcvPackets) },
		wide:   func(a *wide) uint64 { return a.RcvPackets },
	},
	UnicastXmitPackets: {
		class: Traffic, select2: 1 << 4,
		name:   "PortUnicastXmitPkts",
		metric: "port_unicast_transmit_packets", help: "unicast packets sent",
		wide: func(a *wide) uint64 { return a.UnicastXmitPackets },
	},
	UnicastRcvPackets: {
		class: Traffic, select2: 1 << 5,
		name:   "PortUnicastRcvPkts",
		metric: "port_unicast_receive_packets", help: "unicast packets received",
		wide: func(a *wide) uint64 { return a.UnicastRcvPackets },
	},
	MulticastXmitPackets: {
		class: Traffic, select2: 1 << 6,
		name:   "PortMulticastXmitPkts",
		metric: "port_multicast_transmit_packets", help: "multicast packets sent",
		wide: func(a *wide) uint64 { return a.MulticastXmitPackets },
	},
	MulticastRcvPackets: {
		class: Traffic, select2: 1 << 7,
		name:   "PortMulticastRcvPkts",
		metric: "port_multicast_receive_packets", help: "multicast packets received",
		wide: func(a *wide) uint64 { return a.MulticastRcvPackets },
	},
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
