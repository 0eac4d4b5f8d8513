// SPDX-License-Identifier: Apache-2.0

package ibdiagnet

import (
	"fmt"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen"
)

// TestAdaptive: every state, sub-groups, an empty group, a switch that is off, and a private table, by the grammar of
// far files; what each comes to was worked out by hand.
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
