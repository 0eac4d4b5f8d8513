// SPDX-License-Identifier: Apache-2.0

package problems_test

import (
	"context"
	"slices"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/problems"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/adaptive"
	"example.org/ibconsole/routing/checks/trees/treestest"
	"example.org/ibconsole/routing/engines/updn"
)

// TestAdaptive inserts errors into correct groups and finds exactly these.
func TestAdaptive(t *testing.T) {
	res, err := updn.Engine{}.Route(context.Background(), treestest.Made(t, "fattree:2,8"), routing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f := res.Tables.Fabric
	leaf := f.Nodes[f.NodesByDescription("leaf-01")[0]].Switch
	uplink := f.PortAt(f.Switches[leaf], 5) // ports 5 to 8 lead to the spines
	for name, plant := range map[problems.Kind]func(*fabric.Tables, *fabric.AdaptiveSwitch) *fabric.Tables{
		"": func(t *fabric.Tables, _ *fabric.AdaptiveSwitch) *fabric.Tables { return t },
		problems.AdaptiveOff: func(t *fabric.Tables, s *fabric.AdaptiveSwitch) *fabric.Tables {
			s.Enabled = false
			return t
		},
		problems.DeadInGroup: func(t *fabric.Tables, _ *fabric.AdaptiveSwitch) *fabric.Tables {
			now := *t
			now.Fabric = t.Fabric.Without([]fabric.Link{{A: uplink, B: t.Fabric.Ports[uplink].Peer}})
			return &now
		},
		problems.StaticOutside: func(t *fabric.Tables, s *fabric.AdaptiveSwitch) *fabric.Tables {
			s.Groups[1] = fabric.PortGroup{slices.DeleteFunc(s.Ports(1), func(p uint8) bool { return p == 5 })}
			return t
		},
		problems.ThinGroup: func(t *fabric.Tables, s *fabric.AdaptiveSwitch) *fabric.Tables {
			now := *t
			now.LFT = t.LFT.Clone()
			for lid, p := range now.LFT.Row(leaf) {
				if p >= 5 && p <= 8 {
					now.LFT.Row(leaf)[lid] = 6 // so that it is in the group
				}
			}
			s.Groups[1] = fabric.PortGroup{{6}}
			return &now
		},
	} {
		tables, err := adaptive.Grouped(t.Context(), res.Tables, res.Hops, adaptive.Always)
		if err != nil {
			t.Fatal(err)
		}
		var r problems.Report
		r.Adaptive(plant(tables, &tables.Adaptive.Switches[leaf]))
		var found []problems.Kind
		for _, p := range r.Problems {
			if p.At.Name != "leaf-01" {
				t.Errorf("%q: %s: %s", name, p.At.Name, p.What)
			}
			found = append(found, p.Kind)
		}
		if name == "" && found != nil || name != "" && !slices.Equal(found, []problems.Kind{name}) {
			t.Errorf("planted %q, found %q", name, found)
		}
	}
}
