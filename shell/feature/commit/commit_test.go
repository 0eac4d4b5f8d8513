// SPDX-License-Identifier: Apache-2.0

package commit

import (
	"fmt"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/routing/changes/diff"
	"example.org/ibconsole/routing/changes/plan"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/session/commits"
)

// rows returns tables of so many LIDs in which every entry is port 1.
func rows(f *fabric.Fabric, maxLID uint16) *fabric.Tables {
	lft := fabric.NewLFT(len(f.Switches), maxLID)
	for s := range f.NumSwitches() {
		for lid := uint16(1); lid <= maxLID; lid++ {
			lft.Row(s)[lid] = 1
		}
	}
	return fabric.NewTables(f, lft, "rows")
}

// TestPlanText compares the text of plans with text that was written by hand.
func TestPlanText(t *testing.T) {
	f, err := gen.ParseSpec("random:2,1,4")
	if err != nil {
		t.Fatal(err)
	}
	if f, err = fabric.AssignLIDs(f); err != nil {
		t.Fatal(err)
	}
	f = f.Activated()
	check := func(p *plan.Plan, want string) {
		t.Helper()
		rep := &commits.Report{Plan: p}
		x := &Change{Report: rep, live: f, texts: planTexts(rep)}
		var got strings.Builder
		if err := planDecl.Answer(x.basis(answer.Basis{}), x).Text(&got); err != nil {
			t.Fatal(err)
		}
		if got.String() != "commit\n"+want {
			t.Errorf("got\n%swant\n%s", got.String(), want)
		}
	}
	made := func(live, staged *fabric.Tables) *plan.Plan {
		t.Helper()
		p, err := plan.Make(t.Context(), live, staged)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	live, staged := rows(f, 199), rows(f, 199)
	check(made(live, staged), "nothing to write\n")
	staged.LFT.Row(0)[5], staged.LFT.Row(0)[70], staged.Top[1] = 9, 9, 198
	check(made(live, staged), "LinearFDBTop     on 1 switch\nLFT blocks       2 on 2 switches, 3 changed entries, in "+
		"1 step, no pair is interrupted\n"+
		"in this order    LFT blocks of step 1 (2); LinearFDBTops lowered (1)\n")
	live.Known[1] = false
	staged.LFT.Row(0)[70] = 1
	check(made(live, staged), "LFT blocks       1 on 1 switch, 1 changed entry, in 1 step, no pair is interrupted\n"+
		"not read         1 node: no response when the tables were read, not written\n  sw-02\n")
	end := func(i int) diff.Port { return diff.Port{GUID: diff.GUID(f.Ports[f.EndPorts[i]].GUID)} }
	p := made(rows(f, 199), rows(f, 199))
	p.Hit = plan.Hit{
		Moved: 3, Down: 1, Unknown: 2, Groups: []uint16{0xc001}, Examples: []diff.Pair{{Src: end(0), Dst: end(1)}},
	}
	p.Warnings = []string{"links are missing"}
	check(p, "  warning: links are missing\nnothing to write\nINTERRUPTED      1 multicast group whose members lose "+
		"packets while its tree changes: 0xc001\n"+
		"PAIRS UNKNOWN    2 whose new path takes switches whose tables were not read\nINTERRUPTED      pairs that "+
		"lose packets: 3 to ports that lose a LID, 1 whose new path takes links that are down\n"+
		fmt.Sprintf("  %s -> %s\n  and 3 more\n", f.PortName(f.EndPorts[0]), f.PortName(f.EndPorts[1])))
	live.LFT.Row(1)[7] = 9
	live.Known[1] = true
	lost := &commits.Report{Plan: made(live, rows(f, 199)), Lost: 56, LIDsLeft: 14, PortsLeft: 20}
	x := &Change{Report: lost, live: f, texts: planTexts(lost)}
	x.addTexts("", "")
	for id, want := range map[string]string{
		"PAIRS LOST":   "56 that are connected now have no path in the new routes",
		"LFT blocks":   "pairs that keep a path are not interrupted",
		"not put back": "14 LIDs and 20 port states: ports keep their LIDs and stay active",
	} {
		if !strings.Contains(x.texts[id], want) {
			t.Errorf("%s: %q, want %q", id, x.texts[id], want)
		}
	}
}
