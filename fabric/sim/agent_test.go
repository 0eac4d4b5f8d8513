// SPDX-License-Identifier: Apache-2.0

package sim_test

import (
	"errors"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/sim"
	"example.org/ibconsole/mad"
)

// TestStatuses checks which requests are refused, and the status (IBA 1.2.1, 13.4.7 and table 113).
func TestStatuses(t *testing.T) {
	f := chain(t)
	c := dial(t, sim.New(f, sim.Options{SendBack: true}), f.SMPort, once)
	for _, test := range []struct {
		name string
		req  mad.Request
		want mad.Status
	}{
		{"no such port", mad.Request{Attr: mad.AttrPortInfo, Mod: 4, Path: path(t, 1)}, mad.StatusInvalidValue},
		{"no such block", mad.Request{Attr: mad.AttrLinearForwardingTable, Mod: 768, Path: path(t, 1)},
			mad.StatusInvalidValue},
		{"table of an adapter", mad.Request{Attr: mad.AttrLinearForwardingTable}, mad.StatusMethodAttrMismatch},
		{"SwitchInfo of an adapter", mad.Request{Attr: mad.AttrSwitchInfo}, mad.StatusMethodAttrMismatch},
		{"multicast of an adapter", mad.Request{Attr: mad.AttrMulticastForwardingTable}, mad.StatusMethodAttrMismatch},
		{
			"NodeInfo cannot be set", mad.Request{Method: mad.MethodSet, Attr: mad.AttrNodeInfo},
			mad.StatusMethodAttrMismatch,
		},
		{"unknown attribute", mad.Request{Attr: 0x7777}, mad.StatusMethodAttrMismatch},
		{"unknown method", mad.Request{Method: 0x09, Attr: mad.AttrNodeInfo}, mad.StatusMethodUnsupported},
		{
			"another port of an adapter", mad.Request{Method: mad.MethodSet, Attr: mad.AttrPortInfo, Mod: 1,
				Path: path(t, 1, 2, 2)}, mad.StatusInvalidValue,
		},
		{"P_Keys beyond the table", mad.Request{Attr: mad.AttrPKeyTable, Mod: 2}, mad.StatusInvalidValue},
		{"VL arbitration beyond the table", mad.Request{Attr: mad.AttrVLArbitrationTable, Mod: 2 << 16},
			mad.StatusInvalidValue},
		{
			"top beyond the table", mad.Request{Method: mad.MethodSet, Attr: mad.AttrSwitchInfo, Path: path(t, 1),
				Data: [64]byte{6: 0xc0}}, mad.StatusInvalidValue,
		},
	} {
		_, err := c.Do(t.Context(), &test.req)
		if !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", test.name, err, test.want)
		}
	}
}

// TestTablesKeepWhatIsWritten checks the tables that the simulation only stores.
func TestTablesKeepWhatIsWritten(t *testing.T) {
	f := chain(t)
	c := dial(t, sim.New(f, sim.Options{SendBack: true}), f.SMPort, once)
	for i, req := range []mad.Request{
		{Attr: mad.AttrPKeyTable, Mod: 3<<16 | 1, Path: path(t, 1)},
		{Attr: mad.AttrSLToVLTable, Mod: 2<<8 | 3, Path: path(t, 1)},
		{Attr: mad.AttrVLArbitrationTable, Mod: 3<<16 | 2, Path: path(t, 1)},
		{Attr: mad.AttrMulticastForwardingTable, Mod: 31, Path: path(t, 1)},
		{Attr: mad.AttrGUIDInfo, Mod: 1, Path: path(t, 1, 2, 2)},
	} {
		other := req
		other.Mod--
		before, err := c.Do(t.Context(), &other)
		if err != nil {
			t.Fatal(req.Attr, err)
		}
		req.Method, req.Data = mad.MethodSet, [64]byte{1, 2, byte(i)}
		if _, err := c.Do(t.Context(), &req); err != nil {
			t.Fatal(req.Attr, err)
		}
		req.Method = mad.MethodGet
		if got, err := c.Do(t.Context(), &req); err != nil || got != req.Data {
			t.Errorf("%v: %x (%v), want %x", req.Attr, got, err, req.Data)
		}
		if after, err := c.Do(t.Context(), &other); err != nil || after != before {
			t.Errorf("%v: another block has changed", req.Attr)
		}
	}
}

// TestMKey checks the protection levels: 0 refuses Sets, 1 hides the key, 2 also refuses Gets (IBA 1.2.1, 14.2.4.1).
func TestMKey(t *testing.T) {
	f := chain(t)
	c := dial(t, sim.New(f, sim.Options{SendBack: true}), f.SMPort, once)
	s1 := path(t, 1)
	const key = 0xabcdef
	ask := func(method mad.Method, withKey uint64, change func(*mad.PortInfo)) (info mad.PortInfo, err error) {
		req := mad.Request{Method: method, Attr: mad.AttrPortInfo, Path: s1, MKey: withKey}
		if change != nil {
			get := mad.Request{Attr: mad.AttrPortInfo, Path: s1, MKey: withKey}
			b, err := c.Do(t.Context(), &get)
			if err != nil {
				return info, err
			}
			_ = info.UnmarshalBinary(b[:])
			info.PortState, info.PhysState = 0, 0
			change(&info)
			req.Data = mad.Data(&info)
		}
		b, err := c.Do(t.Context(), &req)
		_ = info.UnmarshalBinary(b[:])
		return info, err
	}
	if _, err := ask(mad.MethodSet, 0, func(p *mad.PortInfo) { p.MKey = key }); err != nil {
		t.Fatal(err)
	}
	if info, err := ask(mad.MethodGet, 0, nil); err != nil || info.MKey != key {
		t.Errorf("level 0 without the key: %x (%v)", info.MKey, err)
	}
	if _, err := ask(mad.MethodSet, 0, func(p *mad.PortInfo) { p.LID = 5 }); !errors.Is(err, mad.ErrTimeout) {
		t.Errorf("level 0: a Set without the key: %v", err)
	}
	if info, err := ask(mad.MethodSet, key, func(p *mad.PortInfo) { p.MKeyProtect = 1 }); err != nil ||
		info.MKeyViolations != 1 {
		t.Errorf("with the key: %v, %d violations, want 1", err, info.MKeyViolations)
	}
	if info, err := ask(mad.MethodGet, 7, nil); err != nil || info.MKey != 0 {
		t.Errorf("level 1 with a wrong key: %x (%v)", info.MKey, err)
	}
	if _, err := ask(mad.MethodSet, key, func(p *mad.PortInfo) { p.MKeyProtect = 2 }); err != nil {
		t.Fatal(err)
	}
	if _, err := ask(mad.MethodGet, 7, nil); !errors.Is(err, mad.ErrTimeout) {
		t.Errorf("level 2 with a wrong key: %v", err)
	}
	if info, err := ask(mad.MethodGet, key, nil); err != nil || info.MKey != key {
		t.Errorf("level 2 with the key: %x (%v)", info.MKey, err)
	}
}

func TestSubnetManager(t *testing.T) {
	f := chain(t)
	s := sim.New(f, sim.Options{SendBack: true})
	c := dial(t, s, f.SMPort, once)
	right := path(t, 1, 2, 2)
	if _, err := c.SMInfo(t.Context(), right); !errors.Is(err, mad.ErrTimeout) {
		t.Errorf("SMInfo where there is none: %v", err)
	}
	want := mad.SMInfo{GUID: 0x42, Priority: 5, State: mad.SMMaster, ActCount: 9}
	s.SetSM(f.Port(3, 2), &want)
	if got, err := c.SMInfo(t.Context(), right); err != nil || got != want {
		t.Errorf("SMInfo %+v (%v), want %+v", got, err, want)
	}
	if info, err := c.PortInfo(t.Context(), right, 2); err != nil || info.CapabilityMask&mad.CapIsSM == 0 {
		t.Errorf("no IsSM bit: %v", err)
	}
	s.SetSM(f.Port(3, 2), nil)
	if info, err := c.PortInfo(t.Context(), right, 2); err != nil || info.CapabilityMask&mad.CapIsSM != 0 {
		t.Errorf("the IsSM bit stays: %v", err)
	}
}

func TestSilence(t *testing.T) {
	f := chain(t)
	s := sim.New(f, sim.Options{SendBack: true})
	c := dial(t, s, f.SMPort, once)
	s.Silence(1, true)
	if _, err := c.NodeInfo(t.Context(), path(t, 1)); !errors.Is(err, mad.ErrTimeout) {
		t.Errorf("a silent switch: %v", err)
	}
	if _, err := c.NodeInfo(t.Context(), path(t, 1, 2)); err != nil {
		t.Errorf("beyond a silent switch: %v", err)
	}
	s.Silence(1, false)
	if _, err := c.NodeInfo(t.Context(), path(t, 1)); err != nil {
		t.Error(err)
	}
}

// TestFaults counts the answers to many packets.
func TestFaults(t *testing.T) {
	const sent = 20000
	for _, test := range []struct {
		name     string
		faults   sim.Faults
		low, top int
	}{
		{"none", sim.Faults{}, sent, sent},
		// With a loss of 10 % in each direction 81 % return, +-5 standard deviations.
		{"loss", sim.Faults{Loss: 0.1, Seed: 1}, 15920, 16480},
		{"repeat", sim.Faults{Repeat: 0.25, Seed: 2}, 24690, 25310},
		{"delay", sim.Faults{Delay: time.Millisecond, Seed: 3}, sent, sent},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := chain(t)
			conn, err := sim.New(f, sim.Options{Faults: test.faults}).Open(f.SMPort)
			if err != nil {
				t.Fatal(err)
			}
			request := func(tid uint64) *mad.Frame {
				smp := mad.SMP{BaseVersion: 1, ClassVersion: 1, Method: mad.MethodGet, Attr: mad.AttrNodeInfo, TID: tid}
				smp.SetPath(path(t, 1, 2))
				frame := mad.Frame{DLID: mad.PermissiveLID}
				smp.Put(&frame.Data)
				return &frame
			}
			received := make(chan []uint64)
			go func() {
				var tids []uint64
				var frame mad.Frame
				for conn.Recv(&frame) == nil {
					var smp mad.SMP
					_ = smp.UnmarshalBinary(frame.Data[:])
					if smp.TID == sent {
						break
					}
					tids = append(tids, smp.TID)
				}
				received <- tids
			}()
			for tid := range uint64(sent) {
				if err := conn.Send(request(tid)); err != nil {
					t.Fatal(err)
				}
			}
			if test.faults.Delay > 0 {
				time.Sleep(2 * test.faults.Delay) // all are due now
			}
			for done := false; !done; {
				if err := conn.Send(request(sent)); err != nil { // the last one, possibly lost
					t.Fatal(err)
				}
				select {
				case tids := <-received:
					inOrder := true
					for i := 1; i < len(tids); i++ {
						inOrder = inOrder && tids[i] >= tids[i-1]
					}
					if n := len(tids); n < test.low || n > test.top {
						t.Errorf("%d answers, want %d to %d", n, test.low, test.top)
					}
					if inOrder != (test.faults.Delay == 0) {
						t.Errorf("answers in order: %v", inOrder)
					}
					done = true
				case <-time.After(10 * time.Millisecond):
				}
			}
			if err := conn.Close(); err != nil {
				t.Error(err)
			}
			if err := conn.Send(request(0)); !errors.Is(err, sim.ErrClosed) {
				t.Errorf("send after close: %v", err)
			}
			var frame mad.Frame
			if err := conn.Recv(&frame); !errors.Is(err, sim.ErrClosed) {
				t.Errorf("receive after close: %v", err)
			}
		})
	}
}

// TestCloseWakes checks that a waiting receiver returns when the connection is closed.
func TestCloseWakes(t *testing.T) {
	f := chain(t)
	conn, err := sim.New(f, sim.Options{}).Open(f.SMPort)
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan error)
	for range 3 {
		go func() {
			var frame mad.Frame
			got <- conn.Recv(&frame)
		}()
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := <-got; !errors.Is(err, sim.ErrClosed) {
			t.Errorf("receive: %v", err)
		}
	}
}

func TestOpen(t *testing.T) {
	f := chain(t)
	s := sim.New(f, sim.Options{})
	for _, port := range []fabric.PortIndex{-1, fabric.PortIndex(len(f.Ports)), f.Port(1, 1), f.Port(0, 0)} {
		if _, err := s.Open(port); err == nil {
			t.Errorf("connected to port %d", port)
		}
	}
	for _, port := range []fabric.PortIndex{f.Port(1, 0), f.Port(3, 1)} {
		if _, err := s.Open(port); err != nil {
			t.Error(err)
		}
	}
}
