// SPDX-License-Identifier: Apache-2.0

package counters

import (
	"cmp"
	"fmt"
	"iter"
	"math/bits"
	"slices"
)

// Counter identifies a counter of a port.
type Counter uint8

// The counters. The counters of ibqueryerrors come first, in the order of that tool. Records on disk contain the
// numbers, so append new counters at the end and add their rows to [table].
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

// String returns the name of the counter in perfquery's output and in threshold files.
func (c Counter) String() string {
	if c < NumCounters {
		return table[c].name
	}
	return fmt.Sprintf("counter %d", uint8(c))
}

// Short returns the name of the counter in ibconsole's tables.
func (c Counter) Short() string { return cmp.Or(table[c].short, table[c].name) }

// Metric returns the counter's metric name for Prometheus and a description. The name lacks the prefix
// infiniband_switch_ or infiniband_hca_.
func (c Counter) Metric() (name, help string) { return table[c].metric, table[c].help }

// Set is a set of counters.
type Set uint32

// All contains all counters.
const All Set = 1<<NumCounters - 1

// Sets of counters.
var (
	Errors = setOf(func(r *row) bool { return r.queried }) // compared with thresholds by ibqueryerrors
	Faults = Errors &^ Of(XmitWait, XmitDiscards)          // faults of a link, independent of its traffic
	Data   = OfClass(Traffic)                              // packets and their data
)

// OfClass returns the counters of classes.
func OfClass(classes ...Class) Set {
	return setOf(func(r *row) bool { return slices.Contains(classes, r.class) })
}

// Of returns a set of counters.
func Of(counters ...Counter) Set {
	var s Set
	for _, c := range counters {
		s |= 1 << c
	}
	return s
}

// Has reports whether a counter is in the set.
func (s Set) Has(c Counter) bool { return s>>c&1 != 0 }

// All yields the counters of the set in the order of their numbers.
func (s Set) All() iter.Seq[Counter] {
	return func(yield func(Counter) bool) {
		for ; s != 0; s &= s - 1 {
			if !yield(Counter(bits.TrailingZeros32(uint32(s)))) {
				return
			}
		}
	}
}

// Values are values by [Counter].
type Values [NumCounters]uint64

// Greatest returns the values at which the counters of PortCounters stop. The value is 0 for a counter that
// PortCounters does not have.
func Greatest() (v Values) {
	for c := range table {
		v[c] = 1<<table[c].bits - 1
	}
	return v
}

// Thresholds returns the thresholds of ibcheckerrors in infiniband-diags. The value is 0 for a counter that
// ibcheckerrors does not check.
func Thresholds() (v Values) {
	for c := range table {
		v[c] = table[c].threshold
	}
	return v
}
