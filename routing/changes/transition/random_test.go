// SPDX-License-Identifier: Apache-2.0

package transition_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/changes/transition"
	"example.org/ibconsole/routing/changes/transition/verify"
	"example.org/ibconsole/routing/checks/credits"
	"example.org/ibconsole/routing/checks/trees/treestest"
	"example.org/ibconsole/routing/engines"
	"example.org/ibconsole/routing/engines/minhop"
)

// pair is tables before and after a change.
type pair struct {
	fabric, what  string
	before, after *fabric.Tables
}

// fabrics of random pairs, by kind.
var fabrics = map[string][]string{
	"fat tree":  {"fattree:2,8", "fattree:3,8", "fattree:2,8"},
	"mesh":      {"mesh:4x4", "mesh:6x6", "mesh:4x4"},
	"hypercube": {"hypercube:4"},
	"torus":     {"torus:3x3", "torus:4x4", "torus:6x5"},
	"dragonfly": {"dragonfly:4,2,2"},
	"random":    {"random:24,4,50", "random:40,4,80"},
}

var kinds = []string{"fat tree", "mesh", "hypercube", "torus", "dragonfly", "random"}

// route routes a fabric with an engine. It returns nil if the engine refuses the fabric.
func route(t testing.TB, f *fabric.Fabric, name string, opt routing.Options) *fabric.Tables {
	t.Helper()
	e, err := engines.ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	r, err := routing.Route(t.Context(), e, f, opt)
	if err != nil {
		return nil
	}
	return r.Tables
}

// randomPair returns a change from one engine to another, or by a loss or a repair of up to four links. It returns nil
// if an engine refuses.
func randomPair(t testing.TB, r *rand.Rand, kind, spec string, vls bool) *pair {
	t.Helper()
	names := []string{"updn", "updn", "nue", "minhop", "sssp", "dor"}
	switch {
	case vls:
		names = []string{"dfsssp", "lash", "nue"}
	case kind == "fat tree":
		names = append(names[:2], "ftree", "ftree", "minhop", "sssp")
	}
	f := treestest.Made(t, spec)
	lmc := uint8(0)
	if kind != "fat tree" && r.IntN(6) == 0 {
		lmc = 1
		a, err := fabric.AssignLIDsWith(f, fabric.LIDOptions{LMC: lmc})
		if err != nil {
			t.Fatal(err)
		}
		f = a.Fabric
	}
	g, what := f, "engines"
	if r.IntN(2) == 0 {
		what = "loss"
		links := f.Links()
		var gone []fabric.Link
		for range 1 + r.IntN(4) {
			l := links[r.IntN(len(links))]
			if f.PeerSwitch(l.A) != fabric.None && f.PeerSwitch(l.B) != fabric.None {
				gone = append(gone, l)
			}
		}
		g = f.Without(gone)
	}
	a := names[r.IntN(len(names))]
	b := a
	if what == "engines" || r.IntN(3) == 0 {
		b = names[r.IntN(len(names))]
	}
	options := func() routing.Options {
		opt := routing.Options{LMC: lmc}
		if !vls {
			opt.MaxOpVLs = 1
		} else {
			opt.NueMaxVLs = 2
		}
		if kind != "fat tree" {
			for range 3 {
				opt.RootGUIDs = append(opt.RootGUIDs, f.SwitchNode(fabric.SwitchIndex(r.IntN(len(f.Switches)))).GUID)
			}
		}
		return opt
	}
	opt := options()
	before := route(t, f, a, opt)
	if what == "engines" || r.IntN(2) == 0 {
		opt = options()
	}
	after := route(t, g, b, opt)
	if before == nil || after == nil {
		return nil
	}
	if what == "loss" && r.IntN(2) == 0 {
		what, a, b = "repair", b, a
		before, after = after, before
	}
	if what == "loss" { // the links are gone when the tables change
		live := *before
		live.Fabric = g
		before = &live
	}
	if !vls {
		before.SL2VL, before.SLs, after.SL2VL, after.SLs = nil, nil, nil, nil
	}
	return &pair{fabric: spec, what: fmt.Sprintf("%s, %s to %s", what, a, b), before: before, after: after}
}

// withGroups gives both tables random multicast trees with the same members.
func withGroups(t testing.TB, r *rand.Rand, f *fabric.Fabric, tables ...*fabric.Tables) {
	t.Helper()
	hosts := slices.DeleteFunc(slices.Clone(f.EndPorts), func(p fabric.PortIndex) bool {
		s, _ := f.AttachedSwitch(p)
		return s == fabric.None || f.Nodes[f.Ports[p].Node].IsSwitch()
	})
	for _, tb := range tables {
		tb.MFT = fabric.NewMFT(f, fabric.FirstMLID+3)
	}
	for i := range 1 + r.IntN(3) {
		r.Shuffle(len(hosts), func(i, j int) { hosts[i], hosts[j] = hosts[j], hosts[i] })
		members := hosts[:2+r.IntN(len(hosts)-1)]
		for _, tb := range tables {
			root := fabric.SwitchIndex(r.IntN(len(f.Switches)))
			treestest.AddGroup(f, tb.MFT, uint16(fabric.FirstMLID+i), root, members)
		}
	}
}

func hasRing(t testing.TB, tables *fabric.Tables) bool {
	t.Helper()
	r, err := credits.Check(t.Context(), tables, credits.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r.Ring != nil
}

// hasAll reports whether tables alone have all dependencies of a ring without VLs.
func hasAll(tables *fabric.Tables, ring []credits.Channel) bool {
	v := newReference(tables, tables, nil, nil)
	all := v.dependencies(-1, -1)
	for i, c := range ring {
		to := ring[(i+1)%len(ring)]
		if !all[dependency{channel{c.Port, 0}, channel{to.Port, 0}}] {
			return false
		}
	}
	return true
}

// verified checks steps. Without multicast tables it also compares the result with that of the reference.
func verified(t testing.TB, p *pair, steps []transition.Step, drained []uint16) error {
	t.Helper()
	err := verify.Check(t.Context(), p.before, p.after, steps, verify.Options{Drained: drained})
	if p.before.MFT == nil && p.after.MFT == nil {
		if want := reference(p.before, p.after, steps, drained); (err == nil) != (want == nil) {
			t.Errorf("%s, %s: the check says %v, the reference %v", p.fabric, p.what, err, want)
		}
	}
	return err
}

// checked makes a plan and verifies it.
func checked(t testing.TB, p *pair, opt transition.Options) *transition.Plan {
	t.Helper()
	plan, err := transition.Make(t.Context(), p.before, p.after, opt)
	if err != nil {
		t.Fatal(err)
	}
	withVLs := p.before.SL2VL != nil || p.after.SL2VL != nil // rings count the SLs of both
	if !withVLs && plan.Together != nil && ((plan.Old != nil) != hasRing(t, p.before) ||
		(plan.New != nil) != hasRing(t, p.after)) {
		t.Errorf("%s, %s: rings %v and %v differ from those of the tables", p.fabric, p.what, plan.Old, plan.New)
	}
	if plan.Method != transition.AnyOrder {
		step := transition.Step{SL2VL: withVLs, MFT: transition.AllMFT}
		for s := range p.before.Fabric.NumSwitches() {
			for lid := range max(p.before.LFT.MaxLID, p.after.LFT.MaxLID) + 1 {
				if was, is := p.before.Port(s, lid), p.after.Port(s, lid); lid > 0 && p.after.Known[s] && was != is {
					step.Entries = append(step.Entries, transition.Entry{Switch: s, LID: lid, Old: was, New: is})
				}
			}
		}
		if !withVLs && verified(t, p, []transition.Step{step}, nil) == nil {
			t.Errorf("%s, %s, %v: any order is safe", p.fabric, p.what, plan.Method)
		}
	}
	switch plan.Method {
	case transition.NoMethod:
		return plan
	case transition.OtherLIDs:
		checkOtherLIDs(t, p, plan)
	}
	if err := verified(t, p, plan.Steps, plan.Drained); err != nil {
		t.Errorf("%s, %s, %v: %v", p.fabric, p.what, plan.Method, err)
	}
	return plan
}

// checkOtherLIDs checks that each port has a LID with a path in every step. Other LIDs change from their first to their
// last step.
func checkOtherLIDs(t testing.TB, p *pair, plan *transition.Plan) {
	t.Helper()
	f := p.after.Fabric
	first, last := map[uint16]int{}, map[uint16]int{}
	for i, s := range plan.Steps {
		for _, e := range s.Entries {
			if _, known := first[e.LID]; !known {
				first[e.LID] = i
			}
			last[e.LID] = i
		}
	}
	for _, drained := range plan.Drained {
		port := &f.Ports[f.PortByLID(drained)]
		for i := range plan.Steps {
			has := false
			for lid := port.LID; lid < port.LID+1<<port.LMC; lid++ {
				_, gone := slices.BinarySearch(plan.Drained, lid)
				has = has || !gone || i < first[lid] || i > last[lid]
			}
			if !has {
				t.Errorf("%s, %s: no LID of the port of LID %d has a path in step %d", p.fabric, p.what, drained, i)
			}
		}
	}
}

// TestRandomTransitions checks plans of random pairs of tables independently. A fat tree needs no tree and no drain.
func TestRandomTransitions(t *testing.T) {
	r := testenv.Rand(t)
	count := testenv.Count(t, 50, 1000)
	shares, none, rings, alone := map[string]map[string]int{}, 0, 0, 0
	for n := 0; n < count; {
		kind := kinds[n%len(kinds)]
		specs := fabrics[kind]
		spec := specs[r.IntN(len(specs))]
		if !testenv.Full() && slices.Contains([]string{"fattree:3,8", "mesh:6x6", "random:40,4,80"}, spec) {
			spec = specs[0]
		}
		if strings.HasPrefix(spec, "random") {
			spec += fmt.Sprintf(",seed=%d", 1+r.IntN(20))
		}
		vls := kind != "fat tree" && r.IntN(8) == 0 && spec != "torus:6x5" && spec != "mesh:6x6"
		p := randomPair(t, r, kind, spec, vls)
		if p == nil {
			continue
		}
		n++
		if r.IntN(3) == 0 {
			withGroups(t, r, p.after.Fabric, p.before, p.after)
			kind += " with groups"
		}
		plan := checked(t, p, transition.Options{Limit: 20 * time.Second})
		if plan.Order != transition.Found {
			none++
		}
		if kind == "fat tree" && plan.Order != transition.Found {
			t.Errorf("%s, %s: %v", p.fabric, p.what, plan.Method)
		}
		if vls {
			kind += " with VLs"
		} else if plan.Old != nil || plan.New != nil {
			kind += " with rings"
		}
		if plan.Together != nil && !vls && p.before.MFT == nil {
			if rings++; hasAll(p.before, plan.Together) || hasAll(p.after, plan.Together) {
				alone++ // none was found among the shortest ones
			}
		}
		if plan.Method == transition.NoMethod && !vls {
			t.Errorf("%s, %s: no plan", p.fabric, p.what)
		}
		if shares[kind] == nil {
			shares[kind] = map[string]int{}
		}
		shares[kind][plan.Method.String()]++
	}
	for kind, share := range shares {
		t.Logf("%s: %v", kind, share)
	}
	t.Logf("without an order: %d; of %d rings of both, %d are of one alone", none, rings, alone)
	if alone*10 > rings {
		t.Error("too many rings are no ring of both tables")
	}
}

// TestLostHost plans the change to routes without a host. Its packets count among those of the old tables.
func TestLostHost(t *testing.T) {
	f := treestest.Made(t, "torus:5x5 hosts=2")
	link, _ := f.LinkOf(f.PortAt(f.NodesByDescription("sw-0-1")[0], 2))
	p := &pair{}
	for tables, fab := range map[**fabric.Tables]*fabric.Fabric{
		&p.before: f, &p.after: f.Without([]fabric.Link{link}),
	} {
		r, err := minhop.Engine{}.Route(t.Context(), fab, routing.Options{})
		if err != nil {
			t.Fatal(err)
		}
		*tables = r.Tables
	}
	plan, err := transition.Make(t.Context(), p.before, p.after, transition.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if plan.Together == nil || plan.Method == transition.NoMethod {
		t.Fatalf("%v with a loop %v: the case is too easy", plan.Method, plan.Together)
	}
	if err := verify.Check(t.Context(), p.before, p.after, plan.Steps,
		verify.Options{Drained: plan.Drained}); err != nil {
		t.Error(err)
	}
}
