// SPDX-License-Identifier: Apache-2.0

package sweep_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// describe returns the contents of a fabric, one line for each node and port, sorted by GUID, independent of the order
// of its nodes.
func describe(f *fabric.Fabric) []string {
	var lines []string
	for i := range f.NumNodes() {
		n := &f.Nodes[i]
		if !n.InSubnet {
			continue
		}
		lines = append(lines, fmt.Sprintf("%016x: %+v", n.GUID, struct {
			SystemGUID         uint64
			Desc               string
			Type               mad.NodeType
			Vendor, Device     int
			Revision, NumPorts int
			Enhanced           bool
		}{n.SystemGUID, n.Desc, n.Type, int(n.VendorID), int(n.DeviceID), int(n.Revision), int(n.NumPorts),
			n.EnhancedPort0}))
		for num := 0; num <= int(n.NumPorts); num++ {
			at := f.PortAt(i, num)
			if at == fabric.None {
				continue
			}
			p := f.Ports[at]
			peer, end := "nothing", !n.IsSwitch() || num == 0
			if p.Linked() && f.Nodes[f.Ports[p.Peer].Node].InSubnet {
				q := &f.Ports[p.Peer]
				peer = fmt.Sprintf("%016x/%d", f.Nodes[q.Node].GUID, q.Num)
			} else if !n.IsSwitch() && at != f.SMPort {
				continue // invisible to a sweep
			}
			if !end || num > 0 && !p.Linked() {
				p.CapMask = 0
			}
			if num > 0 && !p.Linked() {
				p.MTU = 0 // of no neighbour
			}
			p.Node, p.Peer = 0, 0
			lines = append(lines, fmt.Sprintf("%016x/%03d: %+v to %s", n.GUID, p.Num, p, peer))
		}
	}
	slices.Sort(lines)
	sm := &f.Ports[f.SMPort]
	return append(lines, fmt.Sprintf("SM at %016x/%d", f.Nodes[sm.Node].GUID, sm.Num))
}

// describeTables returns the contents of the forwarding tables, one line for each switch.
func describeTables(t *fabric.Tables) []string {
	var lines []string
	for sw := range t.Fabric.NumSwitches() {
		if !t.Fabric.SwitchNode(sw).InSubnet {
			continue
		}
		var b strings.Builder
		fmt.Fprintf(&b, "%016x: known %v top %d:", t.Fabric.SwitchNode(sw).GUID, t.Known[sw], t.Top[sw])
		for lid := 0; lid <= int(t.Top[sw]); lid++ {
			fmt.Fprintf(&b, " %d", t.Port(sw, uint16(lid)))
		}
		lines = append(lines, b.String())
	}
	slices.Sort(lines)
	return lines
}

func same(t *testing.T, what string, want, got []string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", what, diff)
	}
}
