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
			if got, err := Resolve(f, text); err != nil || got.Port != p || got.Node != fabric.NodeIndex(i) || !got.PortNamed {
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
