// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/write"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/changes/diff"
	"example.org/ibconsole/routing/changes/plan"
	"example.org/ibconsole/routing/changes/transition"
	"example.org/ibconsole/routing/changes/transition/verify"
	"example.org/ibconsole/routing/checks/trees/treestest"
	"example.org/ibconsole/routing/engines"
)

// stepsOf returns the steps in which apply writes a plan.
func stepsOf(p *plan.Plan) (steps []transition.Step) {
	last := p.Steps
	for _, l := range p.SL2VLs {
		last = max(last, l.Step)
	}
	cut, grow := 0, 0
	for i := range p.MFTs {
		if p.MFTs[i].Grow {
			grow++
		} else {
			cut++
		}
	}
	if p.CutFirst {
		steps = append(steps, transition.Step{MFT: transition.CutMFT})
	}
	for n := range last + 1 {
		if slices.Contains(p.Settles, n) {
			steps[len(steps)-1].Settle = true
		}
		step := transition.Step{SL2VL: slices.ContainsFunc(p.SL2VLs, func(l write.SL2VL) bool { return l.Step == n })}
		for i := range p.Blocks {
			b := &p.Blocks[i]
			for k := range b.New {
				if b.Step == n && b.Old[k] != b.New[k] {
					step.Entries = append(step.Entries, transition.Entry{
						Switch: b.Switch, LID: b.Num*fabric.BlockSize + uint16(k), Old: b.Old[k], New: b.New[k],
					})
				}
			}
		}
		if step.SL2VL || step.Entries != nil {
			steps = append(steps, step)
		}
	}
	switch {
	case p.CutFirst:
		steps[len(steps)-1].Settle = true
		steps = append(steps, transition.Step{MFT: transition.GrowMFT})
	case cut+grow > 0:
		steps = append(steps, transition.Step{MFT: transition.AllMFT})
	}
	return steps
}

// randomTree gives tables a multicast group of all hosts, whose tree has a random root.
func randomTree(r *rand.Rand, t *fabric.Tables) {
	f := t.Fabric
	t.MFT = fabric.NewMFT(f, fabric.FirstMLID)
	root := fabric.SwitchIndex(r.IntN(len(f.Switches)))
	var hosts []fabric.PortIndex
	for _, e := range f.EndPorts {
		if !f.Nodes[f.Ports[e].Node].IsSwitch() {
			hosts = append(hosts, e)
		}
	}
	treestest.AddGroup(f, t.MFT, fabric.FirstMLID, root, hosts)
}

// changeTops raises or lowers the LinearFDBTop of some switches. Entries above the old one may have any value.
func changeTops(r *rand.Rand, t *fabric.Tables) {
	t.Top, t.LFT = slices.Clone(t.Top), t.LFT.Grown(t.LFT.MaxLID+100)
	for s := range t.Top {
		switch r.IntN(3) {
		case 0:
			t.Top[s] -= uint16(r.IntN(10))
		case 1:
			for range r.IntN(100) {
				t.Top[s]++
				t.LFT.Row(fabric.SwitchIndex(s))[t.Top[s]] = uint8(r.IntN(5))
			}
		}
	}
}

// TestAvoidLoop makes plans between random routes, some with VLs, multicast groups, or loops of their own. An
// independent checker follows all packets through the writes in the order of apply, and the waits between the steps are
// those of the plan.
func TestAvoidLoop(t *testing.T) {
	r := testenv.Rand(t)
	methods, refused, groups, vls, own, tops := map[transition.Method]int{}, 0, 0, 0, 0, 0
	count := testenv.Count(t, 12, 600)
	for n := range count {
		f := treestest.Made(t, []string{"torus:4x4", "mesh:4x4", "hypercube:4", "dragonfly:4,2,2"}[r.IntN(4)])
		withVLs := n%6 == 5
		var tables [2]*fabric.Tables
		for i := range tables {
			name := []string{"updn", "nue", "updn", "nue", "minhop"}[r.IntN(5)]
			opt := routing.Options{MaxOpVLs: 1}
			if withVLs {
				name, opt = []string{"nue", "lash", "dfsssp"}[r.IntN(3)], routing.Options{NueMaxVLs: 2}
			}
			e, err := engines.ByName(name)
			if err != nil {
				t.Fatal(err)
			}
			opt.RootGUIDs = []uint64{f.SwitchNode(fabric.SwitchIndex(r.IntN(len(f.Switches)))).GUID}
			res, err := routing.Route(t.Context(), e, f, opt)
			if err != nil {
				t.Fatal(err)
			}
			if tables[i] = res.Tables; !withVLs {
				tables[i].SL2VL, tables[i].SLs = nil, nil
			}
		}
		if n%4 == 3 {
			randomTree(r, tables[0])
			randomTree(r, tables[1])
		}
		live, staged := tables[0], tables[1]
		if withVLs { // the engines map SLs alike
			live.SL2VL = live.SL2VL.Clone()
			live.SL2VL.SetAll(fabric.VLs{})
		}
		live.LifeTimes = make([]uint8, len(f.Switches))
		raised := *live // LinearFDBTops are raised before the first step
		if n%3 == 1 {
			changeTops(r, live)
			raised = *live
			raised.Top = slices.Clone(live.Top)
			for s := range raised.Top {
				raised.Top[s] = max(live.Top[s], staged.Top[s])
			}
		}
		p, err := plan.Make(t.Context(), live, staged)
		if err != nil {
			t.Fatal(err)
		}
		l, err := p.CheckCredits(t.Context(), live, staged)
		if err != nil {
			t.Fatal(err)
		}
		before := stepsOf(p)
		a, err := p.AvoidLoop(t.Context(), live, staged, l, plan.AvoidOptions{
			Drain: r.IntN(2) == 0, Progress: func(int, int) {},
		})
		fault := verify.Check(t.Context(), &raised, staged, before, verify.Options{})
		switch {
		case err != nil:
			t.Fatal(err)
		case a == nil:
			if fault != nil && len(p.Tops) == 0 && !l.AddsLoop() {
				t.Errorf("a plan whose steps were kept: %v", fault)
			}
			continue
		case a.Fault != nil:
			t.Errorf("%v: %v", a.Transition.Method, a.Fault)
		case !a.Taken:
			if refused++; l.OnlyTogether() && fault == nil && live.MFT == nil {
				t.Error("the checker finds no loop in a plan with a loop")
			}
			continue
		}
		methods[a.Transition.Method]++
		if len(p.Tops) > 0 {
			tops++
		}
		if err := verify.Check(t.Context(), &raised, staged, stepsOf(p),
			verify.Options{Drained: a.Transition.Drained}); err != nil {
			t.Errorf("%v: %v", a.Transition.Method, err)
		}
		waits := len(p.Settles)
		if p.CutFirst {
			waits++
			groups++
		}
		if len(p.SL2VLs) > 0 {
			vls++
		}
		if a.Transition.Old != nil || a.Transition.New != nil {
			own++
		}
		if waits != a.Transition.Settles() {
			t.Errorf("%d waits, expected %d", waits, a.Transition.Settles())
		}
		if err := p.Check(f); err != nil {
			t.Error(err)
		}
		if after := p.After(live); diff.Count(after, staged).Changed > 0 {
			t.Error("the plan does not lead to the staged tables")
		}
	}
	t.Logf("methods: %v, not taken: %d; with groups %d, with VLs %d, with loops of one alone %d, with LinearFDBTops %d",
		methods, refused, groups, vls, own, tops)
	if methods[transition.Settling] == 0 || methods[transition.Tree] == 0 || groups == 0 || own == 0 || tops == 0 {
		t.Error("too few methods")
	}
}
