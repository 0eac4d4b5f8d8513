// SPDX-License-Identifier: Apache-2.0

package limits_test

import (
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/fabric/limits"
	"example.org/ibconsole/fabric/problems"
)

// TestDeadSpine kills a spine: LinkDownedCounter increases at each leaf, which is one alert of the spine. Three links
// of a leaf with many are alerts of their own, each for both ends.
func TestDeadSpine(t *testing.T) {
	f, err := gen.ParseSpec("fattree:2,12")
	if err != nil {
		t.Fatal(err)
	}
	rule := limits.Rule{Counter: counters.LinkDowned, Period: time.Minute, Severity: problems.Error}
	spine := f.NodesByDescription("spine-02")[0]
	leaf := f.NodesByDescription("leaf-05")[0]
	var links []fabric.Link
	dead := map[counters.Key]float64{}
	for p := range f.Nodes[spine].Ports() {
		if l, linked := f.LinkOf(p); linked {
			links = append(links, l)
			dead[counters.KeyOf(f, f.Ports[p].Peer)] = 1
		}
	}
	few := map[counters.Key]float64{}
	for _, num := range []int{1, 2, 7} {
		p := f.PortAt(leaf, num)
		few[counters.KeyOf(f, p)], few[counters.KeyOf(f, f.Ports[p].Peer)] = 1, 2
	}
	read := map[counters.Key]bool{}
	for p := range f.NumPorts() {
		read[counters.KeyOf(f, p)] = true
	}
	now := time.Now()
	tracker := limits.NewTracker([]limits.Rule{rule}, nil)
	update := func(f *fabric.Fabric, of map[counters.Key]float64) (started, ended []*limits.Alert) {
		now = now.Add(time.Minute)
		return tracker.Update(now, f, []limits.Figures{{Of: of, Read: read}}, nil)
	}
	update(f, nil)
	started, _ := update(f.Without(links), dead)
	if len(started) != 1 || started[0].At.Name != "spine-02" || started[0].At.Port != -1 ||
		started[0].Value != float64(len(links)) {
		t.Fatalf("%d alerts: %+v", len(started), started)
	}
	started, ended := update(f, few)
	if len(started) != 3 || len(ended) != 0 {
		t.Errorf("%d alerts started, %d ended", len(started), len(ended))
	}
	for n := range 5 {
		if started, ended = update(f, nil); len(started) > 0 || len(ended) != map[int]int{3: 1, 4: 3}[n] {
			t.Errorf("minute %d: %d alerts started, %d ended", n, len(started), len(ended))
		}
	}
}
