// SPDX-License-Identifier: Apache-2.0

package check

import (
	"math"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/shell/feature"
)

// TestDeviations compares with values computed by hand: four directions with 3, 1, 0 and 2 paths sent 30, 10, 20 and 0
// GB/s, 60 in total; 30, 10, 0 and 20 are expected.
func TestDeviations(t *testing.T) {
	f, err := gen.ParseSpec("fattree:2,4")
	if err != nil {
		t.Fatal(err)
	}
	var ports []fabric.PortIndex
	for p := range f.NumPorts() {
		if f.PeerSwitch(p) != fabric.None && f.Nodes[f.Ports[p].Node].IsSwitch() {
			ports = append(ports, p)
		}
	}
	paths := make([]int64, len(f.Ports))
	var all []feature.Traffic
	for i, x := range []struct {
		paths int64
		gb    float64
	}{{3, 30}, {1, 10}, {0, 20}, {2, 0}} {
		paths[ports[i]] = x.paths
		all = append(all, feature.Traffic{Port: ports[i], Bytes: x.gb * 1e9})
	}
	var a measuredLoad
	a.compare(f, all, paths)
	rate := f.Ports[ports[0]].Gbps() / 8
	if len(a.deviations) != 2 || a.Sent != 60 || a.Correlation.IsNone() {
		t.Fatalf("%+v", a)
	}
	for _, x := range a.deviations {
		want := map[string]float64{"no path leads here": 20 / rate, "nothing was sent": -20 / rate}[x.Note.String()]
		if want == 0 || math.Abs(x.Apart-want) > 1e-9 {
			t.Errorf("%+v, want %g apart", x, want)
		}
	}
}
