// SPDX-License-Identifier: Apache-2.0

package counters

import (
	"context"
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// selects are the bits of CounterSelect by counter, those of PortCounters (IBA 1.2.1, 16.1.3.5) and of
// PortCountersExtended (16.1.4.11), the latter with CounterSelect2 from bit 16 on; XmitWait is bit 0 of
// PortCounters' second mask, bit 16 here. There is no bit for QP1Dropped in PortCounters.
var selects = [NumCounters]struct{ narrow, wide uint64 }{
	SymbolErrors:         {1 << 0, 1 << 16},
	LinkErrorRecovery:    {1 << 1, 1 << 17},
	LinkDowned:           {1 << 2, 1 << 18},
	RcvErrors:            {1 << 3, 1 << 19},
	RcvRemotePhysical:    {1 << 4, 1 << 20},
	RcvSwitchRelay:       {1 << 5, 1 << 21},
	XmitDiscards:         {1 << 6, 1 << 22},
	XmitConstraintErrors: {1 << 7, 1 << 23},
	RcvConstraintErrors:  {1 << 8, 1 << 24},
	LocalLinkIntegrity:   {1 << 9, 1 << 25},
	BufferOverruns:       {1 << 10, 1 << 26},
	VL15Dropped:          {1 << 11, 1 << 27},
	XmitData:             {1 << 12, 1 << 0},
	RcvData:              {1 << 13, 1 << 1},
	XmitPackets:          {1 << 14, 1 << 2},
	RcvPackets:           {1 << 15, 1 << 3},
	UnicastXmitPackets:   {0, 1 << 4},
	UnicastRcvPackets:    {0, 1 << 5},
	MulticastXmitPackets: {0, 1 << 6},
	MulticastRcvPackets:  {0, 1 << 7},
	XmitWait:             {1 << 16, 1 << 28},
	QP1Dropped:           {0, 1 << 29},
}

// Clear sets counters of ports to 0, of [AllPorts] where none is given. This writes to the subnet: counters
// that others watch start anew. QP1Dropped can only be cleared where it is 64 bits wide. What a port does not
// have stays out; the holes are ports that did not do it. It fails where ctx ends.
func Clear(ctx context.Context, client *mad.Client, f *fabric.Fabric, opts Options, what Set, ports ...fabric.PortIndex) ([]Unanswered, error) {
	if len(ports) == 0 {
		ports = AllPorts(f)
	}
	r := newRun(ctx, client, f, opts, ports)
	r.each = func(i int, a agent) { r.clear(i, a, what) }
	if err := r.wait(); err != nil {
		return r.unanswered, fmt.Errorf("clear counters: %w", err)
	}
	return r.unanswered, nil
}

// clear clears counters of one port, in both of their widths.
func (r *run) clear(i int, a agent, what Set) {
	var narrow, wide uint64
	for c := range (what & a.narrow()).All() {
		narrow |= selects[c].narrow
	}
	for c := range (what & a.wide()).All() {
		wide |= selects[c].wide
	}
	num := r.f.Ports[r.ports[i].Port].Num
	done := func(reply *mad.Reply) error { return reply.Err }
	if narrow != 0 {
		r.perf(i, mad.MethodSet, &mad.PortCounters{PortSelect: num, CounterSelect: uint16(narrow), CounterSelect2: uint8(narrow >> 16)}, done)
	}
	if wide != 0 {
		r.perf(i, mad.MethodSet, &mad.PortCountersExtended{PortSelect: num, CounterSelect: uint16(wide), CounterSelect2: uint32(wide >> 16)}, done)
	}
	if narrow|wide == 0 {
		r.finished()
	}
}
