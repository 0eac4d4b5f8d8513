// SPDX-License-Identifier: Apache-2.0

package sim_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/fabric/sim"
	"example.org/ibconsole/fabric/sweep"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/ibsim"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
)

// ibsimOf starts an ibsim with the nodes and links of f.
func ibsimOf(t testing.TB, f *fabric.Fabric) *ibsimtest.Sim {
	t.Helper()
	var text bytes.Buffer
	if err := gen.WriteNet(&text, f); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "net")
	if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return ibsimtest.Start(t, file)
}

// questions returns the compared requests: every attribute of every port of a node.
func questions(f *fabric.Fabric, node fabric.NodeIndex) []mad.Request {
	n := &f.Nodes[node]
	qs := []mad.Request{
		{Attr: mad.AttrNodeDescription}, {Attr: mad.AttrNodeInfo}, {Attr: mad.AttrSwitchInfo},
		{Attr: mad.AttrGUIDInfo}, {Attr: mad.AttrPKeyTable}, {Attr: mad.AttrPKeyTable, Mod: 9},
		{Attr: mad.AttrLinearForwardingTable}, {Attr: mad.AttrLinearForwardingTable, Mod: 766},
		{Attr: mad.AttrLinearForwardingTable, Mod: 768},
		{Attr: mad.AttrMulticastForwardingTable, Mod: 3},
		{Attr: mad.AttrPortInfo, Mod: uint32(n.NumPorts) + 1},
	}
	for p := range uint32(n.NumPorts) + 1 {
		qs = append(qs, mad.Request{Attr: mad.AttrPortInfo, Mod: p},
			mad.Request{Attr: mad.AttrPortInfo, Mod: p | 1<<31})
		if n.IsSwitch() {
			qs = append(qs,
				mad.Request{Attr: mad.AttrPKeyTable, Mod: p << 16},
				mad.Request{Attr: mad.AttrSLToVLTable, Mod: p<<8 | p/2},
				mad.Request{Attr: mad.AttrVLArbitrationTable, Mod: 1<<16 | p},
				mad.Request{Attr: mad.AttrVLArbitrationTable, Mod: 3<<16 | p})
		}
	}
	return qs
}

// twins is an ibsim and a simulation of the same fabric.
type twins struct {
	f          *fabric.Fabric
	real, ours *mad.Client
	routes     *sweep.Routes
}

func newTwins(t *testing.T, spec string) *twins {
	f := generate(t, spec)
	return &twins{
		f:      f,
		real:   ibsimtest.Client(t, ibsimOf(t, f), ""),
		ours:   dial(t, sim.New(f, sim.Options{}), f.SMPort, mad.ClientOptions{}),
		routes: sweep.NewRoutes(f),
	}
}

// ask sends a request to both and requires the same bytes, or the same error, except for LinearFDBCap, which is option
// -L of ibsim. It returns ibsim's answer.
func (w *twins) ask(t *testing.T, where string, q mad.Request) ([mad.DataSize]byte, error) {
	t.Helper()
	a, errA := w.real.Do(t.Context(), &q)
	b, errB := w.ours.Do(t.Context(), &q)
	if (errA == nil) != (errB == nil) || (errA != nil && errA.Error() != errB.Error()) {
		t.Fatalf("%s: ibsim: %v, simulated: %v", where, errA, errB)
	}
	if errA == nil {
		if q.Attr == mad.AttrSwitchInfo {
			clear(a[:2])
			clear(b[:2])
		}
		if a != b {
			t.Fatalf("%s: %v %v %#x:\nibsim     %x\nsimulated %x", where, q.Method, q.Attr, q.Mod, a, b)
		}
	}
	return a, errA
}

// askAll compares all requests.
func (w *twins) askAll(t *testing.T) (asked int) {
	t.Helper()
	for node := range w.f.NumNodes() {
		path, err := w.routes.ToNode(node)
		if err != nil {
			continue
		}
		for _, q := range questions(w.f, node) {
			q.Path = path
			_, _ = w.ask(t, w.f.NodeName(node), q)
			asked++
		}
	}
	return asked
}

// TestAnswersAreIbsims compares all attributes of a real ibsim and the simulation of the same fabric.
func TestAnswersAreIbsims(t *testing.T) {
	testenv.ToolVersion(t, "ibsim", "0.10", "-h") // 0.12 announces another capability mask and other rates
	for _, spec := range []string{"fattree:2,8", "torus:3x3,2", "hypercube:3", "random:12,5,2,seed=7"} {
		t.Run(spec, func(t *testing.T) {
			w := newTwins(t, spec)
			t.Logf("%d answers", w.askAll(t))
		})
	}
}

// TestSetsAreIbsims writes the same random data to a real ibsim and to the simulation. It does not compare fields that
// ibsim does not keep, physical states, which it keeps at one end of a link only, and changes by a Set that it refuses.
func TestSetsAreIbsims(t *testing.T) {
	testenv.ToolVersion(t, "ibsim", "0.10", "-h") // 0.12 announces another capability mask and other rates
	w := newTwins(t, "torus:3x3,2")
	rnd := testenv.Rand(t)
	accepted := 0
	for range 3000 {
		node := fabric.NodeIndex(rnd.IntN(len(w.f.Nodes)))
		n := &w.f.Nodes[node]
		path, err := w.routes.ToNode(node)
		if err != nil {
			t.Fatal(err)
		}
		q := mad.Request{Path: path}
		get := func(attr mad.AttrID, mod uint32) {
			q.Method, q.Attr, q.Mod = mad.MethodGet, attr, mod
			if q.Data, err = w.ask(t, w.f.NodeName(node), q); err != nil {
				t.Fatal(err)
			}
			q.Method = mad.MethodSet
		}
		switch kind := rnd.IntN(4); {
		case kind == 0 && n.IsSwitch():
			get(mad.AttrSwitchInfo, 0)
			var info mad.SwitchInfo
			_ = info.UnmarshalBinary(q.Data[:])
			info.LinearFDBTop, info.LifeTimeValue = uint16(rnd.IntN(49000)), uint8(rnd.IntN(32))
			info.PortStateChange = rnd.IntN(2) == 0
			q.Data = mad.Data(&info)
		case kind == 1 && n.IsSwitch():
			get(mad.AttrLinearForwardingTable, uint32(rnd.IntN(767)))
			for i := range q.Data {
				q.Data[i] = uint8(rnd.IntN(int(n.NumPorts) + 2))
			}
		default:
			num := uint32(rnd.IntN(int(n.NumPorts) + 1))
			get(mad.AttrPortInfo, num)
			var info mad.PortInfo
			_ = info.UnmarshalBinary(q.Data[:])
			info.PhysState, info.PortState = mad.PhysNoChange, mad.PortNoChange
			if rnd.IntN(2) == 0 {
				info.LID, info.MasterSMLID = uint16(rnd.IntN(49000)), uint16(rnd.IntN(49000))
				info.LMC, info.HOQLife = uint8(rnd.IntN(8)), uint8(rnd.IntN(32))
				info.GIDPrefix = rnd.Uint64()
			} else {
				info.PortState = mad.PortState(rnd.IntN(5))
			}
			q.Data = mad.Data(&info)
		}
		if _, err := w.ask(t, w.f.NodeName(node), q); err == nil {
			accepted++
		}
	}
	t.Logf("%d of 3000 accepted, then %d answers", accepted, w.askAll(t))
}

// TestFramesAreIbsims compares whole packets. ibsim keeps a client's number in the transaction id and writes a port
// number before the return path.
func TestFramesAreIbsims(t *testing.T) {
	f := generate(t, "fattree:3,4")
	s := ibsimOf(t, f)
	real, err := ibsim.Dial(t.Context(), ibsim.Options{Name: s.Name})
	if err != nil {
		t.Fatal(err)
	}
	defer real.Close()
	ours, err := sim.New(f, sim.Options{}).Open(f.SMPort)
	if err != nil {
		t.Fatal(err)
	}
	defer ours.Close()
	routes := sweep.NewRoutes(f)
	for node := range f.NumNodes() {
		path, err := routes.ToNode(node)
		if err != nil {
			t.Fatal(err)
		}
		smp := mad.SMP{BaseVersion: 1, ClassVersion: 1, Method: mad.MethodGet, Attr: mad.AttrNodeInfo, TID: 0x1234}
		smp.SetPath(path)
		request := mad.Frame{DLID: mad.PermissiveLID}
		smp.Put(&request.Data)
		var a, b mad.Frame
		for _, end := range []struct {
			mad.Transport
			f *mad.Frame
		}{{real, &a}, {ours, &b}} {
			sent := request
			if err := end.Send(&sent); err != nil {
				t.Fatal(err)
			}
			if err := end.Recv(end.f); err != nil {
				t.Fatal(err)
			}
		}
		const offTID, offReturnPath = 8, 192
		clear(a.Data[offTID : offTID+4])
		a.Data[offReturnPath] = 0
		if a.Data != b.Data {
			t.Errorf("%s by %v:\nibsim     %x\nsimulated %x", f.NodeName(node), path, a.Data, b.Data)
		}
	}
}
