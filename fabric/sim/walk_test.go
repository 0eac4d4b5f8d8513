// SPDX-License-Identifier: Apache-2.0

package sim_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/sim"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/engines/minhop"
)

// once sends each request once; its timeout never expires.
var once = mad.ClientOptions{Timeout: time.Minute, Tries: 1}

// chain is host - s1 - s2 - host: every port 1 leads left, 2 right; the right host has two ports and uses its second.
func chain(t *testing.T) *fabric.Fabric {
	t.Helper()
	var b fabric.Builder
	add := func(n fabric.Node) fabric.NodeIndex {
		i, err := b.AddNode(n)
		if err != nil {
			t.Fatal(err)
		}
		for p := 1; !n.IsSwitch() && p <= int(n.NumPorts); p++ {
			b.Port(i, p).GUID = n.GUID + uint64(p)
		}
		return i
	}
	left := add(fabric.Node{GUID: 0x10, Type: mad.NodeCA, NumPorts: 1, Desc: "left"})
	s1 := add(fabric.Node{GUID: 0x20, Type: mad.NodeSwitch, NumPorts: 3, Desc: "s1"})
	s2 := add(fabric.Node{GUID: 0x30, Type: mad.NodeSwitch, NumPorts: 3, Desc: "s2"})
	right := add(fabric.Node{GUID: 0x40, Type: mad.NodeCA, NumPorts: 2, Desc: "right"})
	for _, c := range [][4]int{{int(left), 1, int(s1), 1}, {int(s1), 2, int(s2), 1}, {int(s2), 2, int(right), 2}} {
		if err := b.Connect(fabric.NodeIndex(c[0]), c[1], fabric.NodeIndex(c[2]), c[3]); err != nil {
			t.Fatal(err)
		}
	}
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func path(t *testing.T, ports ...uint8) mad.Path {
	t.Helper()
	p, err := mad.Path{}.Append(ports...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestDirectedRoutes checks where packets arrive and which are dropped.
func TestDirectedRoutes(t *testing.T) {
	f := chain(t)
	c := dial(t, sim.New(f, sim.Options{SendBack: true}), f.SMPort, once)
	for _, test := range []struct {
		ports []uint8
		guid  uint64 // of the node, 0: no answer
		port  uint8
	}{
		{nil, 0x10, 1},
		{[]uint8{1}, 0x20, 1},
		{[]uint8{1, 0}, 0x20, 0},
		{[]uint8{1, 2}, 0x30, 1},
		{[]uint8{1, 2, 2}, 0x40, 2},
		{[]uint8{1, 2, 1}, 0x20, 2},
		{[]uint8{1, 2, 1, 1}, 0x10, 1},
		{[]uint8{1, 3}, 0, 0},          // nothing plugged in
		{[]uint8{1, 4}, 0, 0},          // no such port
		{[]uint8{1, 255}, 0, 0},        // no such port
		{[]uint8{2}, 0, 0},             // not the local port
		{[]uint8{0}, 0, 0},             // an adapter has no port 0
		{[]uint8{1, 2, 2, 2}, 0, 0},    // an adapter forwards nothing
		{[]uint8{1, 2, 2, 2, 1}, 0, 0}, // an adapter forwards nothing
	} {
		info, err := c.NodeInfo(t.Context(), path(t, test.ports...))
		if test.guid == 0 {
			if !errors.Is(err, mad.ErrTimeout) {
				t.Errorf("%v: %+v, %v; expected no answer", test.ports, info, err)
			}
			continue
		}
		if err != nil || info.NodeGUID != test.guid || info.LocalPort != test.port {
			t.Errorf("%v: %x port %d, %v; want %x port %d", test.ports, info.NodeGUID, info.LocalPort, err,
				test.guid, test.port)
		}
	}
}

// TestReturnPath checks the input ports of each hop (IBA 1.2.1, 14.2.2), the hop pointer 0 and the direction bit.
func TestReturnPath(t *testing.T) {
	f := chain(t)
	conn, err := sim.New(f, sim.Options{}).Open(f.SMPort)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	smp := mad.SMP{BaseVersion: 1, ClassVersion: 1, Method: mad.MethodGet, Attr: mad.AttrNodeDescription, TID: 77}
	smp.SetPath(path(t, 1, 2, 2))
	var frame mad.Frame
	smp.Put(&frame.Data)
	frame.DLID = mad.PermissiveLID
	if err := conn.Send(&frame); err != nil {
		t.Fatal(err)
	}
	if err := conn.Recv(&frame); err != nil {
		t.Fatal(err)
	}
	want := smp
	want.Method, want.Direction = mad.MethodGetResp, true
	want.ReturnPath[1], want.ReturnPath[2], want.ReturnPath[3] = 1, 1, 2
	copy(want.Data[:], "right")
	var got mad.SMP
	if err := got.UnmarshalBinary(frame.Data[:]); err != nil || got != want {
		t.Errorf("got\n%+v (%v)\nwant\n%+v", got, err, want)
	}
}

// TestByLID follows tables: to hosts and switches, through a loop, and to unknown LIDs.
func TestByLID(t *testing.T) {
	f, err := fabric.AssignLIDs(chain(t))
	if err != nil {
		t.Fatal(err)
	}
	res, err := minhop.Engine{}.Route(context.Background(), f, routing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := sim.New(f, sim.Options{Tables: res.Tables, Active: true, SendBack: true})
	c := dial(t, s, f.SMPort, once)
	lid := func(desc string) uint16 {
		for _, e := range f.EndPorts {
			if f.Nodes[f.Ports[e].Node].Desc == desc {
				return f.Ports[e].LID
			}
		}
		return 0
	}
	expect := func(desc string, guid uint64) {
		t.Helper()
		var info mad.NodeInfo
		data, err := c.Do(t.Context(), &mad.Request{Attr: mad.AttrNodeInfo, LID: lid(desc)})
		if err == nil {
			err = info.UnmarshalBinary(data[:])
		}
		switch {
		case guid == 0 && !errors.Is(err, mad.ErrTimeout):
			t.Errorf("LID of %s: %x (%v), expected no answer", desc, info.NodeGUID, err)
		case guid != 0 && (err != nil || info.NodeGUID != guid):
			t.Errorf("LID of %s: %x (%v), want %x", desc, info.NodeGUID, err, guid)
		}
	}
	for desc, guid := range map[string]uint64{"left": 0x10, "s1": 0x20, "s2": 0x30, "right": 0x40} {
		expect(desc, guid)
	}
	if _, err := c.Do(t.Context(), &mad.Request{Attr: mad.AttrNodeInfo, LID: 99}); !errors.Is(err, mad.ErrTimeout) {
		t.Errorf("LID 99: %v, expected no answer", err)
	}
	set := func(sw []uint8, lid uint16, port uint8) {
		t.Helper()
		block, err := mad.Get[mad.LinearForwardingTable](t.Context(), c, path(t, sw...), 0)
		if err != nil {
			t.Fatal(err)
		}
		block[lid] = port
		if _, err := mad.Set(t.Context(), c, path(t, sw...), 0, block); err != nil {
			t.Fatal(err)
		}
	}
	set([]uint8{1, 2}, lid("right"), 1) // back to s1: a loop
	expect("right", 0)
	set([]uint8{1, 2}, lid("right"), 0) // to s2 itself, which has another LID
	expect("right", 0)
	set([]uint8{1, 2}, lid("right"), 2)
	expect("right", 0x40)
	set([]uint8{1, 2}, lid("left"), mad.NoPort) // no path back
	expect("right", 0)
	set([]uint8{1, 2}, lid("left"), 1)
	info, err := mad.Get[mad.SwitchInfo](t.Context(), c, path(t, 1, 2), 0)
	if err != nil {
		t.Fatal(err)
	}
	info.LinearFDBTop = lid("right") - 1
	if _, err := mad.Set(t.Context(), c, path(t, 1, 2), 0, info); err != nil {
		t.Fatal(err)
	}
	expect("right", 0)
}

// TestLinks breaks and restores a cable: both ends go down and return to Initialize, and the switches record the
// change.
func TestLinks(t *testing.T) {
	f := chain(t)
	s := sim.New(f, sim.Options{Active: true, SendBack: true})
	c := dial(t, s, f.SMPort, once)
	s1, s2 := path(t, 1), path(t, 1, 2)
	cable := f.Port(1, 2)
	clearChange := func() {
		t.Helper()
		for _, p := range []mad.Path{s1, s2} {
			info, err := mad.Get[mad.SwitchInfo](t.Context(), c, p, 0)
			if err != nil {
				t.Fatal(err)
			}
			info.PortStateChange = true
			if info, err = mad.Set(t.Context(), c, p, 0, info); err != nil || info.PortStateChange {
				t.Fatalf("PortStateChange stays: %v", err)
			}
		}
	}
	state := func(p mad.Path, port uint8, logical mad.PortState, phys mad.PhysState, changed bool) {
		t.Helper()
		info, err := c.PortInfo(t.Context(), p, port)
		if err != nil || info.PortState != logical || info.PhysState != phys {
			t.Errorf("port %d of %v: %v %v (%v), want %v %v", port, p, info.PortState, info.PhysState, err,
				logical, phys)
		}
		if sw, err := mad.Get[mad.SwitchInfo](t.Context(), c, p, 0); err != nil || sw.PortStateChange != changed {
			t.Errorf("%v: PortStateChange %v (%v), want %v", p, sw.PortStateChange, err, changed)
		}
	}
	clearChange()
	state(s1, 2, mad.PortActive, mad.PhysLinkUp, false)
	if err := s.Unlink(cable); err != nil {
		t.Fatal(err)
	}
	state(s1, 2, mad.PortDown, mad.PhysPolling, true)
	if _, err := c.NodeInfo(t.Context(), s2); !errors.Is(err, mad.ErrTimeout) {
		t.Errorf("over a broken cable: %v", err)
	}
	if err := s.Relink(f.Ports[cable].Peer); err != nil {
		t.Fatal(err)
	}
	state(s1, 2, mad.PortInit, mad.PhysLinkUp, true)
	state(s2, 1, mad.PortInit, mad.PhysLinkUp, true)
	clearChange()

	// The same by a Set: the switch whose port is set does not record the change.
	info, err := c.PortInfo(t.Context(), s1, 2)
	if err != nil {
		t.Fatal(err)
	}
	info.PortState, info.PhysState = mad.PortNoChange, mad.PhysDisabled
	if _, err := mad.Set(t.Context(), c, s1, 2, info); err != nil {
		t.Fatal(err)
	}
	state(s1, 2, mad.PortDown, mad.PhysDisabled, false)
	if err := s.Unlink(cable); err != nil {
		t.Fatal(err)
	}
	if err := s.Relink(cable); err != nil {
		t.Fatal(err)
	}
	state(s1, 2, mad.PortDown, mad.PhysDisabled, true)
	info.PhysState = mad.PhysPolling
	if _, err := mad.Set(t.Context(), c, s1, 2, info); err != nil {
		t.Fatal(err)
	}
	state(s1, 2, mad.PortInit, mad.PhysLinkUp, true)
	state(s2, 1, mad.PortInit, mad.PhysLinkUp, true)

	if err := s.Unlink(f.Port(1, 3)); err == nil {
		t.Error("broke a missing cable")
	}
}
