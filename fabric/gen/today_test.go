// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
)

// TestClusterKinds expects numbers of adapters, switches and links calculated by hand. railtree:64,rails=4 in units of
// 16 has 4 x 4 leaves, 256 adapters and 16 x 2 x 2 cables up. multiplane has 2 x 3 leaves and 2 x 2 spines of 12 hosts
// with two ports each. The two directors of 4 and 2 boards have 8 cables inside each and one to each of 6 leaves.
// dfplus has two cables for each of the 10 pairs of its 5 groups.
func TestClusterKinds(t *testing.T) {
	for spec, want := range map[string][4]int{
		"railtree:64,rails=4,unit=16,spines=2,links=2": {256, 18, 256 + 64, 0},
		"multiplane:2,3,2,hosts=4":                     {12, 11, 24 + 12 + 4, 0},
		"director:3,2,hosts=4":                         {12, 5, 12 + 6, 0},
		"director:4,2,directors=2,leaves=6,hosts=3":    {18, 18, 18 + 12 + 16, 0},
		"dfplus:5,2,2,hosts=3,global=2":                {30, 20, 30 + 20 + 20, 0},
		"fattree:2,8,agg=yes,speed=ndr":                {44, 12, 32 + 32 + 12, 12},
	} {
		f, err := ParseSpec(spec)
		if err != nil {
			t.Fatal(err)
		}
		aggregation, outside := 0, 0
		for i := range f.NumNodes() {
			if f.IsAggregation(i) {
				aggregation++
			}
			if !f.Nodes[i].InSubnet {
				outside++
			}
		}
		got := [4]int{len(f.Nodes) - len(f.Switches), len(f.Switches), len(f.Links()), aggregation}
		if got != want || outside > 0 {
			t.Errorf("%s: %v adapters, switches, links and aggregation nodes, want %v; %d outside", spec, got,
				want, outside)
		}
		if p := f.Ports[f.Links()[0].A]; (p.Speed == fabric.NDR) != strings.Contains(spec, "ndr") {
			t.Errorf("%s: a link of %v", spec, p.Speed)
		}
	}
}

func TestCommonOptions(t *testing.T) {
	for spec, want := range map[string]string{
		"mesh:2x2,speed=fast":      `speed: "fast", expected one of sdr, ddr`,
		"mesh:2x2,agg=no,agg=no":   "agg is given twice",
		"director:2,2,directors=2": "leaves: 0 leaves connect the directors", "railtree:50000": "need more LIDs",
	} {
		if _, err := ParseSpec(spec); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", spec, err, want)
		}
	}
}
