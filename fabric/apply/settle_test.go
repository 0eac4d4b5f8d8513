// SPDX-License-Identifier: Apache-2.0

package apply_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/apply"
	"example.org/ibconsole/fabric/sim"
	"example.org/ibconsole/fabric/write"
	"example.org/ibconsole/mad"
)

// TestSettle writes two steps with a wait in between. The second step begins only after the wait. If the context ends
// during the wait, the second step is not written.
func TestSettle(t *testing.T) {
	f, err := fabric.AssignLIDs(generate(t, "fattree:2,4"))
	if err != nil {
		t.Fatal(err)
	}
	s := sim.New(f, sim.Options{Active: true, Tables: route(t, f)})
	c := client(t, open(t, s, f.EndPortOf(f.SMPort)), mad.Fast())
	live := full(t, c)
	w := &write.List{Settles: []int{2}, SettleTime: 100 * time.Millisecond}
	for step := 1; step <= 2; step++ {
		old := (*[fabric.BlockSize]uint8)(live.Tables.LFT.Block(fabric.SwitchIndex(step), 0))
		next := *old
		next[63] = uint8(step)
		w.Blocks = append(w.Blocks, write.Block{Switch: fabric.SwitchIndex(step), Step: step, Old: old, New: &next})
	}
	ctx, cancel := context.WithTimeout(t.Context(), w.SettleTime/2)
	defer cancel()
	rep, err := apply.Apply(ctx, c, live.Fabric, w, apply.Options{})
	if !errors.Is(err, context.DeadlineExceeded) || rep == nil || rep.Written.Blocks != 1 || len(rep.Left.Blocks) != 1 {
		t.Fatalf("%+v, %v", rep, err)
	}
	begun := time.Now()
	rep, err = apply.Apply(t.Context(), c, live.Fabric, w, apply.Options{})
	if took := time.Since(begun); err != nil || rep.Written.Blocks != 2 || took < w.SettleTime {
		t.Fatalf("%v: %+v, %v", took, rep, err)
	}
}

// stepped returns writes of all kinds of tables in steps: multicast branches to remove, a block, SL2VL tables, another
// block, and multicast branches to add.
func stepped(n *subnet) *write.List {
	f := n.live.Fabric
	old, less, more := mad.MulticastForwardingTable{1: 6}, mad.MulticastForwardingTable{1: 2},
		mad.MulticastForwardingTable{1: 10}
	w := &write.List{
		CutFirst: true, ReadSteps: true, Settles: []int{2}, SettleTime: 50 * time.Millisecond,
		MFTs: []write.MFTBlock{
			{Switch: 2, Old: &old, New: &less}, {Switch: 2, Old: &less, New: &more, Grow: true},
		},
		SL2VLs: []write.SL2VL{{Node: f.Switches[2], In: 1, Out: 2, Step: 2, New: fabric.VLs{0, 1}}},
	}
	for _, step := range []int{1, 3} {
		b := write.Block{Switch: 2, Num: 700, Step: step, New: new([64]uint8)}
		b.New[0] = uint8(step)
		w.Blocks = append(w.Blocks, b)
	}
	return w
}

// TestOrderOfSteps checks the order of writes in steps of several kinds of tables. Each step is read back before the
// next, and the two waits come before the SL2VL tables and before branches are added.
func TestOrderOfSteps(t *testing.T) {
	n := newSubnet(t, "torus:5x4,2")
	w := stepped(n)
	var order []string
	var times []time.Time
	c := n.client(t, func(m *mad.SMP) {
		if name, ok := map[mad.AttrID]string{
			mad.AttrMulticastForwardingTable: "mft", mad.AttrLinearForwardingTable: "lft", mad.AttrSLToVLTable: "vls",
		}[m.Attr]; ok {
			order = append(order, map[bool]string{true: "set ", false: "get "}[m.Method == mad.MethodSet]+name)
			times = append(times, time.Now())
		}
	})
	if _, err := apply.Apply(t.Context(), c, n.live.Fabric, w, apply.Options{}); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"set mft", "get mft", "set lft", "get lft", "set vls", "get vls", "set lft", "get lft", "set mft",
	}
	var got []string
	var at []time.Time
	for i, x := range order { // without the looks before writing
		if x[:3] == "set" || len(got) > 0 && got[len(got)-1] == "set"+x[3:] {
			got, at = append(got, x), append(at, times[i])
		}
	}
	if len(got) < len(want) || !slices.Equal(got[:len(want)], want) {
		t.Fatalf("%v, expected %v", order, want)
	}
	for _, i := range []int{4, 8} {
		if wait := at[i].Sub(at[i-1]); wait < w.SettleTime {
			t.Errorf("%s after %v, expected a wait of %v", got[i], wait, w.SettleTime)
		}
	}
}

// TestWrongStepStops checks that no step begins after one that reads differently.
func TestWrongStepStops(t *testing.T) {
	n := newSubnet(t, "torus:5x4,2")
	c := n.client(t, func(m *mad.SMP) {
		if m.Method == mad.MethodSet && m.Attr == mad.AttrLinearForwardingTable {
			m.Data[5] = 77
		}
	})
	rep, err := apply.Apply(t.Context(), c, n.live.Fabric, stepped(n), apply.Options{})
	if !errors.Is(err, apply.ErrDiffers) || rep.Stopped != "step 1 of 2" || rep.Written.Blocks != 1 ||
		rep.Written.SL2VLs != 0 || rep.Written.MFTs != 1 || len(rep.Left.Blocks) != 1 {
		t.Errorf("%+v, %v", rep, err)
	}
}

// TestStepsAreReadOnce checks that tables which a step wrote and read back are not read again at the end. Only two
// tables, which a later step writes again, are read one more time.
func TestStepsAreReadOnce(t *testing.T) {
	requests := map[bool]int{}
	for _, steps := range []bool{false, true} {
		n := newSubnet(t, "torus:5x4,2")
		w := stepped(n)
		w.ReadSteps = steps
		rep, err := apply.Apply(t.Context(), n.client(t, nil), n.live.Fabric, w, apply.Options{})
		if err != nil {
			t.Fatal(err)
		}
		requests[steps] = rep.Requests
		if rep.ReadBack.Total() != 3 {
			t.Errorf("steps %v: %v", steps, rep.ReadBack)
		}
	}
	if more := requests[true] - requests[false]; more != 2 {
		t.Errorf("reading after each step takes %d more requests", more)
	}
}
