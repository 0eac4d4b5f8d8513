// SPDX-License-Identifier: Apache-2.0

package problems_test

import (
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/fabric/problems"
	"example.org/ibconsole/mad"
)

// TestNotActiveNeedsStates checks that a port whose state was not read is not reported as a link without traffic.
func TestNotActiveNeedsStates(t *testing.T) {
	f, err := gen.ParseSpec("fattree:2,4")
	if err != nil {
		t.Fatal(err)
	}
	for i := range f.Ports {
		if f.Ports[i].Linked() {
			f.Ports[i].State = mad.PortActive
		}
	}
	links := f.Links()
	f.Ports[links[0].A].State, f.Ports[links[1].B].State = mad.PortNoChange, mad.PortNoChange
	f.Ports[links[2].B].State = mad.PortArmed
	var r problems.Report
	r.NotActive(f)
	if len(r.Problems) != 1 || r.Problems[0].At != problems.PlaceOfPort(f, links[2].A) {
		t.Errorf("found %+v", r.Problems)
	}
}

// TestWidthsOfTwoEnds checks that a link with different widths at its ends is reported at the narrower end.
func TestWidthsOfTwoEnds(t *testing.T) {
	for _, atB := range []bool{false, true} {
		f, err := gen.ParseSpec("fattree:2,4")
		if err != nil {
			t.Fatal(err)
		}
		for i := range f.Ports {
			f.Ports[i].Width, f.Ports[i].Speed = 4, fabric.EDR
		}
		l := f.Links()[3]
		narrow := l.A
		if atB {
			narrow = l.B
		}
		f.Ports[narrow].Width = 1
		var r problems.Report
		r.Links(f, nil)
		if len(r.Problems) != 1 || r.Problems[0].Kind != problems.Narrow ||
			r.Problems[0].At != problems.PlaceOfPort(f, narrow) {
			t.Errorf("at B %v: %+v", atB, r.Problems)
		}
	}
}

// TestNoLIDs checks that the end ports without a LID are one problem, which names them and their number.
func TestNoLIDs(t *testing.T) {
	f, err := gen.ParseSpec("fattree:2,4")
	if err != nil {
		t.Fatal(err)
	}
	if f, err = fabric.AssignLIDs(f); err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int]string{0: "", 1: " has no LID", 12: "12 end ports have no LID: "} {
		for i, e := range f.EndPorts {
			if f.Ports[e].LID = 0; i >= n {
				f.Ports[e].LID = uint16(i + 1)
			}
		}
		var r problems.Report
		r.NoLIDs(f)
		got := ""
		for _, p := range r.Problems {
			got += p.What + "\n"
		}
		if strings.Count(got, "\n") != min(n, 1) || !strings.Contains(got, want) {
			t.Errorf("%d ports: %q, expected %q", n, got, want)
		}
	}
}
