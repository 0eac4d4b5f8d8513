// SPDX-License-Identifier: Apache-2.0

package sim_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/sim"
	"example.org/ibconsole/mad"
)

// routedChain returns the chain with LIDs 1 to 4 from left to right, Active, with tables.
func routedChain(t *testing.T, opts sim.Options) (*fabric.Fabric, *sim.Sim) {
	t.Helper()
	f := chain(t)
	lft := fabric.NewLFT(len(f.Switches), 4)
	for sw, ports := range [][]uint8{{mad.NoPort, 1, 0, 2, 2}, {mad.NoPort, 1, 1, 0, 2}} {
		copy(lft.Row(fabric.SwitchIndex(sw)), ports)
	}
	if opts.Tables == nil {
		opts.Tables = &fabric.Tables{}
	}
	opts.Tables.Fabric, opts.Tables.LFT = f, lft
	opts.Tables.Top, opts.Tables.Known = []uint16{4, 4}, []bool{true, true}
	opts.Active = true
	s := sim.New(f, opts)
	for i, port := range []fabric.PortIndex{f.Port(0, 1), f.Port(1, 0), f.Port(2, 0), f.Port(3, 2)} {
		s.SetLID(port, uint16(i+1))
	}
	return f, s
}

// TestCounters checks that PortCounters and PortCountersExtended return the same values, up to their widths, and that a
// Set clears the selected counters (IBA 1.2.1, 16.1.3.5 and 16.1.4.11).
func TestCounters(t *testing.T) {
	f, s := routedChain(t, sim.Options{SendBack: true})
	c := dial(t, s, f.SMPort, once)
	ctx := t.Context()
	s.SetCounters(f.Port(2, 1), mad.PortCountersExtended{
		XmitData: 1 << 40, RcvData: 7, XmitPackets: math.MaxUint64, RcvPackets: 9, UnicastXmitPackets: 3,
		SymbolErrors: 70000, LinkDowned: 2, LocalLinkIntegrity: 20, VL15Dropped: 5, XmitWait: 1 << 33,
	})
	s.SetCounters(f.Port(2, 2), mad.PortCountersExtended{XmitPackets: 1, LinkDowned: 254, RcvData: 1})

	wide, err := mad.Perf(ctx, c, mad.MethodGet, 3, 0, mad.PortCountersExtended{PortSelect: 1})
	want := s.Counters(f.Port(2, 1))
	want.PortSelect = 1
	if err != nil || wide != want {
		t.Errorf("extended: %+v (%v), want %+v", wide, err, want)
	}
	slim, err := mad.Perf(ctx, c, mad.MethodGet, 3, 0, mad.PortCounters{PortSelect: 1})
	if want := (mad.PortCounters{
		PortSelect: 1, XmitData: math.MaxUint32, RcvData: 7, XmitPackets: math.MaxUint32, RcvPackets: 9,
		SymbolErrors: 65535, LinkDowned: 2, LocalLinkIntegrity: 15, VL15Dropped: 5, XmitWait: math.MaxUint32,
	}); err != nil || slim != want {
		t.Errorf("%+v (%v), want %+v", slim, err, want)
	}
	all, err := mad.Perf(ctx, c, mad.MethodGet, 3, 0, mad.PortCountersExtended{PortSelect: mad.AllPorts})
	if err != nil || all.XmitPackets != math.MaxUint64 || all.LinkDowned != 256 || all.RcvData != 8 {
		t.Errorf("all ports: %+v (%v)", all, err)
	}
	if slim, err = mad.Perf(ctx, c, mad.MethodGet, 3, 0, mad.PortCounters{PortSelect: mad.AllPorts}); err != nil ||
		slim.LinkDowned != 255 {
		t.Errorf("all ports: %+v (%v), want 255 LinkDowned", slim, err)
	}

	// Clear only LinkDowned and XmitWait, then RcvData and SymbolErrors by the other attribute.
	slim, err = mad.Perf(ctx, c, mad.MethodSet, 3, 0, mad.PortCounters{PortSelect: 1, CounterSelect: 1 << 2,
		CounterSelect2: 1})
	if err != nil || slim.LinkDowned != 0 || slim.XmitWait != 0 || slim.SymbolErrors != 65535 || slim.RcvData != 7 {
		t.Errorf("cleared: %+v (%v)", slim, err)
	}
	wide, err = mad.Perf(ctx, c, mad.MethodSet, 3, 0, mad.PortCountersExtended{PortSelect: mad.AllPorts,
		CounterSelect: 1 << 1, CounterSelect2: 1})
	if err != nil || wide.RcvData != 0 || wide.SymbolErrors != 0 || wide.LinkDowned != 254 {
		t.Errorf("cleared: %+v (%v)", wide, err)
	}
	if got := s.Counters(f.Port(2, 1)); got.XmitData != 1<<40 || got.RcvPackets != 9 || got.UnicastXmitPackets != 3 ||
		got.VL15Dropped != 5 {
		t.Errorf("cleared too much: %+v", got)
	}
	if got := s.Counters(f.Port(1, 1)); got != (mad.PortCountersExtended{}) {
		t.Errorf("a port without counters: %+v", got)
	}
}

// TestPerfRefusals checks what performance management agents refuse and which capabilities they report.
func TestPerfRefusals(t *testing.T) {
	f, s := routedChain(t, sim.Options{SendBack: true})
	c := dial(t, s, f.SMPort, once)
	for _, test := range []struct {
		lid  uint16
		a    mad.GSIAttribute
		m    mad.Method
		want error
	}{
		{3, &mad.PortCounters{PortSelect: 4}, mad.MethodGet, mad.StatusInvalidValue},
		{3, &mad.PortCountersExtended{PortSelect: 4}, mad.MethodGet, mad.StatusInvalidValue},
		{4, &mad.PortCounters{PortSelect: 1}, mad.MethodGet, mad.StatusInvalidValue}, // it is port 2
		{4, &mad.PortCounters{PortSelect: 255}, mad.MethodGet, mad.StatusInvalidValue},
		{3, &mad.PortRcvErrorDetails{PortSelect: 4}, mad.MethodGet, mad.StatusInvalidValue},
		{4, &mad.PortRcvErrorDetails{PortSelect: 1}, mad.MethodGet, mad.StatusInvalidValue}, // it is port 2
		{4, &mad.PortRcvErrorDetails{PortSelect: 2}, mad.MethodGet, nil},
		{3, &mad.ClassPortInfo{}, mad.MethodSet, mad.StatusMethodAttrMismatch},
		{3, &mad.PortCounters{}, 0x33, mad.StatusMethodUnsupported},
		{4, &mad.PortCounters{PortSelect: 2}, mad.MethodGet, nil},
		{9, &mad.PortCounters{}, mad.MethodGet, mad.ErrTimeout},
	} {
		req := mad.PerfRequest(test.m, test.lid, 0, test.a)
		if _, err := c.Do(t.Context(), &req); !errors.Is(err, test.want) {
			t.Errorf("%v %v at LID %d: %v, want %v", test.m, test.a.AttrID(), test.lid, err, test.want)
		}
	}
	sw, err := mad.Perf(t.Context(), c, mad.MethodGet, 2, 0, mad.ClassPortInfo{})
	if want := mad.PerfAllPortSelect | mad.PerfExtendedWidth | mad.PerfXmitWait; err != nil ||
		sw.CapabilityMask != want {
		t.Errorf("a switch: %+v (%v)", sw, err)
	}
	ca, err := mad.Perf(t.Context(), c, mad.MethodGet, 4, 0, mad.ClassPortInfo{})
	if err != nil || ca.CapabilityMask&mad.PerfAllPortSelect != 0 {
		t.Errorf("an adapter: %+v (%v)", ca, err)
	}
	s.Silence(2, true)
	if _, err := mad.Perf(t.Context(), c, mad.MethodGet, 3, 0, mad.PortCounters{PortSelect: 1}); !errors.Is(err,
		mad.ErrTimeout) {
		t.Errorf("a silent switch: %v", err)
	}
}

// TestQueuePairs checks that subnet management uses queue pair 0 and the other classes queue pair 1, and that the
// answer has its source.
func TestQueuePairs(t *testing.T) {
	f, s := routedChain(t, sim.Options{SendBack: true})
	conn, err := s.Open(f.SMPort)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, test := range []struct {
		class  mad.Class
		qp     uint32
		answer bool
	}{
		{mad.ClassSMPLID, 0, true}, {mad.ClassSMPLID, 1, false},
		{mad.ClassPerf, 1, true}, {mad.ClassPerf, 0, false}, {0x0a, 1, false}, {0x0a, 0, false},
	} {
		smp := mad.SMP{
			BaseVersion: 1, ClassVersion: 1, Class: test.class, Method: mad.MethodGet, Attr: mad.AttrNodeInfo,
		}
		if test.class == mad.ClassPerf {
			smp.Attr = mad.AttrClassPortInfo
		}
		frame := mad.Frame{DLID: 4, QP: test.qp, SL: 3}
		smp.Put(&frame.Data)
		if err := conn.Send(&frame); err != nil {
			t.Fatal(err)
		}
		var got mad.Frame
		if err := conn.Recv(&got); err != nil {
			t.Fatal(err)
		}
		switch {
		case (got.Status == 0) != test.answer:
			t.Errorf("class %#x at queue pair %d: status %d, want an answer: %v", uint8(test.class), test.qp,
				got.Status, test.answer)
		case test.answer && (got.SLID != 4 || got.QP != test.qp || got.SL != 3):
			t.Errorf("class %#x: from LID %d, queue pair %d, SL %d", uint8(test.class), got.SLID, got.QP, got.SL)
		case !test.answer && got.Data != frame.Data:
			t.Errorf("class %#x: returned with changes", uint8(test.class))
		}
	}
}

// TestSetTraffic checks that traffic is counted at both ends of a link, to the word, however often the counters are
// read.
func TestSetTraffic(t *testing.T) {
	now := time.Unix(1000, 0)
	f, s := routedChain(t, sim.Options{SendBack: true, Now: func() time.Time { return now }})
	out, in := f.Port(1, 2), f.Port(2, 1)
	if f.Ports[out].Peer != in {
		t.Fatal("the chain has different ports")
	}
	bytes := make([]float64, len(f.Ports))
	bytes[out] = 10e9
	s.SetCounters(out, mad.PortCountersExtended{XmitData: 1 << 20, SymbolErrors: 3})
	s.SetTraffic(bytes)
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
	s.SetTraffic(bytes)
	now = now.Add(time.Hour)
	if again := s.Counters(out); again.XmitData != sent.XmitData {
		t.Errorf("%+v", again)
	}
}
