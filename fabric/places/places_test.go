// SPDX-License-Identifier: Apache-2.0

package places

import (
	"fmt"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen"
)

// TestPortByGUID: a port is named by the GUID of its node and its number, also where several nodes have the same name.
func TestPortByGUID(t *testing.T) {
	f, err := gen.ParseSpec("fattree:2,4")
	if err != nil {
		t.Fatal(err)
	}
	for i := range f.Nodes {
		for p := range f.Nodes[i].Ports() {
			text := fmt.Sprintf("guid:0x%x/%d", f.Nodes[i].GUID, f.Ports[p].Num)
			if got, err := Resolve(f, text); err != nil || got.Port != p || got.Node != fabric.NodeIndex(i) ||
				!got.PortNamed {
				t.Errorf("%s: %+v, %v, want port %d", text, got, err, p)
			}
		}
	}
	for _, text := range []string{"guid:0x1/1", "guid:0x200000/99", "guid:0x200000/x", "guid:/1"} {
		if p, err := Resolve(f, text); err == nil {
			t.Errorf("%s: %+v", text, p)
		}
	}
}

// TestUnreachable names an end port that a failure separates from the subnet by its GUID and by its LID.
func TestUnreachable(t *testing.T) {
	f, err := gen.ParseSpec("fattree:2,4")
	if err != nil {
		t.Fatal(err)
	}
	if f, err = fabric.AssignLIDs(f); err != nil {
		t.Fatal(err)
	}
	for _, e := range f.EndPorts {
		l, ok := f.LinkOf(e)
		if !ok || e == f.SMPort {
			continue
		}
		left, port := f.Without([]fabric.Link{l}), f.Ports[e]
		for _, text := range []string{fmt.Sprintf("guid:0x%x", port.GUID), fmt.Sprintf("lid:%d", port.LID)} {
			if got, err := Resolve(left, text); err != nil || got.Port != e {
				t.Errorf("%s without its link: %+v, %v, want port %d", text, got, err, e)
			}
		}
	}
	if _, err := Resolve(f, fmt.Sprintf("lid:%d", f.MaxLID+1)); err == nil {
		t.Error("a LID that no port has is found")
	}
}
