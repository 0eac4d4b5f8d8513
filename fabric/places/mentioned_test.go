// SPDX-License-Identifier: Apache-2.0

package places

import (
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// TestMentioned: a sentence leads to the node or port that it names first, by whole words alone.
func TestMentioned(t *testing.T) {
	var b fabric.Builder
	for _, n := range []fabric.Node{
		{GUID: 0x10, Type: mad.NodeSwitch, NumPorts: 4, Desc: "leaf-1"}, {GUID: 0x20, Type: mad.NodeSwitch, NumPorts: 4,
			Desc: "leaf-1 board"},
		{GUID: 0x30, Type: mad.NodeCA, NumPorts: 1, Desc: "n1 HCA-1"},
	} {
		if _, err := b.AddNode(n); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Connect(b.NodeByGUID(0x10), 2, b.NodeByGUID(0x30), 1); err != nil {
		t.Fatal(err)
	}
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"647 paths over leaf-1/2 -> n1 HCA-1/1":    "leaf-1/2",
		"cut off: n1 HCA-1/1, leaf-1/2":            "n1 HCA-1/1",
		"leaf-1 board and leaf-1":                  "leaf-1 board/0",
		"leaf-1/9 is no port":                      "leaf-1/0",
		"leaf-12 and xleaf-1 are others, leaf-1 i": "leaf-1/0",
		"it ends with leaf-1.":                     "leaf-1/0",
		"":                                         "",
		"nothing":                                  "",
	} {
		got := Mentioned(f, text)
		if name := nameOf(f, got); name != want {
			t.Errorf("%q leads to %q, want %q", text, name, want)
		}
	}
}

func nameOf(f *fabric.Fabric, p Place) string {
	if p.Node == fabric.None {
		return ""
	}
	return f.PortName(p.Port)
}
