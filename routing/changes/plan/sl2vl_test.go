// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/routing/checks/trees/treestest"
)

// someSL2VL maps the SLs of random ports to random VLs, some of them to VL 15. The ports of the fabric must support
// SL2VL tables.
func someSL2VL(rnd *rand.Rand, f *fabric.Fabric) *fabric.SL2VL {
	t := fabric.NewSL2VL(f)
	for i := range f.NumNodes() {
		n := &f.Nodes[i]
		ins := uint8(0)
		if n.IsSwitch() {
			ins = n.NumPorts
		}
		for in := range ins + 1 {
			for out := range n.NumPorts {
				if rnd.IntN(4) == 0 {
					continue
				}
				var vls fabric.VLs
				for sl := range vls {
					if vls[sl] = uint8(rnd.IntN(8)); rnd.IntN(6) == 0 {
						vls[sl] = 15
					}
				}
				t.Set(i, in, out+1, vls)
			}
		}
	}
	return t
}

// TestSL2VLsDropNothingMeanwhile carries out random changes of SL2VL tables. While they change, no SL is dropped that
// passes before or after, and the result is what was staged.
func TestSL2VLsDropNothingMeanwhile(t *testing.T) {
	rnd := testenv.Rand(t)
	twice := 0
	for range testenv.Count(t, 20, 200) {
		f := treestest.Made(t, []string{"fattree:2,4", "torus:3x3 hosts=1", "random:4,2,6"}[rnd.IntN(3)]).Activated()
		for i := range f.Ports {
			f.Ports[i].CapMask |= uint32(mad.CapSLMapping)
		}
		live := *treestest.Minhop(t, f)
		staged := live
		live.SL2VL, staged.SL2VL = someSL2VL(rnd, f), someSL2VL(rnd, f)
		p := made(t, &live, &staged)
		late := rnd.IntN(2) == 0
		p.OrderSL2VLs(late)
		r := newReplay(t, &live)
		r.setSL2VL(p, false)
		during := r.sl2vl.Clone()
		r.setSL2VL(p, true)
		for i := range f.NumNodes() {
			for in := range f.Nodes[i].NumPorts + 1 {
				for out := uint8(1); out <= f.Nodes[i].NumPorts; out++ {
					if !f.Nodes[i].IsSwitch() && in > 0 || in > 0 && !f.Ports[f.Port(i, in)].Linked() ||
						!f.Ports[f.Port(i, out)].Linked() {
						continue // there is nothing to write
					}
					old, mid, end, want := live.SL2VL.VLs(i, in, out), during.VLs(i, in, out), r.sl2vl.VLs(i, in, out),
						staged.SL2VL.VLs(i, in, out)
					if end != want {
						t.Fatalf("%s from %d to %d: %v in the end, want %v", f.NodeName(i), in, out, end, want)
					}
					if mid != old && mid != end {
						twice++
					}
					for sl := range mid {
						if mid[sl] == 15 && (old[sl] != 15 || end[sl] != 15) || mid[sl] != old[sl] &&
							mid[sl] != end[sl] {
							t.Fatalf("SL %d changes from VL %d over %d to %d", sl, old[sl], mid[sl], end[sl])
						}
						if old[sl] != 15 && end[sl] != 15 && late && mid[sl] != old[sl] {
							t.Fatalf("SL %d changes early", sl)
						}
					}
				}
			}
		}
		back := made(t, r.tables(&live), &live)
		r.setSL2VL(back, false)
		r.setSL2VL(back, true)
		if again := made(t, r.tables(&live), &live); !again.Empty() {
			t.Fatalf("still to write after the way back: %+v", again.Totals())
		}
	}
	if twice == 0 {
		t.Error("no table was written twice")
	}
}

// TestUnreadSL2VLsAndGroups checks that tables are not written if the live ones were not read, and that VLs that a port
// does not operate are reported.
func TestUnreadSL2VLsAndGroups(t *testing.T) {
	f := treestest.Made(t, "fattree:2,4").Activated()
	for i := range f.Ports {
		f.Ports[i].CapMask |= uint32(mad.CapSLMapping)
		f.Ports[i].OperVLs = 2 // VL0 and VL1 (IBA 1.2.1, 14.2.5.6)
	}
	live := *treestest.Minhop(t, f)
	staged := live
	staged.SL2VL, staged.MFT = fabric.NewSL2VL(f), fabric.NewMFT(f, fabric.FirstMLID)
	p := made(t, &live, &staged)
	if !p.Empty() || len(p.Warnings) != 2 || !strings.Contains(p.Warnings[0], "sl2vl") ||
		!strings.Contains(p.Warnings[1], "mft") {
		t.Errorf("%+v, %q", p.Totals(), p.Warnings)
	}
	live.SL2VL, live.MFT = fabric.NewSL2VL(f), fabric.NewMFT(f, fabric.FirstMLID)
	leaf := f.NodesByDescription("leaf-01")[0]
	staged.SL2VL.Set(leaf, 1, 2, fabric.VLs{1, 1, 15})
	staged.SL2VL.Set(leaf, 2, 1, fabric.VLs{2})
	p = made(t, &live, &staged)
	if len(p.SL2VLs) != 3 || len(p.Warnings) != 1 || !strings.HasSuffix(p.Warnings[0], ": 1") { // one is written twice
		t.Errorf("%+v, %q", p.SL2VLs, p.Warnings)
	}
}
