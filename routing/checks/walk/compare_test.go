// SPDX-License-Identifier: Apache-2.0

package walk

import (
	"slices"
	"testing"

	"example.org/ibconsole/fabric"
)

// TestComparePathBack has expectations from the drawing of square: n1 to n3 goes clockwise over sw1, sw2, sw3, and back
// over sw4.
func TestComparePathBack(t *testing.T) {
	f := square(t)
	tables := clockwise(f)
	there := Trace(tables, f.PortByLID(11), 13)
	back, ok := there.Back(tables)
	if !ok || describe(f, &back) != "n3/1 1/sw3/2 3/sw4/2 3/sw1/1 1/n1" {
		t.Fatalf("back %s", describe(f, &back))
	}
	want := []HopPair{{0, 0, SameHop}, {1, 1, OtherPort}, {2, 2, OtherNode}, {3, 3, OtherPort}, {4, 4, SameHop}}
	if got := Compare(f, there.Hops, f, back.Backwards()); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	// The path from n1 to n2 has two switches, and the path back four, two of which have no counterpart.
	short := Trace(tables, f.PortByLID(11), 12)
	back, _ = short.Back(tables)
	want = []HopPair{{0, 0, SameHop}, {1, 1, OtherPort}, {-1, 2, Alone}, {-1, 3, Alone}, {2, 4, OtherPort},
		{3, 5, SameHop}}
	if got := Compare(f, short.Hops, f, back.Backwards()); !slices.Equal(got, want) {
		t.Errorf("with the short one %v, want %v", got, want)
	}
	if got := there.Shared([]Path{there, short}); !slices.Equal(got, []int{2, 2, 1, 1, 1}) {
		t.Errorf("shared %v", got) // both leave n1 and sw1 by the same ports, and sw2 by different ones
	}
}

// TestInAnotherFabric checks the error for an end that is missing.
func TestInAnotherFabric(t *testing.T) {
	f := square(t)
	p := Trace(clockwise(f), f.PortByLID(11), 13)
	if own, err := p.In(f, clockwise(f)); own.Src != p.Src || own.Dst != p.Dst || own.DstLID != 13 || err != nil {
		t.Errorf("in its own: %+v, %v", own, err)
	}
	var b fabric.Builder
	empty := build(t, &b)
	const want = "the other state does not have n1/1"
	if _, err := p.In(f, fabric.NewTables(empty, nil, "none")); err == nil || err.Error() != want {
		t.Errorf("in an empty one: %v", err)
	}
}

// TestVLs has expectations by hand: sw1 maps SL 3 to VL 1, sw2 drops it.
func TestVLs(t *testing.T) {
	f := square(t)
	tables := clockwise(f)
	p := Trace(tables, f.PortByLID(11), 13)
	vls := func(want ...uint8) {
		t.Helper()
		if got := p.VLs(tables, 3); !slices.Equal(got, want) {
			t.Errorf("VLs %v, want %v", got, want)
		}
	}
	vls(0, 0, 0, 0, NoVL) // without SL2VL tables
	tables.SL2VL = fabric.NewSL2VL(f)
	tables.SL2VL.Set(p.Hops[1].Node, 1, 2, fabric.VLs{3: 1})
	vls(0, 1, 0, 0, NoVL)
	tables.SL2VL.Set(p.Hops[2].Node, 3, 2, fabric.VLs{3: fabric.DropVL})
	vls(0, 1, fabric.DropVL, NoVL, NoVL)
	tables.Unread.SL2VL = true
	vls(NoVL, 1, fabric.DropVL, NoVL, NoVL)
	tables.SL2VL = nil
	vls(NoVL, NoVL, NoVL, NoVL, NoVL)
}
