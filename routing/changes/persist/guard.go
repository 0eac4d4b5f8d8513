// SPDX-License-Identifier: Apache-2.0

package persist

import (
	"context"
	"errors"
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/changes/diff"
	"example.org/ibconsole/routing/changes/incremental"
	"example.org/ibconsole/routing/checks/credits"
)

// Repair is the method that replaced broken paths. The constants are ordered from the fewest changed entries to the
// most.
type Repair string

// The repairs.
const (
	// FewestHops gives broken paths the fewest hops.
	FewestHops Repair = "paths of the fewest hops"
	// LoopFree gives broken paths the fewest hops without a credit loop. The new paths close no loop among themselves
	// nor together with the old paths that they replace.
	LoopFree Repair = "paths that close no credit loop"
	// LoopFreeAfter gives broken paths the fewest hops for which the new tables have no credit loop.
	LoopFreeAfter Repair = "paths that close no credit loop with each other"
	// LoopFreeLIDs gives all paths to the LIDs of broken paths the fewest hops without a credit loop.
	LoopFreeLIDs Repair = "other paths to the LIDs of broken paths"
	// OfEngine replaces broken paths by the entries that the engine computes for the changed subnet.
	OfEngine Repair = "the engine's entries for the broken paths"
	// ColumnsOfEngine takes all entries for the LIDs of broken paths from the engine.
	ColumnsOfEngine Repair = "the engine's entries for the LIDs of broken paths"
	// ByEngine takes all entries from the engine.
	ByEngine Repair = "all entries by the engine"
	// FewerByEngine takes all entries from the engine, because this changes fewer than any repair.
	FewerByEngine Repair = "all entries by the engine, which changes fewer entries"
)

// Guard adapts unicast tables to a changed subnet without adding a credit loop.
type Guard struct {
	// Old are the tables that were valid before the change, with their fabric.
	Old *fabric.Tables
	// Credits checks tables for credit loops, like [credits.Check].
	Credits func(context.Context, *fabric.Tables) (*credits.Result, error)
	// Full routes the changed subnet by an engine.
	Full func(context.Context) (*routing.Result, error)
}

// Guarded is what [Guard.Repair] returns.
type Guarded struct {
	*incremental.Result
	Repair Repair
	// Loop is the result of the check of the new tables. Before is the result of the check of the old tables, or the
	// zero Result if that check was not needed. Full is the full route by the engine, or nil if it was not needed.
	Loop, Before *credits.Result
	Full         *routing.Result
	// Why lists the reasons why repairs with fewer changes were not taken.
	Why []string
}

// Repair returns tables without a credit loop that change as few entries as possible. The argument candidate is a
// result of [incremental.Route] from the old tables. Repair keeps this result if it has no credit loop, if a check
// gives no certain answer, or if the old tables have a credit loop as well, unless a full route changes fewer entries.
// It fails with the errors of Credits and ctx.
func (g *Guard) Repair(ctx context.Context, candidate *incremental.Result) (*Guarded, error) {
	laid := Transfer(candidate.Tables.Fabric, g.Old)
	laid.MFT = nil
	out, err := g.repair(ctx, laid, candidate)
	if err != nil {
		return nil, err
	}
	return out, g.preferFull(ctx, laid, out)
}

func (g *Guard) repair(ctx context.Context, laid *fabric.Tables, candidate *incremental.Result) (*Guarded, error) {
	f := candidate.Tables.Fabric
	foreign := g.Old.SLs != nil && hasForeignLIDs(f, g.Old.Fabric)
	out := &Guarded{Result: candidate, Repair: FewestHops, Before: &credits.Result{}}
	if !foreign && g.Old.SLs != nil {
		candidate.Tables.SLs, candidate.Tables.SL2VL, candidate.Tables.Unread = laid.SLs, laid.SL2VL, laid.Unread
	}
	loop, err := g.Credits(ctx, candidate.Tables)
	if err != nil {
		return nil, err
	}
	if out.Loop = loop; loop.Verdict != credits.Loop && !foreign {
		return out, nil
	}
	if out.Before, err = g.Credits(ctx, g.Old); err != nil {
		return nil, err
	}
	if out.Before.Verdict != credits.None {
		return out, nil
	}
	broken, err := incremental.NewBroken(ctx, laid, g.Old.Fabric)
	if err != nil {
		return nil, err
	}
	if foreign {
		out.Why = append(out.Why, "the service levels of new LIDs are the engine's")
	} else {
		out.Why = append(out.Why, fmt.Sprintf("%s have a credit loop over %d links", FewestHops, len(loop.Ring)))
		if done, err := g.loopFree(ctx, broken, candidate, out); done || err != nil {
			return out, err
		}
	}
	return out, g.byEngine(ctx, broken, out)
}

// loopFree tries repairs by paths that close no credit loop, and reports whether one succeeded.
func (g *Guard) loopFree(ctx context.Context, broken *incremental.Broken, candidate *incremental.Result,
	out *Guarded) (bool, error) {
	for _, try := range []struct {
		scope incremental.Scope
		by    Repair
	}{
		{incremental.AnyOrder, LoopFree},
		{incremental.BrokenPaths, LoopFreeAfter},
		{incremental.BrokenLIDs, LoopFreeLIDs},
	} {
		res, err := broken.RouteAcyclic(ctx, try.scope, candidate.Unreached)
		if errors.Is(err, incremental.ErrCycle) {
			out.Why = append(out.Why, fmt.Sprintf("%s do not exist (%v)", try.by, err))
			continue
		}
		if err != nil {
			return false, err
		}
		if done, err := g.accept(ctx, res, try.by, out); done || err != nil {
			return done, err
		}
	}
	return false, nil
}

// accept stores a repair in out if it has no credit loop, and reports whether it did.
func (g *Guard) accept(ctx context.Context, res *incremental.Result, by Repair, out *Guarded) (bool, error) {
	loop, err := g.Credits(ctx, res.Tables)
	if err != nil {
		return false, err
	}
	if loop.Verdict == credits.Loop {
		out.Why = append(out.Why, fmt.Sprintf("%s have a credit loop over %d links", by, len(loop.Ring)))
		return false, nil
	}
	res.Changes = out.Changes
	res.Tables.Origin = out.Tables.Origin
	out.Result, out.Repair, out.Loop = res, by, loop
	return true, nil
}

// byEngine takes as few entries of a full route as needed to have no credit loop. If the full route has a credit loop
// itself, the repair by the fewest hops stays.
func (g *Guard) byEngine(ctx context.Context, broken *incremental.Broken, out *Guarded) error {
	full, err := g.Full(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return err
		}
		out.Why = append(out.Why, fmt.Sprintf("no engine routes the subnet (%v)", err))
		return nil
	}
	out.Full = full
	if laid := broken.Tables; full.Tables.Fabric == laid.Fabric && sameMappings(laid, full.Tables) {
		for _, by := range []Repair{OfEngine, ColumnsOfEngine} {
			res := broken.Graft(full.Tables, by == ColumnsOfEngine)
			if done, err := g.accept(ctx, res, by, out); done || err != nil {
				return err
			}
		}
	} else {
		out.Why = append(out.Why, "the engine would change the SL2VL tables of the subnet")
	}
	tables := *full.Tables
	_, err = g.accept(ctx, &incremental.Result{Tables: &tables}, ByEngine, out)
	return err
}

// hasForeignLIDs reports whether f has LIDs of ports that another fabric does not have.
func hasForeignLIDs(f, was *fabric.Fabric) bool {
	for _, e := range f.EndPorts {
		if p := &f.Ports[e]; p.LID != 0 && was.PortByGUID(p.GUID) == fabric.None {
			return true
		}
	}
	return false
}

// sameMappings reports whether the SL2VL tables of two tables of one fabric agree on all ports of switches that packets
// use.
func sameMappings(a, b *fabric.Tables) bool {
	if a.SL2VL == nil || b.SL2VL == nil {
		return a.SL2VL == b.SL2VL
	}
	for m := range diff.Mappings(a, b) {
		if a.Fabric.Nodes[m.NodeOld].IsSwitch() && m.In != m.Out && m.Changed() {
			return false
		}
	}
	return true
}
