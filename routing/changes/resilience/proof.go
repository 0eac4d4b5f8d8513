// SPDX-License-Identifier: Apache-2.0

package resilience

import (
	"context"
	"errors"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/changes/diff"
	"example.org/ibconsole/routing/checks/credits"
	"example.org/ibconsole/routing/checks/linkload"
	"example.org/ibconsole/routing/checks/trees"
	"example.org/ibconsole/routing/checks/walk"
)

// Loop is whether the routes after a failure have a credit loop.
type Loop string

// The results of proofs.
const (
	Unproved Loop = ""        // not checked
	NoLoop   Loop = "none"    // none
	HasLoop  Loop = "loop"    // there is one
	Unknown  Loop = "unknown" // data were not read that decide it
	Refused  Loop = "refused" // the engine refuses the subnet
)

const (
	// manySwitches is the number of switches above which only a sample of the failures is proved.
	manySwitches = 200
	// sampled is the number of proofs of a sample, and sampledLarge that above manySwitches.
	sampled, sampledLarge = 1000, 200
)

// prover proves that the routes after failures have no credit loop. The proofs of failures whose new dependencies close
// no loop together with all old ones on a single VL are fast. The others check the routes as a whole.
type prover struct {
	every int // every how many failures are proved
	fast  bool
	route func(ctx context.Context, f *fabric.Fabric) (*fabric.Tables, string, error)
	adapt func(ctx context.Context, f *fabric.Fabric) (*fabric.Tables, error)
}

func newProver(t *fabric.Tables, failures int, kind Kind) prover {
	p := prover{every: 1, fast: t.Adaptive == nil && !t.Partial() && !t.MulticastPartial()}
	switch {
	case len(t.Fabric.Switches) > manySwitches:
		p.every = max(1, (failures+sampledLarge-1)/sampledLarge)
	case kind == Pairs:
		p.every = max(1, (failures+sampled-1)/sampled)
	}
	return p
}

// lidEdits are the changed entries of a LID.
type lidEdits struct {
	lid   uint16
	edits []fabric.Edit
}

// Reroute makes the study prove the routes that the function route computes for the subnet after a failure, instead of
// repaired ones. The argument name names them. The function may be called by several goroutines at once. It returns a
// [routing.RefusedError] if the engine refuses the subnet, and a text for a credit loop that the tables do not show.
func (s *Study) Reroute(name string, route func(ctx context.Context, f *fabric.Fabric) (t *fabric.Tables, loop string,
	err error),
) {
	s.prover.route, s.report.Routes = route, name
}

// Adapt makes the study take the tables of the function adapt for each proved failure whose repaired paths close a
// credit loop. The function adapts the tables of the study to the subnet after the failure, without a credit loop if it
// can. It may be called by several goroutines at once.
func (s *Study) Adapt(adapt func(ctx context.Context, f *fabric.Fabric) (*fabric.Tables, error)) {
	s.prover.adapt = adapt
}

// avoid replaces the verdict of a failure whose repaired paths close a credit loop by that of adapted tables.
func (j *judge) avoid(ctx context.Context, v *Verdict, removed []fabric.Link) error {
	t, err := j.prover.adapt(ctx, j.base.Tables.Fabric.Without(removed))
	if err != nil {
		return err
	}
	if err := v.check(ctx, t); err != nil || v.Loop == HasLoop {
		return err // the paths of the fewest hops stay
	}
	loads, err := linkload.AllToAll(ctx, t, linkload.Options{})
	if err != nil {
		return err
	}
	if v.Lost, err = j.lostBy(ctx, t); err != nil {
		return err
	}
	v.Changed = diff.Count(j.base.Tables, t).Changed
	v.Worst, v.at = 0, fabric.None
	for p, n := range loads.Paths {
		if port := fabric.PortIndex(p); n > v.Worst && linkload.ClassOf(t.Fabric, port) == linkload.BetweenSwitches {
			v.Worst, v.at = n, port
		}
	}
	return nil
}

// lostBy counts the paths that arrive without failures and do not arrive by the tables t after the present failure.
func (j *judge) lostBy(ctx context.Context, t *fabric.Tables) (lost int64, err error) {
	after, err := trees.NewForest(ctx, t)
	if err != nil {
		return 0, err
	}
	walker := after.NewWalker()
	arrives := func(w *trees.Walker, lid uint16, group int, to walk.Target) bool {
		at := j.ends.Groups[group].At
		if at < 0 {
			return at == to
		}
		_, end := w.PathTo(lid, at)
		return end == to
	}
	for _, l := range j.ends.LIDs {
		to := walk.ToPort(j.ends.Ports[l.End])
		for g := range j.ends.Groups {
			n := j.ends.Sources(g, l.End)
			if n == 0 || !arrives(j.walker, l.LID, g, to) {
				continue
			}
			if !j.gone[l.End] && arrives(walker, l.LID, g, to) {
				n = int(j.less[g])
			}
			lost += int64(n)
		}
	}
	return lost, nil
}

// prove sets the result of the proof of a failure.
func (j *judge) prove(ctx context.Context, v *Verdict, removed []fabric.Link, changed []lidEdits) error {
	if j.prover.route == nil {
		return j.proveRepair(ctx, v, removed, changed)
	}
	t, loop, err := j.prover.route(ctx, j.base.Tables.Fabric.Without(removed))
	if _, refused := errors.AsType[*routing.RefusedError](err); refused {
		v.Loop = Refused
		return nil
	}
	if err == nil {
		err = v.check(ctx, t)
	}
	if err == nil && loop != "" {
		v.Loop, v.Why = HasLoop, loop
	}
	return err
}

// proveRepair is prove for repaired routes.
func (j *judge) proveRepair(ctx context.Context, v *Verdict, removed []fabric.Link, changed []lidEdits) error {
	if j.prover.fast && j.order == nil && !j.cyclic {
		one := *j.base.Tables
		one.SL2VL, one.SLs, one.Unread = nil, nil, fabric.Unread{} // without a loop on one VL, there is none on several
		order, err := credits.NewOrder(ctx, &one, credits.Options{})
		if err != nil {
			return err
		}
		j.order, j.cyclic = order, order == nil
	}
	if j.order != nil {
		mark, free := j.order.Mark(), true
		for _, l := range changed {
			if free = j.order.AddPaths(j.base.Wires, l.lid, l.edits); !free {
				break
			}
		}
		if j.order.TakeBack(mark); free {
			v.Loop = NoLoop
			return nil
		}
	}
	if err := v.check(ctx, j.after(removed, changed)); err != nil || v.Loop != HasLoop || j.prover.adapt == nil {
		return err
	}
	looped, err := j.loopsBefore(ctx)
	if err != nil || looped {
		return err
	}
	return j.avoid(ctx, v, removed)
}

// loopsBefore reports whether the tables have a credit loop without a failure, or whether this is unknown.
func (s *Study) loopsBefore(ctx context.Context) (bool, error) {
	s.looped.once.Do(func() {
		var r *credits.Result
		if r, s.looped.err = credits.Check(ctx, s.base.Tables, credits.Options{}); r != nil {
			s.looped.is = r.Verdict != credits.None
		}
	})
	return s.looped.is, s.looped.err
}

// check checks the routes after the failure as a whole.
func (v *Verdict) check(ctx context.Context, t *fabric.Tables) error {
	r, err := credits.Check(ctx, t, credits.Options{})
	switch {
	case err != nil:
		return err
	case r.Verdict == credits.None:
		v.Loop = NoLoop
	case r.Verdict == credits.Unknown:
		v.Loop = Unknown
	default:
		v.Loop = HasLoop
	}
	return nil
}

// after returns the tables after a failure.
func (j *judge) after(removed []fabric.Link, changed []lidEdits) *fabric.Tables {
	t := *j.base.Tables
	t.Fabric, t.LFT = t.Fabric.Without(removed), t.LFT.Clone()
	for _, l := range changed {
		for _, e := range l.edits {
			t.LFT.Row(e.Switch)[e.LID] = e.Port
		}
	}
	return &t
}

// VLs returns the number of VLs of [credits.Layers] for the routes after failure n. It returns 0 if no number of VLs
// suffices. It takes a routing and O(LIDs x switches x VLs).
func (s *Study) VLs(ctx context.Context, n int) (int, error) {
	removed := s.all.removed(n)
	var t *fabric.Tables
	if s.prover.route != nil {
		routed, _, err := s.prover.route(ctx, s.base.Tables.Fabric.Without(removed))
		if err != nil {
			return 0, err
		}
		t = routed
	} else {
		j := s.newJudge()
		j.simulate(ctx, n)
		t = j.after(removed, j.edits)
	}
	return credits.Layers(ctx, t)
}
