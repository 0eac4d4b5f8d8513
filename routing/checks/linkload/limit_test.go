// SPDX-License-Identifier: Apache-2.0

package linkload

import (
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen"
)

// TestLimits has 8 hosts, so that 7 paths lead over the link of a host in each direction.
func TestLimits(t *testing.T) {
	f, err := gen.ParseSpec("fattree:2,4") // 4 leaves of 2 hosts and 2 uplinks
	if err != nil {
		t.Fatal(err)
	}
	up := map[fabric.SwitchIndex][]fabric.PortIndex{}
	var host fabric.PortIndex
	tier := make([]int32, len(f.Switches))
	for p := range f.NumPorts() {
		switch ClassOf(f, p) {
		case ToHost:
			host = p
		case BetweenSwitches:
			if sw := f.Nodes[f.Ports[p].Node].Switch; hasHosts(f, sw) {
				up[sw] = append(up[sw], p)
			} else {
				tier[sw] = 1
			}
		}
	}
	if len(up) != 4 {
		t.Fatalf("%d leaves, want 4", len(up))
	}
	l := &Loads{Fabric: f, Paths: make([]int64, len(f.Ports))}
	l.Paths[host] = 7 // each of 8 hosts receives from 7 others
	var one fabric.PortIndex
	for _, ports := range up { // 2 hosts to 6 others: all 12 paths over one uplink, none over the other
		one = ports[0]
		l.Paths[ports[0]] = 12
	}
	limits := l.Limits(tier)
	// The mean is 6, but a link carries 7 as easily as the link of a host.
	if got, ok := l.OfLimit(limits, one); !ok || got != 12.0/7 {
		t.Errorf("an uplink of 12 paths is %v of its limit, want %v", got, 12.0/7)
	}
	if got, _ := l.OfLimit(limits, host); got != 1 {
		t.Errorf("the link of a host is %v of its limit, want 1", got)
	}
	for _, ports := range up { // a tapered tree: both uplinks of all leaves have more paths than the link of a host
		l.Paths[ports[0]], l.Paths[ports[1]] = 20, 20
	}
	if got, _ := l.OfLimit(l.Limits(tier), one); got != 1 {
		t.Errorf("an uplink with its even share is %v of its limit, want 1", got)
	}
	l.notKnown = make([]bool, len(f.Ports))
	l.notKnown[one] = true
	if _, ok := l.OfLimit(limits, one); ok {
		t.Error("an unknown load has a share of the limit")
	}
}

func hasHosts(f *fabric.Fabric, sw fabric.SwitchIndex) bool {
	for p := range f.SwitchNode(sw).Ports() {
		if ClassOf(f, p) == ToHost {
			return true
		}
	}
	return false
}
