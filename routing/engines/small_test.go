// SPDX-License-Identifier: Apache-2.0

package engines_test

import (
	"fmt"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// threeCables is two switches joined by three cables, 0x100 with the SM's host
// and 0x200 with nine, whose node GUIDs are 0x1000 to 0x9000.
func threeCables(t *testing.T) *fabric.Fabric {
	t.Helper()
	var b fabric.Builder
	add := func(kind mad.NodeType, guid uint64, ports uint8) fabric.NodeIndex {
		n, err := b.AddNode(fabric.Node{GUID: guid, Type: kind, NumPorts: ports, Desc: fmt.Sprintf("%x", guid)})
		if err != nil {
			t.Fatal(err)
		}
		if kind != mad.NodeSwitch {
			b.Port(n, 1).GUID = guid + 1
		}
		return n
	}
	link := func(a fabric.NodeIndex, pa int, c fabric.NodeIndex, pc int) {
		if err := b.Connect(a, pa, c, pc); err != nil {
			t.Fatal(err)
		}
	}
	sm := add(mad.NodeCA, 0xf000, 1)
	near, far := add(mad.NodeSwitch, 0x100, 12), add(mad.NodeSwitch, 0x200, 12)
	link(sm, 1, near, 12)
	for p := 1; p <= 3; p++ {
		link(near, p, far, 9+p)
	}
	for h := 1; h <= 9; h++ {
		link(add(mad.NodeCA, uint64(0x1000*h), 1), 1, far, h)
	}
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	if f, err = fabric.AssignLIDs(f); err != nil {
		t.Fatal(err)
	}
	return f
}
