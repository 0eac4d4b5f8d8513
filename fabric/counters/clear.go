// SPDX-License-Identifier: Apache-2.0

package counters

import (
	"context"
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// Clear sets counters of ports to 0, of [AllPorts] where none is given. This writes to the subnet: counters
// that others watch start anew. QP1Dropped can only be cleared where it is 64 bits wide. What a port does not
// have stays out; the holes are ports that did not do it. It fails where ctx ends.
func Clear(ctx context.Context, client *mad.Client, f *fabric.Fabric, opts Options, what Set,
	ports ...fabric.PortIndex) ([]Unanswered, error) {
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
		narrow |= table[c].select1
	}
	for c := range (what & a.wide()).All() {
		wide |= table[c].select2
	}
	num := r.f.Ports[r.ports[i].Port].Num
	done := func(reply *mad.Reply) error { return reply.Err }
	if narrow != 0 {
		r.perf(i, mad.MethodSet, &mad.PortCounters{
			PortSelect: num, CounterSelect: uint16(narrow), CounterSelect2: uint8(narrow >> 16),
		}, done)
	}
	if wide != 0 {
		r.perf(i, mad.MethodSet, &mad.PortCountersExtended{PortSelect: num, CounterSelect: uint16(wide),
			CounterSelect2: uint32(wide >> 16)}, done)
	}
	if narrow|wide == 0 {
		r.finished()
	}
}
