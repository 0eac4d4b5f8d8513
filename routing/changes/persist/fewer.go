// SPDX-License-Identifier: Apache-2.0

package persist

import (
	"context"
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/changes/diff"
	"example.org/ibconsole/routing/changes/incremental"
)

// preferFull replaces a repair by a full route of the engine that changes fewer entries, and has neither a credit loop
// nor an unreachable LID more. Other SLs or SL2VL tables are changes, too, so it takes no full route with other ones.
// It computes the full route only if the repair changes more than every route must change.
func (g *Guard) preferFull(ctx context.Context, laid *fabric.Tables, out *Guarded) error {
	changed, must := g.changes(out.Tables)
	if changed == must || out.Repair == ByEngine {
		return nil
	}
	if out.Full == nil {
		full, err := g.Full(ctx)
		if err != nil {
			return ctx.Err() // if no engine routes the subnet, the repair stays
		}
		out.Full = full
	}
	of := out.Full.Tables
	fewer, _ := g.changes(of)
	if fewer >= changed {
		return nil
	}
	if why, err := g.worse(ctx, laid, of, out); err != nil || why != "" {
		out.Why = append(out.Why, fmt.Sprintf("%s, %d instead of %d, %s", ByEngine, fewer, changed, why))
		return err
	}
	tables := *of
	out.Result = &incremental.Result{Tables: &tables, Unreached: out.Unreached, Changes: out.Changes,
		Looked: out.Looked}
	out.Repair = FewerByEngine
	return nil
}

// worse returns why a full route is no replacement for a repair, or "". If it is one, worse sets the credit loops and
// the unreachable LIDs of the full route.
func (g *Guard) worse(ctx context.Context, laid, full *fabric.Tables, out *Guarded) (string, error) {
	if full.Fabric != laid.Fabric || !sameMappings(laid, full) {
		return "would change the SL2VL tables of the subnet", nil
	}
	if n, known := diff.PathSLs(laid, full); n > 0 || !known {
		return "would change the service levels of " + prose.Count(n, "path"), nil
	}
	lost, err := incremental.Lost(ctx, full)
	if err != nil {
		return "", err
	}
	if len(lost) > len(out.Unreached) {
		return fmt.Sprintf("leave %d without a path", len(lost)), nil
	}
	loop, err := g.Credits(ctx, full)
	if err != nil {
		return "", err
	}
	if loop.Verdict != out.Loop.Verdict {
		return "have a credit loop, or it is unknown whether they have one", nil
	}
	out.Loop, out.Unreached = loop, lost
	return "", nil
}

// changes counts the entries that tables change, and how many of these entries every route must change: the entries
// that lead to a lost link, and the entries that did not exist.
func (g *Guard) changes(t *fabric.Tables) (changed, must int) {
	was, f := g.Old.Fabric, t.Fabric
	guid := func(f *fabric.Fabric, n fabric.NodeIndex, port uint8) uint64 {
		if p := f.PortAt(n, int(port)); p != fabric.None {
			if peer := f.PeerNode(p); peer != fabric.None {
				return f.Nodes[peer].GUID
			}
		}
		return 0
	}
	for e := range diff.Changes(g.Old, t) {
		changed++
		if e.Old == fabric.NoPath || e.Old != 0 &&
			guid(was, was.Switches[e.SwitchOld], e.Old) != guid(f, f.Switches[e.SwitchNew], e.Old) {
			must++
		}
	}
	return changed, must
}
