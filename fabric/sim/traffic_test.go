// SPDX-License-Identifier: Apache-2.0

package sim_test

import (
	"testing"
	"time"

	"example.org/ibconsole/fabric/sim"
	"example.org/ibconsole/mad"
)

// TestCarry: traffic is counted at both ends of a link, to the word, however often somebody looks.
func TestCarry(t *testing.T) {
	now := time.Unix(1000, 0)
	f, s := routedChain(t, sim.Options{SendBack: true, Now: func() time.Time { return now }})
	out, in := f.Port(1, 2), f.Port(2, 1)
	if f.Ports[out].Peer != in {
		t.Fatal("the chain is another one")
	}
	bytes := make([]float64, len(f.Ports))
	bytes[out] = 10e9
	s.SetCounters(out, mad.PortCountersExtended{XmitData: 1 << 20, SymbolErrors: 3})
	s.Carry(bytes)
	for range 7 {
		now = now.Add(time.Second / 7)
		s.Counters(in)
	}
	now = now.Add(3*time.Second - 7*(time.Second/7))
	sent, got := s.Counters(out), s.Counters(in)
	// 10 GB/s for 3 s are 7.5e9 words, and 7,278,020 packets of 4,122 bytes.
	if sent.XmitData != 1<<20+7_500_000_000 || sent.XmitPackets != 7_278_020 || sent.SymbolErrors != 3 ||
		sent.RcvData != 0 {
		t.Errorf("%+v", sent)
	}
	if words := got.RcvData; words < 7_499_999_999 || words > 7_500_000_000 || got.XmitData != 0 ||
		got.UnicastRcvPackets != got.RcvPackets {
		t.Errorf("%+v", got)
	}
	bytes[out] = 0
	s.Carry(bytes)
	now = now.Add(time.Hour)
	if again := s.Counters(out); again.XmitData != sent.XmitData {
		t.Errorf("%+v", again)
	}
}
