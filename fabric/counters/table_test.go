// SPDX-License-Identifier: Apache-2.0

package counters

import (
	"math"
	"testing"

	"example.org/ibconsole/mad"
)

// TestTable checks that every counter has a complete row that reads a field of its own.
func TestTable(t *testing.T) {
	names, metrics := map[string]bool{}, map[string]bool{}
	var clears1, clears2 uint64
	greatest := mad.PortCounters{
		SymbolErrors: math.MaxUint16, LinkErrorRecovery: math.MaxUint8, LinkDowned: math.MaxUint8,
		RcvErrors:         math.MaxUint16,
		RcvRemotePhysical: math.MaxUint16, RcvSwitchRelay: math.MaxUint16, XmitDiscards: math.MaxUint16,
		XmitConstraintErrors: math.MaxUint8,
		RcvConstraintErrors:  math.MaxUint8, LocalLinkIntegrity: 15, BufferOverruns: 15, QP1Dropped: math.MaxUint16,
		VL15Dropped: math.MaxUint16,
		XmitData:    math.MaxUint32, RcvData: math.MaxUint32, XmitPackets: math.MaxUint32, RcvPackets: math.MaxUint32,
		XmitWait: math.MaxUint32,
	}
	read := map[uint64]bool{}
	var ext mad.PortCountersExtended
	for i, field := range ext.Counters() {
		*field = uint64(i) + 1
	}
	for c := range NumCounters {
		r := &table[c]
		name, help := c.Metric()
		if c.String() == "" || c.Short() == "" || name == "" || help == "" || names[c.String()] || metrics[name] {
			t.Errorf("%d: %q, %q, %q, %q: empty, or another's", c, c, c.Short(), name, help)
		}
		names[c.String()], metrics[name] = true, true
		if clears1&r.select1 != 0 || clears2&r.select2 != 0 {
			t.Errorf("%v is cleared by the bits of another counter", c)
		}
		clears1, clears2 = clears1|r.select1, clears2|r.select2
		if (r.bits == 0) != (r.narrow == nil) {
			t.Fatalf("%v has %d bits in PortCounters, and can be read there: %v", c, r.bits, r.narrow != nil)
		}
		if r.narrow != nil && r.narrow(&greatest) != Greatest()[c] {
			t.Errorf("%v stops at %d, its field at %d", c, Greatest()[c], r.narrow(&greatest))
		}
		if v := r.wide(&ext); read[v] || v == 0 {
			t.Errorf("%v reads the field %d, as another does", c, v)
		} else {
			read[v] = true
		}
	}
}
