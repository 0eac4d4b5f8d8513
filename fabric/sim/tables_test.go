// SPDX-License-Identifier: Apache-2.0

package sim_test

import (
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/sim"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
)

// TestLoadedTables checks that nodes answer with their initial SL2VL and MFT, and that a write changes only one block.
func TestLoadedTables(t *testing.T) {
	f := generate(t, "fattree:2,36")
	rnd := testenv.Rand(t)
	tables := fabric.NewTables(f, fabric.NewLFT(len(f.Switches), 10), "")
	tables.SL2VL = fabric.NewSL2VL(f)
	for range 400 {
		n := fabric.NodeIndex(rnd.IntN(len(f.Nodes)))
		ports := int(f.Nodes[n].NumPorts) + 1
		vls := fabric.VLs{uint8(rnd.IntN(16)), 5, uint8(rnd.IntN(16)), 15: 8}
		tables.SL2VL.Set(n, uint8(rnd.IntN(ports)), uint8(rnd.IntN(ports)), vls)
	}
	const top = fabric.FirstMLID + 1999 // more than ibsim has
	tables.MFT = fabric.NewMFT(f, top)
	for sw := range f.NumSwitches() {
		for range 3000 {
			tables.MFT.Add(sw, uint16(fabric.FirstMLID+rnd.IntN(2000)), uint8(rnd.IntN(37)))
		}
	}
	s := sim.New(f, sim.Options{Tables: tables, SendBack: true})
	port := f.Nodes[f.Switches[0]].FirstPort
	c := dial(t, s, port, once)
	info, err := mad.Get[mad.SwitchInfo](t.Context(), c, mad.Path{}, 0)
	if err != nil || info.MulticastFDBTop != top || info.MulticastFDBCap != 2016 {
		t.Errorf("top %#x, capacity %d (%v); want %#x, 2016", info.MulticastFDBTop, info.MulticastFDBCap, err, top)
	}
	for in := range uint8(37) {
		for out := range uint8(37) {
			got, err := mad.Get[mad.SLToVLTable](t.Context(), c, mad.Path{}, mad.SLToVLMod(in, out))
			if want := tables.SL2VL.VLs(f.Switches[0], in, out); err != nil || got.VL != want {
				t.Fatalf("SL2VL %d to %d: %v (%v), want %v", in, out, got.VL, err, want)
			}
		}
	}
	host := f.Ports[f.SMPort]
	hc := dial(t, s, f.SMPort, once)
	sl2vl, err := mad.Get[mad.SLToVLTable](t.Context(), hc, mad.Path{}, 0)
	if want := tables.SL2VL.VLs(host.Node, 0, host.Num); err != nil || sl2vl.VL != want {
		t.Errorf("SL2VL of an adapter: %v (%v), want %v", sl2vl.VL, err, want)
	}
	written := mad.MulticastForwardingTable{3: 0x8001}
	if _, err := mad.Set(t.Context(), c, mad.Path{}, mad.MulticastMod(1, 1), written); err != nil {
		t.Fatal(err)
	}
	for block := range uint16(63) {
		for position := range uint8(3) {
			got, err := mad.Get[mad.MulticastForwardingTable](t.Context(), c, mad.Path{},
				mad.MulticastMod(block, position))
			if err != nil {
				t.Fatal(err)
			}
			if block == 1 && position == 1 {
				if got != written {
					t.Errorf("written %v, read %v", written, got)
				}
				continue
			}
			for i, mask := range got {
				for bit := range uint8(16) {
					mlid, p := uint16(fabric.FirstMLID+int(block)*32+i), position*16+bit
					if want := p < 37 && tables.MFT.Has(0, mlid, p); (mask>>bit&1 != 0) != want {
						t.Fatalf("MLID %#x port %d: %v, want %v", mlid, p, !want, want)
					}
				}
			}
		}
	}
}

// TestFirstGUID checks that the first GUID of a port cannot be written (IBA 1.2.1, 14.2.5.5).
func TestFirstGUID(t *testing.T) {
	f := chain(t)
	c := dial(t, sim.New(f, sim.Options{SendBack: true}), f.SMPort, once)
	req := mad.Request{
		Method: mad.MethodSet, Attr: mad.AttrGUIDInfo, Path: path(t, 1, 2, 2), Data: [mad.DataSize]byte{7: 1, 15: 2},
	}
	want := [mad.DataSize]byte{7: 0x42, 15: 2}
	for _, req.Method = range []mad.Method{mad.MethodSet, mad.MethodGet} {
		if got, err := c.Do(t.Context(), &req); err != nil || got != want {
			t.Errorf("%v: %x (%v), want %x", req.Method, got, err, want)
		}
	}
}
