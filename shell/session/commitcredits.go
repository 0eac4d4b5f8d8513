// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/changes/plan"
	"example.org/ibconsole/routing/checks/credits"
)

// ChangeCredits says whether routes can wait for one another in a ring while they
// change.
type ChangeCredits struct {
	// Fabric is that of the ports in Ring.
	Fabric *fabric.Fabric
	// Ring is a shortest credit loop of the old and the new routes together, nil for
	// none; Old and New say that there is one in those alone.
	Ring     []credits.Dependency
	Old, New bool
	// Unchecked says that LIDs change together with links, so that nobody looked.
	Unchecked bool
}

// lasting says that the new routes alone have a loop that the old have not.
func (c *ChangeCredits) lasting() bool { return c != nil && c.Ring != nil && c.New && !c.Old }

// checkCredits looks for credit loops of old and new routes together. Where lanes
// change, they do so before the routes, or if only that is free of loops behind
// them.
func checkCredits(ctx context.Context, p *plan.Plan, live, staged *fabric.Tables) (*ChangeCredits, error) {
	if len(p.Blocks)+len(p.Tops)+len(p.SL2VLs)+len(p.MFTs) == 0 {
		return nil, nil
	}
	if len(p.LIDs) > 0 && !fabric.SameLinks(live.Fabric, staged.Fabric) {
		return &ChangeCredits{Unchecked: true}, nil
	}
	c, err := checkPhases(ctx, p, live, staged)
	if err != nil || c.Ring == nil || len(p.SL2VLs) == 0 {
		return c, err
	}
	p.OrderSL2VLs(true)
	late, err := checkPhases(ctx, p, live, staged)
	if err != nil || late.Ring == nil {
		return late, err
	}
	p.OrderSL2VLs(false)
	return c, nil
}

// checkPhases looks at lanes and routes in the order in which they change.
func checkPhases(ctx context.Context, p *plan.Plan, live, staged *fabric.Tables) (*ChangeCredits, error) {
	before, after := *live, p.After(live)
	if len(p.LIDs) > 0 {
		after.Fabric = staged.Fabric
	}
	if before.SL2VL == nil && sameNodes(live.Fabric, staged.Fabric) { // they stay, and were not read
		before.SL2VL, after.SL2VL = staged.SL2VL, staged.SL2VL
	}
	if before.SLs == nil {
		before.SLs = staged.SLs
	}
	if after.SLs = before.SLs; staged.SLs != nil {
		after.SLs = staged.SLs
	}
	early, late := before, *after
	early.SL2VL = p.SL2VLsDuring(before.SL2VL)
	late.SL2VL = early.SL2VL
	var ring []credits.Dependency
	for _, phase := range []struct {
		before, after *fabric.Tables
		turns         *fabric.LFT
	}{{&early, &late, p.Turns(live)}, {&before, &early, nil}, {&late, after, nil}} {
		if phase.turns == nil && phase.before.SL2VL == phase.after.SL2VL {
			continue
		}
		r, err := credits.CheckChange(ctx, phase.before, phase.after, phase.turns, credits.Options{})
		if err != nil {
			return nil, err
		}
		if ring = r.Ring; ring != nil {
			break
		}
	}
	c := &ChangeCredits{}
	if ring == nil {
		return c, nil
	}
	c.Fabric, c.Ring = live.Fabric, ring
	for _, alone := range []struct {
		tables *fabric.Tables
		loop   *bool
	}{{&before, &c.Old}, {after, &c.New}} {
		r, err := credits.Check(ctx, alone.tables, credits.Options{})
		if err != nil {
			return nil, err
		}
		*alone.loop = r.Ring != nil
	}
	return c, nil
}

func sameNodes(f, g *fabric.Fabric) bool {
	return slices.EqualFunc(f.Nodes, g.Nodes, func(a, b fabric.Node) bool { return a.GUID == b.GUID && a.FirstPort == b.FirstPort })
}
