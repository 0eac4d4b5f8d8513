// SPDX-License-Identifier: Apache-2.0

package ibdiagnet

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/internal/test/testenv"
)

// randomAdaptive returns enabled and disabled switches with and without groups, with sub-groups, empty groups, all
// states and private tables. Properties that far cannot express have the values that its reader assumes: all SLs are
// adaptive, and all packets use the first table.
func randomAdaptive(r *rand.Rand, f *fabric.Fabric, lft *fabric.LFT) *fabric.Adaptive {
	a := &fabric.Adaptive{Switches: make([]fabric.AdaptiveSwitch, len(f.Switches))}
	for i := range f.NumSwitches() {
		if i > 0 && r.IntN(4) == 0 {
			continue
		}
		s := &a.Switches[i]
		s.Enabled, s.FastReroute, s.SLs, s.HashSLs = r.IntN(3) > 0, r.IntN(2) == 0, 0xffff, 0xffff
		s.Groups = []fabric.PortGroup{nil}
		for range 1 + r.IntN(5) {
			var group fabric.PortGroup
			for range r.IntN(3) {
				var ports []uint8
				for p := uint8(1); p <= f.SwitchNode(i).NumPorts; p++ {
					if r.IntN(3) == 0 {
						ports = append(ports, p)
					}
				}
				group = append(group, ports)
			}
			s.Groups = append(s.Groups, group)
		}
		if s.Groups[len(s.Groups)-1] == nil { // a file cannot express an empty last group
			s.Groups[len(s.Groups)-1] = fabric.PortGroup{{1}}
		}
		entry := func() fabric.AdaptiveEntry {
			return fabric.NewAdaptiveEntry(fabric.AdaptiveState(r.IntN(4)), r.IntN(len(s.Groups)))
		}
		first := fabric.AdaptiveTable{Top: f.MaxLID, Entries: make([]fabric.AdaptiveEntry, f.MaxLID+1)}
		for lid := range first.Entries[1:] {
			first.Entries[1+lid] = entry()
		}
		s.Tables = []fabric.AdaptiveTable{first}
		for range r.IntN(3) {
			private := fabric.AdaptiveTable{Top: f.MaxLID}
			for lid := uint16(1); lid <= f.MaxLID; lid++ {
				e := fabric.PrivateEntry{LID: lid, Port: uint8(1 + r.IntN(int(f.SwitchNode(i).NumPorts))),
					Entry: entry()}
				if r.IntN(3) == 0 && (e.Port != lft.Port(i, lid) || e.Entry != first.Entries[lid]) {
					private.Private = append(private.Private, e)
				}
			}
			s.Tables = append(s.Tables, private)
		}
	}
	return a
}

// TestFarOfAdaptive checks that groups, states and private tables are unchanged after writing and reading far.
func TestFarOfAdaptive(t *testing.T) {
	r := testenv.Rand(t)
	for range testenv.Count(t, 30, 1000) {
		f, err := gen.ParseSpec([]string{"fattree:2,4", "torus:3x3", "random:5,4,8"}[r.IntN(3)])
		if err != nil {
			t.Fatal(err)
		}
		if f, err = fabric.AssignLIDs(f); err != nil {
			t.Fatal(err)
		}
		lft := fabric.NewLFT(len(f.Switches), f.MaxLID)
		for s := range f.NumSwitches() {
			for lid := 1; lid <= int(f.MaxLID); lid++ {
				lft.Row(s)[lid] = uint8(r.IntN(int(f.SwitchNode(s).NumPorts) + 1))
				if r.IntN(5) == 0 {
					lft.Row(s)[lid] = fabric.NoPath
				}
			}
		}
		tables := fabric.NewTables(f, lft, "test")
		tables.Adaptive = randomAdaptive(r, f, lft)
		var b bytes.Buffer
		if err := WriteFar(&b, FarOf(tables), time.Time{}); err != nil {
			t.Fatal(err)
		}
		far, err := ReadFar(t.Context(), &b, "far", nil)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(tables.Adaptive, far.Adaptive(f)); d != "" {
			t.Fatalf("groups: %s", d)
		}
		for i := range far.Switches {
			s := &far.Switches[i]
			sw := f.SwitchByGUID(s.GUID)
			for lid := uint16(1); lid <= f.MaxLID; lid++ {
				if port := s.Table(0).Port(lid); port != lft.Port(sw, lid) {
					t.Fatalf("switch %d, LID %d: port %d, want %d", sw, lid, port, lft.Port(sw, lid))
				}
			}
		}
	}
}

// TestAdaptive has every state, sub-groups, an empty group, a disabled switch and a private table. The results were
// worked out by hand from the grammar of far files.
func TestAdaptive(t *testing.T) {
	f, err := gen.ParseSpec("fattree:2,4")
	if err != nil {
		t.Fatal(err)
	}
	a, err := fabric.AssignLIDsWith(f, fabric.LIDOptions{})
	if err != nil {
		t.Fatal(err)
	}
	f = a.Fabric
	leaf, other := f.SwitchNode(0).GUID, f.SwitchNode(1).GUID
	text := fmt.Sprintf(`# a comment
File version: 1
Switch 0x%016x en: 1, fr_en: 1
Groups Definition:
Group  Sub Group  WHBF  Ports
-----------------------------
1      0          0     3,4,
2      1          0     4,
2      0          0     3,
3      0          0
LFT Definition:
PLFT_NUM: 0, top: 0x000e
LID    Static Port  Lid State  Group
------------------------------------
0x0001 3            Free       1
0x0002 4            Bounded    2
0x0003 3            HBF        3
0x0004 1            Static     0
PLFT_NUM: 1, top: 0x000e
LID    Static Port  Lid State  Group
------------------------------------
0x0001 4            Static     0
0x0002 4            Bounded    2
0x0003 3            HBF        3
0x0004 1            Static     0
Switch 0x%016x en: 0, fr_en: 0
Groups Definition:
Group  Sub Group  WHBF  Ports
-----------------------------
1      0          0     3,
LFT Definition:
PLFT_NUM: 0, top: 0x000e
LID    Static Port  Lid State  Group
------------------------------------
0x0001 3            Free       1
`, leaf, other)
	far, err := ReadFar(t.Context(), strings.NewReader(text), "far", nil)
	if err != nil {
		t.Fatal(err)
	}
	got := far.Adaptive(f)
	s := &got.Switches[0]
	if !s.Enabled || !s.FastReroute || fmt.Sprint(s.Groups) != "[[] [[3 4]] [[3] [4]] [[]]]" || len(s.Tables) != 2 {
		t.Fatalf("%+v", s)
	}
	for lid, want := range map[uint16]string{1: "free 1", 2: "bounded 2", 3: "hash 3", 4: "static 0", 5: "static 0"} {
		_, e := s.Entry(0, lid, 0)
		if is := fmt.Sprint(e.State(), " ", e.Group()); is != want {
			t.Errorf("LID %d: %s, want %s", lid, is, want)
		}
	}
	if p := s.Tables[1].Private; len(p) != 1 || p[0].LID != 1 || p[0].Port != 4 || p[0].Entry != 0 {
		t.Errorf("private: %+v", p)
	}
	if port, e := s.Entry(1, 1, 3); port != 4 || e.State() != fabric.StateStatic {
		t.Errorf("LID 1 by table 1: port %d, %v", port, e.State())
	}
	if got.Switches[1].Enabled || len(got.Switches[2].Tables) != 0 {
		t.Errorf("%+v, %+v", got.Switches[1], got.Switches[2])
	}
}
