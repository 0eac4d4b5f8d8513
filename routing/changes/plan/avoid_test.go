// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/changes/plan"
	"example.org/ibconsole/routing/changes/transition"
	"example.org/ibconsole/routing/changes/transition/verify"
	"example.org/ibconsole/routing/checks/trees/treestest"
	"example.org/ibconsole/routing/engines"
)

// stepsOf returns the entries that the blocks of each step change.
func stepsOf(p *plan.Plan) []transition.Step {
	steps := make([]transition.Step, p.Steps)
	for i := range p.Blocks {
		b := &p.Blocks[i]
		for k := range b.New {
			if b.Old[k] != b.New[k] {
				steps[b.Step-1].Entries = append(steps[b.Step-1].Entries, transition.Entry{
					Switch: b.Switch, LID: b.Num*fabric.BlockSize + uint16(k), Old: b.Old[k], New: b.New[k],
				})
			}
		}
	}
	for _, s := range p.Settles {
		steps[s-2].Settle = true
	}
	return steps
}

// TestAvoidLoop makes plans between random routes that have a credit loop only together. An independent checker follows
// all packets through the blocks of each step, and the waits between the steps are those of the plan.
func TestAvoidLoop(t *testing.T) {
	r := testenv.Rand(t)
	methods, refused := map[transition.Method]int{}, 0
	count := testenv.Count(t, 30, 300)
	for range count {
		f := treestest.Made(t, []string{"torus:4x4", "mesh:4x4", "hypercube:4", "dragonfly:4,2,2"}[r.IntN(4)])
		var tables [2]*fabric.Tables
		for i := range tables {
			name := []string{"updn", "nue"}[r.IntN(2)]
			e, err := engines.ByName(name)
			if err != nil {
				t.Fatal(err)
			}
			root := f.SwitchNode(fabric.SwitchIndex(r.IntN(len(f.Switches)))).GUID
			res, err := routing.Route(t.Context(), e, f, routing.Options{RootGUIDs: []uint64{root}, MaxOpVLs: 1})
			if err != nil {
				t.Fatal(err)
			}
			tables[i] = res.Tables
			tables[i].SL2VL, tables[i].SLs = nil, nil
		}
		live, staged := tables[0], tables[1]
		live.LifeTimes = make([]uint8, len(f.Switches))
		p, err := plan.Make(t.Context(), live, staged)
		if err != nil {
			t.Fatal(err)
		}
		l, err := p.CheckCredits(t.Context(), live, staged)
		if err != nil {
			t.Fatal(err)
		}
		if l == nil || l.Ring == nil || !l.OnlyTogether() {
			continue
		}
		if verify.Check(t.Context(), live, staged, stepsOf(p), verify.Options{}) == nil {
			t.Error("the checker finds no loop in a plan with a loop")
		}
		a, err := p.AvoidLoop(t.Context(), live, staged, l, plan.AvoidOptions{
			Drain: r.IntN(2) == 0, Progress: func(int, int) {},
		})
		switch {
		case err != nil:
			t.Fatal(err)
		case !a.Taken:
			refused++
			continue
		}
		methods[a.Transition.Method]++
		if err := verify.Check(t.Context(), live, staged, stepsOf(p),
			verify.Options{Drained: a.Transition.Drained}); err != nil {
			t.Errorf("%v: %v", a.Transition.Method, err)
		}
		if len(p.Settles) != a.Transition.Settles() || p.Totals().Steps != len(a.Transition.Steps) {
			t.Errorf("%d waits, expected %d", len(p.Settles), a.Transition.Settles())
		}
		if err := p.Check(f); err != nil {
			t.Error(err)
		}
	}
	t.Logf("methods: %v, not taken: %d", methods, refused)
	if methods[transition.Settling] == 0 || methods[transition.Tree] == 0 {
		t.Error("too few methods")
	}
}
