// SPDX-License-Identifier: Apache-2.0

package apply_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/apply"
	"example.org/ibconsole/fabric/sim"
	"example.org/ibconsole/fabric/sweep"
	"example.org/ibconsole/fabric/write"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
)

// someTables returns writes of random SL-to-VL tables for some pairs of linked ports and of random multicast tables.
func someTables(rnd *rand.Rand, f *fabric.Fabric, mlids int) *write.List {
	w := &write.List{}
	for i := range f.NumNodes() {
		n := &f.Nodes[i]
		for out := uint8(1); out <= n.NumPorts; out++ {
			port := f.Port(i, out)
			if !f.Ports[port].Linked() || mad.CapabilityMask(f.Ports[f.EndPortOf(port)].CapMask)&mad.CapSLMapping ==
				0 || rnd.IntN(3) > 0 {
				continue
			}
			l := write.SL2VL{Node: i, Out: out, Step: min(1, len(w.SL2VLs)/21)}
			if n.IsSwitch() {
				l.In = uint8(rnd.IntN(int(n.NumPorts) + 1))
				for l.In > 0 && !f.Ports[f.Port(i, l.In)].Linked() {
					l.In--
				}
			}
			for sl := range l.New {
				l.New[sl] = uint8(rnd.IntN(16))
			}
			w.SL2VLs = append(w.SL2VLs, l)
		}
	}
	for sw := range f.NumSwitches() {
		for num := range (mlids + 31) / 32 {
			for pos := range f.SwitchNode(sw).NumPorts/16 + 1 {
				b := write.MFTBlock{Switch: sw, Num: uint16(num), Position: pos, New: new(mad.MulticastForwardingTable)}
				for i := range min(32, mlids-32*num) {
					for bit := range 16 {
						if int(pos)*16+bit <= int(f.SwitchNode(sw).NumPorts) && rnd.IntN(4) == 0 {
							b.New[i] |= 1 << bit
						}
					}
				}
				w.MFTs = append(w.MFTs, b)
			}
		}
	}
	return w
}

// compareTables reads all tables and compares them with the written ones.
func compareTables(t *testing.T, c *mad.Client, w *write.List) {
	t.Helper()
	res, err := sweep.Full(t.Context(), c, sweep.Options{SL2VL: true, MFT: true})
	if err != nil || len(res.Unanswered) > 0 {
		t.Fatal(err, res.Unanswered)
	}
	for _, l := range w.SL2VLs {
		if got := res.Tables.SL2VL.VLs(l.Node, l.In, l.Out); got != l.New {
			t.Errorf("%s from %d to %d: %v, want %v", res.Fabric.NodeName(l.Node), l.In, l.Out, got, l.New)
		}
	}
	for _, b := range w.MFTs {
		for i, ports := range b.New {
			for bit := range uint8(16) {
				if got := res.Tables.MFT.Has(b.Switch, fabric.FirstMLID+b.Num*32+uint16(i), b.Position*16+bit); got !=
					(ports>>bit&1 != 0) {
					t.Fatalf("switch %d, multicast LID %d of block %d, port %d: %v", b.Switch, i, b.Num,
						b.Position*16+bit, got)
				}
			}
		}
	}
}

// TestSL2VLAndMulticastIbsim writes SL-to-VL and multicast tables to a real ibsim and reads them back.
func TestSL2VLAndMulticastIbsim(t *testing.T) {
	rnd := testenv.Rand(t)
	s := ibsimOf(t, generate(t, "fattree:2,8"))
	f := bringUp(t, s).Fabric
	c := dialIbsim(t, s)
	w := someTables(rnd, f, 70)
	rep, err := apply.Apply(t.Context(), c, f, w, apply.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if rep.Written.SL2VLs != len(w.SL2VLs) || rep.Written.MFTs != len(w.MFTs) || rep.ReadBack != rep.Written ||
		len(w.SL2VLs) == 0 {
		t.Errorf("%v written of %d and %d, %v read back", rep.Written, len(w.SL2VLs), len(w.MFTs), rep.ReadBack)
	}
	compareTables(t, c, w)
}

// TestMulticastTopIsRaised checks that entries above a MulticastFDBTop raise it, and that entries above the capacity of
// a switch are refused before any tree grows.
func TestMulticastTopIsRaised(t *testing.T) {
	rnd := testenv.Rand(t)
	f := route(t, generate(t, "fattree:2,8")).Fabric
	tables := *route(t, f)
	tables.MFT = fabric.NewMFT(f, fabric.FirstMLID+3)
	c := client(t, open(t, sim.New(f, sim.Options{Tables: &tables, Active: true}), f.SMPort), mad.ClientOptions{})
	live := full(t, c).Fabric
	w := someTables(rnd, live, 100)
	for i := range w.MFTs {
		w.MFTs[i].Grow = true
	}
	if _, err := apply.Apply(t.Context(), c, live, w, apply.Options{}); err != nil {
		t.Fatal(err)
	}
	compareTables(t, c, w)
	far := &write.List{MFTs: []write.MFTBlock{{Switch: 1, Num: 32, Grow: true, New: &mad.MulticastForwardingTable{2}}}}
	rep, err := apply.Apply(t.Context(), c, live, far, apply.Options{})
	if err == nil || !strings.Contains(err.Error(), "capacity of 1024 multicast LIDs") ||
		rep.Stopped != "multicast branches to add" || rep.Written.Total() != 0 {
		t.Errorf("%v, %+v", err, rep)
	}
}

func TestUnfitTables(t *testing.T) {
	f := route(t, generate(t, "fattree:2,8")).Fabric
	c := client(t, open(t, sim.New(f, sim.Options{Active: true}), f.SMPort), mad.ClientOptions{})
	leaf := f.NodesByDescription("leaf-01")[0]
	for _, w := range []write.List{
		{SL2VLs: []write.SL2VL{{Node: leaf, In: 1, Out: 9}}},
		{SL2VLs: []write.SL2VL{{Node: leaf, In: 1, Out: 0}}},
		{SL2VLs: []write.SL2VL{{Node: fabric.NodeIndex(len(f.Nodes)), In: 1, Out: 1}}},
		{SL2VLs: []write.SL2VL{{Node: leaf, In: 1, Out: 1, New: fabric.VLs{16}}}},
		{SL2VLs: []write.SL2VL{{Node: leaf, In: 1, Out: 1, Step: 1}, {Node: leaf, In: 1, Out: 2}}},
		{MFTs: []write.MFTBlock{{Switch: 99}}},
		{MFTs: []write.MFTBlock{{Position: 1}}},
		{MFTs: []write.MFTBlock{{Num: 512}}},
		{MFTs: []write.MFTBlock{{Grow: true}, {}}},
	} {
		if _, err := apply.Apply(t.Context(), c, f, &w, apply.Options{}); !errors.Is(err, write.ErrUnfit) {
			t.Errorf("%+v: %v", w, err)
		}
	}
}
