// SPDX-License-Identifier: Apache-2.0

package credits

import (
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/routing/checks/trees/treestest"
)

// mapped gives all ports of switches one SL2VL table.
func mapped(f *fabric.Fabric, table func(node fabric.NodeIndex, in, out uint8) fabric.VLs) *fabric.SL2VL {
	vls := fabric.NewSL2VL(f)
	for _, n := range f.Switches {
		for in := range f.Nodes[n].NumPorts + 1 {
			for out := range f.Nodes[n].NumPorts + 1 {
				vls.Set(n, in, out, table(n, in, out))
			}
		}
	}
	return vls
}

var (
	identity = fabric.VLs{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 7}
	all3     = fabric.VLs{3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3}
	not15    = fabric.VLs{3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 15}
)

// TestVerdictOfUnreadTables checks minhop on a ring of five, which waits for itself if all packets share a VL.
// Calculated by hand: 10 channels, all on two rings of 5.
func TestVerdictOfUnreadTables(t *testing.T) {
	every := func(vls fabric.VLs) func(f *fabric.Fabric) *fabric.SL2VL {
		return func(f *fabric.Fabric) *fabric.SL2VL {
			return mapped(f, func(fabric.NodeIndex, uint8, uint8) fabric.VLs { return vls })
		}
	}
	const ring = "torus:5x1"
	for name, tc := range map[string]struct {
		spec   string
		unread fabric.Unread
		vls    func(f *fabric.Fabric) *fabric.SL2VL
		oper   uint8
		want   Verdict
	}{
		"everything read":             {ring, fabric.Unread{}, nil, 4, Loop},
		"nothing is":                  {ring, fabric.Unread{SLs: true, SL2VL: true}, nil, 4, Unknown},
		"nothing read":                {ring, fabric.Unread{SLs: true, SL2VL: true}, nil, 0, Unknown},
		"SLs read":                    {ring, fabric.Unread{SL2VL: true}, nil, 4, Unknown},
		"one VL operates":             {ring, fabric.Unread{SLs: true, SL2VL: true}, nil, 1, Loop},
		"one VL operates, SL2VL read": {ring, fabric.Unread{SLs: true}, every(identity), 1, Loop},
		"a VL for each SL":            {ring, fabric.Unread{SLs: true}, every(identity), 4, Unknown},
		"all SLs on one VL":           {ring, fabric.Unread{SLs: true}, every(all3), 4, Loop},
		"an SL is dropped":            {ring, fabric.Unread{SLs: true}, every(not15), 4, Unknown},
		"a VL for each SL on the first hop": {ring, fabric.Unread{SLs: true}, func(f *fabric.Fabric) *fabric.SL2VL {
			return mapped(f, func(node fabric.NodeIndex, in, _ uint8) fabric.VLs {
				if port := f.Port(node, in); in > 0 && f.PeerSwitch(port) != fabric.None {
					return all3
				}
				return identity
			})
		}, 4, Unknown}, // paths of two links, on VLs of their own first: no dependency is certain
		"a tree":          {"fattree:2,4", fabric.Unread{SLs: true, SL2VL: true}, nil, 4, None},
		"a tree with VLs": {"fattree:2,4", fabric.Unread{SLs: true}, every(identity), 4, None},
	} {
		tb := treestest.Routed(t, tc.spec)
		if tb.Unread = tc.unread; tc.vls != nil {
			tb.SL2VL = tc.vls(tb.Fabric)
		}
		for i := range tb.Fabric.Ports {
			tb.Fabric.Ports[i].OperVLs = tc.oper
		}
		r, err := Check(t.Context(), tb, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Verdict != tc.want || (r.Ring != nil) != (tc.want == Loop) || r.Unread != tc.unread {
			t.Errorf("%s: %v with %d links, unread %v; want %v", name, r.Verdict, len(r.Ring), r.Unread, tc.want)
		}
		if tc.spec == ring && (r.Channels != 10 || r.Ring != nil && (len(r.Ring) != 5 || r.Ring[0].LID == 0)) {
			t.Errorf("%s: %d channels, ring %v", name, r.Channels, r.Ring)
		}
	}
}

// TestVerdictOfPartialTables checks that a switch with an unread table makes the verdict unknown unless there is a ring
// elsewhere. A ring of five has no other ring, a torus has.
func TestVerdictOfPartialTables(t *testing.T) {
	for spec, want := range map[string]Verdict{"fattree:2,4": Unknown, "torus:5x1": Unknown, "torus:6x5": Loop} {
		tb := treestest.Routed(t, spec)
		tb.Known[0] = false
		fabric.FillNoPath(tb.LFT.Row(0))
		if got := checked(t, tb); got != want {
			t.Errorf("%s: %v, want %v", spec, got, want)
		}
	}
}

// TestVerdictHoldsForAllLevels compares the verdict without SLs with the results for random ones.
func TestVerdictHoldsForAllLevels(t *testing.T) {
	r := testenv.Rand(t)
	said := map[Verdict]int{}
	for range testenv.Count(t, 200, 5000) {
		tb := treestest.Routed(t, []string{"torus:5x1", "torus:4x3", "fattree:2,4", "random:6,4,8"}[r.IntN(4)])
		kinds := []fabric.VLs{all3, all3, all3, identity, not15}[r.IntN(3):]
		tb.SL2VL = mapped(tb.Fabric, func(fabric.NodeIndex, uint8, uint8) fabric.VLs {
			return kinds[r.IntN(len(kinds))]
		})
		if r.IntN(2) == 0 {
			tb.SL2VL = mapped(tb.Fabric, func(fabric.NodeIndex, uint8, uint8) fabric.VLs { return kinds[0] })
		}
		tb.Unread = fabric.Unread{SLs: true}
		without := checked(t, tb)
		said[without]++
		for range 3 {
			tb.Unread, tb.SLs = fabric.Unread{}, randomSLs{r.Uint64(), 1 + r.Uint64N(16)}
			if with := checked(t, tb); without != Unknown && with != without {
				t.Fatalf("%v without the SLs, %v with %v", without, with, tb.SLs)
			}
		}
	}
	if len(said) != 3 {
		t.Errorf("verdicts %v", said)
	}
}

func checked(t *testing.T, tb *fabric.Tables) Verdict {
	t.Helper()
	r, err := Check(t.Context(), tb, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r.Verdict
}
