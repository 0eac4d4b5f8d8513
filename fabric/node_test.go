// SPDX-License-Identifier: Apache-2.0

package fabric_test

import (
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// TestNames checks that the names of ports have the GUID if several nodes have the same name.
func TestNames(t *testing.T) {
	var b fabric.Builder
	for i, name := range []string{"storage", "storage", "node-1", "", ""} {
		if _, err := b.AddNode(fabric.Node{GUID: uint64(0x10 + i), Desc: name, Type: mad.NodeCA, NumPorts: 1}); err !=
			nil {
			t.Fatal(err)
		}
	}
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"storage (0x0000000000000010)/1", "storage (0x0000000000000011)/1", "node-1/1",
		"0x0000000000000013/1", "0x0000000000000014/1"} {
		node := f.NodeByGUID(uint64(0x10 + i))
		if got := f.PortName(f.PortAt(node, 1)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
