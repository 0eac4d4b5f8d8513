// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/credits"
	"example.org/ibconsole/routing/plan"
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

// checkCredits looks for credit loops of old and new routes together. The lanes are
// those of the live subnet, or where they were not read those of the staged
// tables, for a commit does not write lanes.
func checkCredits(ctx context.Context, p *plan.Plan, live, staged *fabric.Tables) (*ChangeCredits, error) {
	if len(p.Blocks)+len(p.Tops) == 0 {
		return nil, nil
	}
	after, before := p.After(live), *live
	if len(p.LIDs) > 0 {
		if !fabric.SameLinks(live.Fabric, staged.Fabric) {
			return &ChangeCredits{Unchecked: true}, nil
		}
		after.Fabric = staged.Fabric
	}
	if before.SL2VL == nil && sameNodes(live.Fabric, staged.Fabric) {
		before.SL2VL = staged.SL2VL
	}
	if before.SLs == nil {
		before.SLs = staged.SLs
	}
	after.SL2VL, after.SLs = before.SL2VL, before.SLs
	if staged.SLs != nil {
		after.SLs = staged.SLs
	}
	r, err := credits.CheckChange(ctx, &before, after, p.Turns(live), credits.Options{})
	if err != nil || r.Ring == nil {
		return &ChangeCredits{}, err
	}
	c := &ChangeCredits{Fabric: live.Fabric, Ring: r.Ring}
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
