// SPDX-License-Identifier: Apache-2.0

package apply_test

import (
	"context"
	"errors"
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
