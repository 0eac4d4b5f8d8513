// SPDX-License-Identifier: Apache-2.0

package diff

import (
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/routing/checks/trees/treestest"
)

// TestOtherLoadsDiffer compares tables with themselves where end ports have fewer LIDs: only the loads of links differ.
func TestOtherLoadsDiffer(t *testing.T) {
	f, err := gen.ParseSpec("mesh:2x1,hosts=2") // all LIDs of a host have one path
	if err != nil {
		t.Fatal(err)
	}
	a, err := fabric.AssignLIDsWith(f, fabric.LIDOptions{LMC: 1})
	if err != nil {
		t.Fatal(err)
	}
	before := treestest.Minhop(t, a.Fabric)
	b := *a.Fabric
	b.Ports = append([]fabric.Port(nil), b.Ports...)
	for _, e := range b.EndPorts {
		b.Ports[e].LMC = 0
	}
	after := *before
	after.Fabric = &b
	r, err := Compare(t.Context(), before, &after, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Loads) == 0 || r.Same() {
		t.Errorf("%d loads differ, but Same is %v", len(r.Loads), r.Same())
	}
}
