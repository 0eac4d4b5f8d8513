// SPDX-License-Identifier: Apache-2.0

package classify

import (
	"fmt"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen/gentest"
)

// cagesOf returns the cages as text: "leaf-01-03: leaf-01-03 leaf-02-03 ...".
func cagesOf(s *Structure) (all []string) {
	for _, c := range s.Cages {
		var planes []string
		for _, sw := range c.Planes {
			planes = append(planes, s.Fabric.SwitchNode(sw).Desc)
		}
		all = append(all, c.Name+": "+strings.Join(planes, " "))
	}
	return all
}

// TestCages checks that the leaves of one number are a cage, and the spines, as the generator makes them.
func TestCages(t *testing.T) {
	f := gentest.Fabric(t, "multiplane:4,3,2,cages=1")
	s := Recognise(f, nil)
	got := strings.Join(cagesOf(s), "; ")
	var all []string
	for _, row := range []struct {
		name string
		size int
	}{{"leaf", 3}, {"spine", 2}} {
		for i := range row.size {
			name := func(plane int) string { return fmt.Sprintf("%s-%02d-%02d", row.name, plane, i+1) }
			all = append(all, fmt.Sprintf("%s: %s %s %s %s", name(1), name(1), name(2), name(3), name(4)))
		}
	}
	if want := strings.Join(all, "; "); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if s.Title() != "fat-tree of 3 tiers, 4 planes, 4 rails" || len(s.Anomalies) > 0 {
		t.Errorf("%s, anomalies %v", s.Title(), s.Anomalies)
	}
	for _, spec := range []string{
		"multiplane:4,3,2", "multiplane:3,3,2,cages=1", "director:2,2", "director:4,2,directors=2,leaves=6,hosts=3",
	} {
		if s := Recognise(gentest.Fabric(t, spec), nil); s.Cages != nil {
			t.Errorf("%s: %v", spec, cagesOf(s))
		}
	}
}

// TestLostPlane checks that a cage that has lost a switch is reported, both after a failure and in a new recognition.
func TestLostPlane(t *testing.T) {
	f := gentest.Fabric(t, "multiplane:4,3,2,cages=1")
	without := func(name string) *fabric.Fabric {
		var links []fabric.Link
		for _, l := range f.Links() {
			if f.Nodes[f.Ports[l.A].Node].Desc == name || f.Nodes[f.Ports[l.B].Node].Desc == name {
				links = append(links, l)
			}
		}
		return f.Without(links)
	}
	lost := without("leaf-03-02")
	for how, s := range map[string]*Structure{
		"after": Recognise(f, nil).After(lost), "recognised": Recognise(lost, nil),
	} {
		var found []string
		for _, o := range s.Anomalies {
			if strings.Contains(o.What, "planes") {
				found = append(found, s.Fabric.NodeName(o.Node)+" "+o.What)
			}
		}
		if got := strings.Join(found, "; "); len(s.Cages) != 5 || got != "leaf-01-02 a switch of 4 planes of which 3 "+
			"are linked" {
			t.Errorf("%s: %d cages, odd: %s", how, len(s.Cages), got)
		}
	}
}
