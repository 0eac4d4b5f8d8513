// SPDX-License-Identifier: Apache-2.0

package diff

import (
	"slices"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/checks/trees/treestest"
)

// TestMulticastChanges checks the counts of planted changes.
func TestMulticastChanges(t *testing.T) {
	before := *treestest.Minhop(t, treestest.Made(t, "fattree:2,4"))
	after := before
	before.MFT, after.MFT = fabric.NewMFT(before.Fabric, 0xc003), fabric.NewMFT(before.Fabric, 0xc021)
	before.MFT.Add(0, 0xc000, 1)
	before.MFT.Add(0, 0xc000, 2)
	after.MFT.Add(0, 0xc000, 2)
	after.MFT.Add(0, 0xc000, 3)
	after.MFT.Add(0, 0xc000, 4)
	before.MFT.Add(1, 0xc003, 0)
	after.MFT.Add(1, 0xc003, 0)
	after.MFT.Add(2, 0xc021, 4)
	r, err := Compare(t.Context(), &before, &after, Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := r.Multicast
	if m.Changed != 2 || m.Switches != 2 || m.LIDs != 2 || m.PortsGone != 1 || m.PortsCome != 3 || r.Same() {
		t.Errorf("%+v", m)
	}
	if e := m.Examples[0]; e.MLID != 0xc000 || !slices.Equal(e.Gone, []int{1}) || !slices.Equal(e.Come, []int{3, 4}) {
		t.Errorf("%+v", e)
	}
	if r, err := Compare(t.Context(), &before, &before, Options{}); err != nil || !r.Same() {
		t.Errorf("with itself: %+v, %v", r, err)
	}
}
