// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"context"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/checks/credits"
)

// Credits is the result of a search for credit loops among routes while they change.
type Credits struct {
	// Fabric is the fabric of the ports in Ring.
	Fabric *fabric.Fabric
	// Ring is a shortest credit loop of the old and the new routes together, or nil. The search uses SL 0 and VL 0
	// where service levels or VLs were not read.
	Ring []credits.Dependency
	// Loop is the verdict on the old and the new routes together. Old and New are the verdicts on the old and on the
	// new routes alone. Unread lists the data that must be read to decide verdicts that are Unknown.
	Loop, Old, New credits.Verdict
	Unread         fabric.Unread
	// addsLoop is set if the new routes have a credit loop and the old routes have none. SL 0 and VL 0 are used where
	// service levels or VLs were not read.
	addsLoop bool
	// together is set if the old and the new routes have a credit loop together, and neither has one alone, with SL 0
	// and VL 0 where service levels or VLs were not read.
	together bool
	// Unchecked is set if LIDs change together with links. Such changes are not checked.
	Unchecked bool
}

// Channels returns the channels of Ring.
func (c *Credits) Channels() (ring []credits.Channel) {
	for _, d := range c.Ring {
		ring = append(ring, d.From)
	}
	return ring
}

// AddsLoop reports whether the new routes alone have, or may have, a credit loop that the old routes do not have.
func (c *Credits) AddsLoop() bool { return c != nil && c.addsLoop }

// OnlyTogether reports whether the old and the new routes together have, or may have, a credit loop that neither has
// alone.
func (c *Credits) OnlyTogether() bool { return c != nil && c.together && c.Loop != credits.None }

// CheckCredits searches for credit loops of the old and the new routes together. It returns nil if no table changes. It
// orders the plan so that SL2VL tables change before the routes, or after the routes if only that order is free of
// loops.
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

// checkPhases checks the phases of the plan in order: the changes of SL2VL tables before the routes, the changes of
// routes, and the later changes of SL2VL tables.
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
	}{{&early, &late, p.EntrySteps(live)}, {&before, &early, nil}, {&late, after, nil}} {
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
	return c, c.assessUnread(ctx, live, after, p.EntrySteps(live))
}

// alone checks the old and the new routes separately if they have a credit loop together.
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
	c.together = c.New == credits.None && c.Old == credits.None
	c.addsLoop = c.New == credits.Loop && c.Old == credits.None
	return nil
}

// assessUnread sets the verdicts for routes of which parts were not read. A verdict must hold for all possible values
// of the unread parts.
func (c *Credits) assessUnread(ctx context.Context, before, after *fabric.Tables, turns *fabric.LFT) error {
	one, other := *before, *after
	for _, t := range []*fabric.Tables{&one, &other} { // a single VL has all possible dependencies
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
