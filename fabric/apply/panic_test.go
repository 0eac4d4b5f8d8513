// SPDX-License-Identifier: Apache-2.0

package apply_test

import (
	"sync/atomic"
	"testing"
	"time"

	"example.org/ibconsole/fabric/apply"
	"example.org/ibconsole/fabric/sim"
	"example.org/ibconsole/fabric/write"
	"example.org/ibconsole/mad"
)

// panicking is a transport that panics at its third Set.
type panicking struct {
	mad.Transport
	sets atomic.Int32
}

func (p *panicking) Send(f *mad.Frame) error {
	var smp mad.SMP
	if smp.UnmarshalBinary(f.Data[:]) == nil && smp.Method == mad.MethodSet && p.sets.Add(1) == 3 {
		panic("boom")
	}
	return p.Transport.Send(f)
}

// TestNothingIsSentAfterAPanic: what was under way is not sent again, however long it stays unanswered.
func TestNothingIsSentAfterAPanic(t *testing.T) {
	n := newSubnet(t, "torus:4x3,2")
	n.s.SetFaults(sim.Faults{Loss: 1})
	p := &panicking{Transport: open(t, n.s, n.port)}
	c := client(t, p, mad.ClientOptions{Timeout: 50 * time.Millisecond, Tries: 4, Window: 8})
	func() {
		defer func() {
			if v := recover(); v != "boom" {
				t.Fatalf("recovered %v", v)
			}
		}()
		_, _ = apply.Apply(t.Context(), c, n.live.Fabric, &write.List{Blocks: n.w.Blocks}, apply.Options{})
	}()
	sent := p.sets.Load()
	time.Sleep(300 * time.Millisecond) // some time-outs
	if now := p.sets.Load(); now != sent {
		t.Errorf("%d Sets were sent after the panic", now-sent)
	}
}
