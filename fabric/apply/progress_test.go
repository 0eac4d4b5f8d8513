// SPDX-License-Identifier: Apache-2.0

package apply_test

import (
	"slices"
	"testing"

	"example.org/ibconsole/fabric/apply"
)

// TestPhasesAreTold: what is being written is told phase by phase, in the order of the steps, and at the end all is
// written and read back.
func TestPhasesAreTold(t *testing.T) {
	n := newSubnet(t, "torus:4x3,2")
	var told []apply.Progress
	if _, err := apply.Apply(t.Context(), n.client(t, nil), n.live.Fabric, n.w,
		apply.Options{Writing: func(p apply.Progress) {
			told = append(told, p)
		}}); err != nil {
		t.Fatal(err)
	}
	var names []string
	for i, p := range told {
		if i == 0 || p.Phase != told[i-1].Phase {
			names = append(names, p.What())
		}
		if p.Done > p.Total || p.All != n.w.Len() {
			t.Errorf("%+v", p)
		}
	}
	// what a subnet wants that was never routed
	want := []string{"LIDs", "ports", "tops that rise", "step 1 of 1", "read back", ""}
	last := told[len(told)-1]
	if !slices.Equal(names, want) || !slices.Equal(last.Phases, want[:5]) || last.Written.Total() != n.w.Len() ||
		last.ReadBack.Total() != n.w.Len() {
		t.Errorf("%q, at last %+v", names, last)
	}
}
