// SPDX-License-Identifier: Apache-2.0

package sim_test

import (
	"errors"
	"slices"
	"testing"

	"example.org/ibconsole/fabric/sim"
	"example.org/ibconsole/mad"
)

// reached sends n requests to the right host and returns which of them it answered.
func reached(t *testing.T, c *mad.Client, n int) (out []bool) {
	t.Helper()
	for range n {
		_, err := c.NodeInfo(t.Context(), path(t, 1, 2, 2))
		if err != nil && !errors.Is(err, mad.ErrTimeout) {
			t.Fatal(err)
		}
		out = append(out, err == nil)
	}
	return out
}

// TestFlaps checks that a link follows its schedule and is up after the faults.
func TestFlaps(t *testing.T) {
	f := chain(t)
	s := sim.New(f, sim.Options{SendBack: true, Faults: sim.Faults{Flaps: []sim.Flap{
		{Port: f.Port(1, 2), Up: 3, Down: 2},
		{Port: f.Port(1, 3), Up: 1, Down: 1}, // nothing is plugged in
	}}})
	c := dial(t, s, f.SMPort, once)
	want := []bool{true, true, true, false, false, true, true, true, false, false, true, true, true, false}
	if got := reached(t, c, len(want)); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	s.SetFaults(sim.Faults{})
	if got := reached(t, c, 20); slices.Contains(got, false) {
		t.Errorf("after the faults: %v", got)
	}
}

// TestAfter checks that events happen before the request for which they are scheduled, in order, and can schedule more.
func TestAfter(t *testing.T) {
	f := chain(t)
	s := sim.New(f, sim.Options{SendBack: true})
	c := dial(t, s, f.SMPort, once)
	var order []string
	s.After(5, func() { order = append(order, "c"); s.PowerOn(2) })
	s.After(2, func() {
		order = append(order, "a")
		s.PowerOff(2)
		s.After(0, func() { order = append(order, "now") })
	})
	s.After(5, func() { order = append(order, "d") })
	want := []bool{true, true, false, false, false, true}
	if got := reached(t, c, 6); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if want := []string{"a", "now", "c", "d"}; !slices.Equal(order, want) {
		t.Errorf("%v, want %v", order, want)
	}
}

// TestPower checks that a switch that was off returns in its initial state, and that a broken cable is still broken.
func TestPower(t *testing.T) {
	f, s := routedChain(t, sim.Options{SendBack: true})
	c := dial(t, s, f.SMPort, once)
	ctx := t.Context()
	if _, err := mad.Perf(ctx, c, mad.MethodGet, 4, 0, mad.PortCounters{PortSelect: 2}); err != nil {
		t.Fatal(err)
	}
	s.SetCounters(f.Port(1, 1), mad.PortCountersExtended{RcvData: 3})
	req := mad.Request{Method: mad.MethodSet, Attr: mad.AttrSLToVLTable, Mod: mad.SLToVLMod(1, 2), Path: path(t, 1),
		Data: [mad.DataSize]byte{9}}
	if _, err := c.Do(ctx, &req); err != nil {
		t.Fatal(err)
	}
	if err := s.Unlink(f.Port(1, 2)); err != nil {
		t.Fatal(err)
	}
	s.PowerOff(1)
	s.PowerOff(1)
	if _, err := c.NodeInfo(ctx, path(t, 1)); !errors.Is(err, mad.ErrTimeout) {
		t.Errorf("a switch that is off: %v", err)
	}
	if info, err := c.PortInfo(ctx, mad.Path{}, 0); err != nil || info.PortState != mad.PortDown {
		t.Errorf("at its neighbour: %v (%v), want down", info.PortState, err)
	}
	s.PowerOn(1)
	info, err := c.PortInfo(ctx, path(t, 1), 1)
	if err != nil || info.PortState != mad.PortInit {
		t.Errorf("on again: %v (%v), want Initialize", info.PortState, err)
	}
	if info, err = c.PortInfo(ctx, path(t, 1), 2); err != nil || info.PortState != mad.PortDown {
		t.Errorf("with a broken cable: %v (%v), want down", info.PortState, err)
	}
	if info, err = c.PortInfo(ctx, path(t, 1), 0); err != nil || info.LID != 0 {
		t.Errorf("LID %d (%v), want none", info.LID, err)
	}
	if sw, err := mad.Get[mad.SwitchInfo](ctx, c, path(t, 1), 0); err != nil || sw.LinearFDBTop != 0 ||
		!sw.PortStateChange {
		t.Errorf("%+v (%v), expected a new switch", sw, err)
	}
	if table, err := mad.Get[mad.LinearForwardingTable](ctx, c, path(t, 1), 0); err != nil || table[1] != mad.NoPort {
		t.Errorf("the table is still there (%v)", err)
	}
	req.Method = mad.MethodGet
	if b, err := c.Do(ctx, &req); err != nil || b[0] == 9 {
		t.Errorf("SLtoVLMappingTable is still there (%v)", err)
	}
	if got := s.Counters(f.Port(1, 1)); got.RcvData != 0 {
		t.Errorf("counters are still there: %+v", got)
	}
}

// TestOff checks that a node that is off does not answer its own connection.
func TestOff(t *testing.T) {
	f := chain(t)
	s := sim.New(f, sim.Options{SendBack: true})
	c := dial(t, s, f.SMPort, once)
	s.PowerOff(0)
	if _, err := c.NodeInfo(t.Context(), mad.Path{}); !errors.Is(err, mad.ErrTimeout) {
		t.Errorf("%v, expected no answer", err)
	}
}

func TestRename(t *testing.T) {
	f := chain(t)
	s := sim.New(f, sim.Options{SendBack: true})
	c := dial(t, s, f.SMPort, once)
	s.Rename(1, "another name")
	got, err := mad.Get[mad.NodeDescription](t.Context(), c, path(t, 1), 0)
	if err != nil || got.String() != "another name" {
		t.Errorf("%q (%v)", got.String(), err)
	}
}

// TestBusy checks that a busy agent does nothing.
func TestBusy(t *testing.T) {
	f := chain(t)
	s := sim.New(f, sim.Options{SendBack: true, Faults: sim.Faults{Busy: 1}})
	conn, err := s.Open(f.SMPort)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	smp := mad.SMP{
		BaseVersion: 1, ClassVersion: 1, Method: mad.MethodSet, Attr: mad.AttrSwitchInfo,
		Data: mad.Data(&mad.SwitchInfo{LinearFDBTop: 99}),
	}
	smp.SetPath(path(t, 1))
	frame := mad.Frame{DLID: mad.PermissiveLID}
	smp.Put(&frame.Data)
	if err := conn.Send(&frame); err != nil {
		t.Fatal(err)
	}
	if err := conn.Recv(&frame); err != nil {
		t.Fatal(err)
	}
	if _ = smp.UnmarshalBinary(frame.Data[:]); smp.Status != mad.StatusBusy {
		t.Errorf("%v, want busy", smp.Status)
	}
	s.SetFaults(sim.Faults{})
	c := dial(t, s, f.SMPort, once)
	if info, err := mad.Get[mad.SwitchInfo](t.Context(), c, path(t, 1), 0); err != nil || info.LinearFDBTop != 0 {
		t.Errorf("LinearFDBTop %d (%v), want 0", info.LinearFDBTop, err)
	}
}

// TestFaultsRepeat checks that the same seed and requests have the same results.
func TestFaultsRepeat(t *testing.T) {
	run := func(seed uint64) (out []bool) {
		f := chain(t)
		conn, err := sim.New(f, sim.Options{
			SendBack: true, Faults: sim.Faults{Loss: 0.3, Busy: 0.2, Repeat: 0.2, Seed: seed},
		}).Open(f.SMPort)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		const n = 200 // with these seeds some of the last 10 return
		for tid := range uint64(n) {
			smp := mad.SMP{BaseVersion: 1, ClassVersion: 1, Method: mad.MethodGet, Attr: mad.AttrNodeInfo, TID: tid}
			smp.SetPath(path(t, 1))
			frame := mad.Frame{DLID: mad.PermissiveLID}
			smp.Put(&frame.Data)
			if err := conn.Send(&frame); err != nil {
				t.Fatal(err)
			}
		}
		out = make([]bool, n)
		for {
			var frame mad.Frame
			if err := conn.Recv(&frame); err != nil {
				t.Fatal(err)
			}
			var smp mad.SMP
			_ = smp.UnmarshalBinary(frame.Data[:])
			out[smp.TID] = true
			if smp.TID >= n-10 {
				return out[:n-10]
			}
		}
	}
	first := run(1)
	if !slices.Equal(first, run(1)) {
		t.Error("the same seed has different results")
	}
	if slices.Equal(first, run(2)) {
		t.Error("different seeds have the same results")
	}
}
