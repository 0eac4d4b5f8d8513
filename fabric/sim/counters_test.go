// SPDX-License-Identifier: Apache-2.0

package sim_test

import (
	"errors"
	"math"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/sim"
	"example.org/ibconsole/mad"
)

// routedChain is the chain with LIDs 1 to 4 from left to right, Active, with tables.
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

// TestCounters: PortCounters and PortCountersExtended tell the same, up to what
// they have room for, and a Set clears what it selects (IBA 1.2.1, 16.1.3.5 and
// 16.1.4.11).
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

	// LinkDowned and XmitWait alone, then RcvData and SymbolErrors by the other.
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
		t.Errorf("a port that was never told: %+v", got)
	}
}

// TestPerfRefusals: what agents of performance management refuse, and what they
// say they can do.
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

// TestQueuePairs: subnet management goes to queue pair 0 and the other classes
// to 1; the answer says whence it comes.
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
			t.Errorf("class %#x: handed back with changes", uint8(test.class))
		}
	}
}
