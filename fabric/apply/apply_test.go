// SPDX-License-Identifier: Apache-2.0

package apply_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/apply"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/fabric/sim"
	"example.org/ibconsole/fabric/sweep"
	"example.org/ibconsole/fabric/write"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/engines/minhop"
)

func generate(t testing.TB, spec string) *fabric.Fabric {
	t.Helper()
	f, err := gen.ParseSpec(spec)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func client(t testing.TB, transport mad.Transport, opts mad.ClientOptions) *mad.Client {
	t.Helper()
	c, err := mad.NewClient(transport, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func open(t testing.TB, s *sim.Sim, port fabric.PortIndex) *sim.Conn {
	t.Helper()
	conn, err := s.Open(port)
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

func full(t testing.TB, c *mad.Client) *sweep.Result {
	t.Helper()
	res, err := sweep.Full(context.Background(), c, sweep.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Unanswered)+len(res.Warnings) > 0 {
		t.Fatalf("unanswered %v, warnings %v", res.Unanswered, res.Warnings)
	}
	return res
}

// route assigns LIDs to all ports and computes min-hop tables.
func route(t testing.TB, f *fabric.Fabric) *fabric.Tables {
	t.Helper()
	f, err := fabric.AssignLIDs(f)
	if err != nil {
		t.Fatal(err)
	}
	res, err := minhop.Engine{}.Route(context.Background(), f, routing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return res.Tables
}

// changes returns the writes that give a live subnet the LIDs and tables of want, with all links up.
func changes(live, want *fabric.Tables) *write.List {
	var w write.List
	f := want.Fabric
	for _, e := range f.EndPorts {
		p, now := &f.Ports[e], &live.Fabric.Ports[e]
		if p.LID != now.LID || p.SMLID != now.SMLID || p.LMC != now.LMC {
			w.LIDs = append(w.LIDs, write.LID{Port: e, New: p.LID, NewSM: p.SMLID, NewLMC: p.LMC})
		}
	}
	for sw := range f.NumSwitches() {
		if live.Top[sw] != want.Top[sw] {
			w.Tops = append(w.Tops, write.Top{Switch: sw, New: want.Top[sw]})
		}
	}
	for num := range want.LFT.Blocks() {
		for sw := range f.NumSwitches() {
			b := write.Block{Switch: sw, Num: uint16(num), New: (*[64]uint8)(want.LFT.Block(sw, num))}
			if num > int(live.Top[sw])/fabric.BlockSize || *b.New != [64]uint8(live.LFT.Block(sw, num)) {
				w.Blocks = append(w.Blocks, b)
			}
		}
	}
	for i := range f.NumPorts() {
		p := &f.Ports[i]
		if p.Linked() && p.State < mad.PortActive {
			w.States = append(w.States, write.State{Port: i, New: mad.PortActive})
		}
	}
	return &w
}

func sameTables(t *testing.T, want, got *fabric.Tables) {
	t.Helper()
	f := got.Fabric
	for sw := range f.NumSwitches() {
		other := want.Fabric.SwitchByGUID(f.SwitchNode(sw).GUID)
		if got.Top[sw] != want.Top[other] {
			t.Errorf("%s: top %d, want %d", f.NodeName(f.Switches[sw]), got.Top[sw], want.Top[other])
		}
		for lid := range want.Top[other] + 1 {
			if p, q := got.Port(sw, lid), want.Port(other, lid); p != q {
				t.Fatalf("%s: LID %d by port %d, want %d", f.NodeName(f.Switches[sw]), lid, p, q)
			}
		}
	}
}

func TestApplyToSimulation(t *testing.T) {
	for _, spec := range []string{"fattree:3,8", "torus:6x5,3", "dragonfly:4,2,2"} {
		t.Run(spec, func(t *testing.T) {
			f := generate(t, spec)
			c := client(t, open(t, sim.New(f, sim.Options{}), f.SMPort), mad.ClientOptions{Window: 64})
			live := full(t, c)
			want := route(t, live.Fabric)
			w := changes(live.Tables, want)
			rep, err := apply.Apply(t.Context(), c, live.Fabric, w, apply.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if rep.Written.Total() != w.Len() || rep.ReadBack.Total() != w.Len() || rep.Left.Len() != 0 {
				t.Errorf("written %v, read back %v of %d, left %d", rep.Written, rep.ReadBack, w.Len(), rep.Left.Len())
			}
			after := full(t, c)
			sameTables(t, want, after.Tables)
			if more := changes(after.Tables, route(t, after.Fabric)); more.Len() != 0 {
				t.Errorf("%d writes still to do: %+v", more.Len(), more)
			}
		})
	}
}

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

// TestNothingIsSentAfterAPanic checks that outstanding requests are not repeated.
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
	time.Sleep(300 * time.Millisecond) // several timeouts
	if now := p.sets.Load(); now != sent {
		t.Errorf("%d Sets were sent after the panic", now-sent)
	}
}

// TestPhasesAreReported checks that phases are reported in the order of the steps, and that finally everything is
// written and read back.
func TestPhasesAreReported(t *testing.T) {
	n := newSubnet(t, "torus:4x3,2")
	var reports []apply.Progress
	if _, err := apply.Apply(t.Context(), n.client(t, nil), n.live.Fabric, n.w,
		apply.Options{Writing: func(p apply.Progress) {
			reports = append(reports, p)
		}}); err != nil {
		t.Fatal(err)
	}
	var names []string
	for i, p := range reports {
		if i == 0 || p.Phase != reports[i-1].Phase {
			names = append(names, p.CurrentPhase())
		}
		if p.Done > p.Total || p.All != n.w.Len() {
			t.Errorf("%+v", p)
		}
	}
	// The phases of a subnet that was never routed.
	want := []string{"LIDs", "ports", "raised LinearFDBTops", "step 1 of 1", "read back", ""}
	last := reports[len(reports)-1]
	if !slices.Equal(names, want) || !slices.Equal(last.Phases, want[:5]) || last.Written.Total() != n.w.Len() ||
		last.ReadBack.Total() != n.w.Len() {
		t.Errorf("%q, finally %+v", names, last)
	}
}
