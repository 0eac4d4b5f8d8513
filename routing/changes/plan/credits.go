// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"context"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/checks/credits"
)

// Credits says whether routes can wait for one another in a ring while they change.
type Credits struct {
	// Fabric is that of the ports in Ring.
	Fabric *fabric.Fabric
	// Ring is a shortest credit loop of the old and the new routes together, nil for
	// none: with SL 0 and VL 0 where others were not read.
	Ring []credits.Dependency
	// Loop says whether there is one together, Old and New in those alone, and Unread
	// what would have to be known where that is Unknown.
	Loop, Old, New credits.Verdict
	Unread         fabric.Unread
	// comes says that with SL 0 and VL 0 where others were not read the new ones have one, and the old ones not.
	comes bool
	// Unchecked says that LIDs change together with links, so that nobody looked.
	Unchecked bool
}

// Lasting reports whether the new routes alone have, or may have, a loop that the old have not.
func (c *Credits) Lasting() bool { return c != nil && c.comes }

// CheckCredits looks for credit loops of old and new routes together, nil where no route changes. Where SL2VL
// tables change, they do so before the routes, or if only that is free of loops behind them.
func (p *Plan) CheckCredits(ctx context.Context, live, staged *fabric.Tables) (*Credits, error) {
	if len(p.Blocks)+len(p.Tops)+len(p.SL2VLs)+len(p.MFTs) == 0 {
		return nil, nil
	}
	if len(p.LIDs) > 0 && !fabric.SameLinks(live.Fabric, staged.Fabric) {
		return &Credits{Unchecked: true}, nil
	}
	c, err := p.checkPhases(ctx, live, staged)
	if err != nil || c.Ring == nil || len(p.SL2VLs) == 0 {
		return c, err
	}
	p.OrderSL2VLs(true)
	late, err := p.checkPhases(ctx, live, staged)
	if err != nil || late.Ring == nil {
		return late, err
	}
	p.OrderSL2VLs(false)
	return c, nil
}

// checkPhases looks at SL2VL tables and routes in the order in which they change.
func (p *Plan) checkPhases(ctx context.Context, live, staged *fabric.Tables) (*Credits, error) {
	before, after := *live, p.After(live)
	if len(p.LIDs) > 0 {
		after.Fabric = staged.Fabric
	}
	if before.SL2VL == nil && fabric.SameNodes(live.Fabric, staged.Fabric) { // they stay, and were not read
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
	c := &Credits{Fabric: live.Fabric, Ring: ring, Loop: credits.VerdictOf(ring), Unread: live.Unread}
	if err := c.alone(ctx, &before, after); err != nil {
		return nil, err
	}
	if !live.Unread.Any() && !staged.Unread.Any() {
		return c, nil
	}
	if after.Unread = staged.Unread; !c.Unread.Any() {
		c.Unread = staged.Unread
	}
	return c, c.judge(ctx, live, after, p.Turns(live))
}

// alone looks at the old and the new routes alone, where together they have a loop.
func (c *Credits) alone(ctx context.Context, before, after *fabric.Tables) error {
	if c.Ring == nil {
		return nil
	}
	for _, alone := range []struct {
		tables  *fabric.Tables
		verdict *credits.Verdict
	}{{before, &c.Old}, {after, &c.New}} {
		known := *alone.tables
		known.Unread = fabric.Unread{}
		r, err := credits.Check(ctx, &known, credits.Options{})
		if err != nil {
			return err
		}
		*alone.verdict = credits.VerdictOf(r.Ring)
	}
	c.comes = c.New == credits.Loop && c.Old == credits.None
	return nil
}

// judge says what holds whatever is unread of the old or the new routes.
func (c *Credits) judge(ctx context.Context, before, after *fabric.Tables, turns *fabric.LFT) error {
	one, other := *before, *after
	for _, t := range []*fabric.Tables{&one, &other} { // on one VL there are all dependencies that there can be
		t.SL2VL, t.SLs = nil, nil
	}
	worst, err := credits.CheckChange(ctx, &one, &other, turns, credits.Options{})
	if err != nil {
		return err
	}
	if worst.Verdict == credits.None {
		c.Loop, c.Old, c.New = credits.None, credits.None, credits.None
		return nil
	}
	old, err := credits.Check(ctx, before, credits.Options{})
	if err != nil {
		return err
	}
	new, err := credits.Check(ctx, after, credits.Options{})
	if err != nil {
		return err
	}
	c.Old, c.New, c.Loop = old.Verdict, new.Verdict, credits.Unknown
	switch {
	case new.Ring != nil:
		c.Loop, c.Ring = credits.Loop, new.Ring
	case old.Ring != nil:
		c.Loop, c.Ring = credits.Loop, old.Ring
	}
	return nil
}
