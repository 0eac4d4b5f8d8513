// SPDX-License-Identifier: Apache-2.0

package feature

import (
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen/gentest"
	"example.org/ibconsole/fabric/problems"
	"example.org/ibconsole/mad"
)

// TestNamer checks that the names of ports have the GUID if several nodes have the same name.
func TestNamer(t *testing.T) {
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
	names := NewNamer(f)
	for i, want := range []string{"storage/1 (0x0000000000000010)", "storage/1 (0x0000000000000011)", "node-1/1",
		"0x0000000000000013/1", "0x0000000000000014/1"} {
		node := f.NodeByGUID(uint64(0x10 + i))
		if got := names.Port(f.PortAt(node, 1)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestPlaceOf names ports and nodes that a fabric has, and ones that it no longer has.
func TestPlaceOf(t *testing.T) {
	f := gentest.Fabric(t, "fattree:2,4")
	sw := f.Switches[0]
	for want, at := range map[string]problems.Place{
		f.NodeName(sw):        problems.PlaceOfNode(f, sw),
		f.NodeName(sw) + "/1": problems.PlaceOfPort(f, f.PortAt(sw, 1)),
		"gone":                {GUID: 0x99, Port: -1, Name: "gone"},
		"gone/7":              {GUID: 0x99, Port: 7, Name: "gone/7"},
		"":                    problems.WholeSubnet,
	} {
		if got := PlaceOf(f, at); got.String() != want && !(want == "" && got.IsNone()) {
			t.Errorf("%v is %q, want %q", at, got, want)
		}
	}
}
