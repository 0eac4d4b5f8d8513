// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/write"
	"example.org/ibconsole/routing/changes/transition"
	"example.org/ibconsole/routing/changes/transition/verify"
	"example.org/ibconsole/routing/checks/credits"
)

// Avoidance is the search for steps that avoid credit loops that neither the old nor the new routes have alone.
type Avoidance struct {
	// Transition has the steps. It is nil if there was no search, because the writes also change other data.
	Transition *transition.Plan
	// Ring is such a loop, if any order is written.
	Ring []credits.Channel
	// NoSettleTime is why it is unknown how long the steps must wait, nil if it is known or they need not wait.
	NoSettleTime error
	// Fault is the result of the independent check of the steps, nil if it found no fault.
	Fault error
	// Taken is set if the plan has these steps.
	Taken bool
}

// Drains reports whether some destinations have no path while the steps are written.
func (a *Avoidance) Drains() bool {
	return a.Transition != nil && len(a.Transition.Drained) > 0
}

// AvoidOptions controls [Plan.AvoidLoop].
type AvoidOptions struct {
	// Drain permits steps that drain destinations.
	Drain bool
	// GroupSL returns the SL of a multicast group, see [transition.Options].
	GroupSL func(mlid uint16) uint8
	// Progress is called with the share of ordered entries, in percent, and 100.
	Progress func(done, total int)
}

// AvoidLoop searches for steps that avoid credit loops that neither the old nor the new routes have alone. If there are
// any, a checker that knows nothing of the search proves them, and the plan takes them, except that it takes steps that
// drain destinations only if the options permit this. AvoidLoop returns nil if the plan needs no such steps, if the new
// routes bring a loop, or if LIDs change, which interrupts packets anyway. The argument l is the result of
// CheckCredits.
func (p *Plan) AvoidLoop(ctx context.Context, live, staged *fabric.Tables, l *Credits,
	opt AvoidOptions) (*Avoidance, error) {
	if l == nil || l.Unchecked || len(p.LIDs) > 0 || l.New == credits.Loop && l.Old == credits.None ||
		!p.mayMix(live, staged, l) {
		return nil, nil
	}
	a := &Avoidance{Ring: l.Channels()}
	if len(p.Unread) > 0 {
		return a.unless(!l.OnlyTogether()), nil
	}
	before := transition.Assumed(live, staged)
	t, err := transition.Make(ctx, before, staged, transition.Options{
		GroupSL: opt.GroupSL, Progress: func(_ transition.Method, percent int) { opt.Progress(percent, 100) },
	})
	switch {
	case errors.Is(err, transition.ErrOtherSubnet) || errors.Is(err, transition.ErrOtherLIDs):
		return a.unless(!l.OnlyTogether()), nil
	case err != nil:
		return nil, err
	case t.Together == nil:
		return a.unless(!l.OnlyTogether()), nil
	}
	a.Ring = t.Together
	if a.Transition = t; t.Method == transition.NoMethod || a.Drains() && !opt.Drain {
		return a, nil
	}
	if t.Settles() > 0 {
		if p.SettleTime, a.NoSettleTime = t.SettleTime(live); a.NoSettleTime != nil {
			return a, nil
		}
	}
	a.Fault = verify.Check(ctx, before, staged, t.Steps, verify.Options{
		Drained: t.Drained, GroupSL: opt.GroupSL, Progress: opt.Progress,
	})
	if ctx.Err() != nil {
		return nil, fmt.Errorf("check the steps: %w", ctx.Err())
	}
	if a.Fault != nil {
		return a, nil
	}
	a.Taken = true
	return a, p.follow(ctx, live, t)
}

// mayMix reports whether there may be a credit loop while tables change. CheckCredits follows no packets from old to
// new entries where there are VLs, nor from old to new branches of multicast trees.
func (p *Plan) mayMix(live, staged *fabric.Tables, l *Credits) bool {
	switch {
	case len(p.Blocks)+len(p.SL2VLs)+len(p.MFTs) == 0:
		return false
	case l.Ring != nil:
		return l.Loop != credits.None
	case len(p.MFTs) > 0:
		return true
	}
	for _, t := range []*fabric.Tables{live, staged} {
		if t.SL2VL != nil && t.SL2VL.HighestVL() > 0 {
			return true
		}
	}
	return false
}

// unless returns nil if the argument is true.
func (a *Avoidance) unless(none bool) *Avoidance {
	if none {
		return nil
	}
	return a
}

// blockKey identifies a block of a switch.
type blockKey struct {
	num uint16
	sw  fabric.SwitchIndex
}

// contents holds what blocks contain after the steps so far, and whether this was read or follows from earlier writes.
type contents struct {
	live *fabric.Tables
	now  map[blockKey]*entries
	read map[blockKey]bool
}

// writes returns the writes of a step.
func (c *contents) writes(changed []transition.Entry, step int) (list []write.Block) {
	next := map[blockKey]*entries{}
	for k, block := range c.now {
		if !c.read[k] { // a higher LinearFDBTop brings its unknown entries into force
			next[k] = new(*block)
		}
	}
	for _, e := range changed {
		k := blockKey{e.LID / fabric.BlockSize, e.Switch}
		if next[k] == nil {
			if c.now[k] == nil { // a block that is equal before and after
				c.now[k], c.read[k] = (*entries)(c.live.LFT.Block(e.Switch, int(k.num))), true
			}
			block := *c.now[k]
			next[k] = &block
		}
		next[k][e.LID%fabric.BlockSize] = e.New
	}
	for k, block := range next {
		list = append(list, write.Block{
			Switch: k.sw, Num: k.num, Step: step, Old: c.now[k], New: block, Read: c.read[k],
		})
		c.now[k], c.read[k] = block, true
	}
	slices.SortFunc(list, func(a, b write.Block) int {
		return cmp.Or(cmp.Compare(a.Num, b.Num), cmp.Compare(a.Switch, b.Switch))
	})
	return list
}

// follow replaces the writes by those of the steps of a transition. Entries of one block that change in different steps
// are written one after the other.
func (p *Plan) follow(ctx context.Context, live *fabric.Tables, t *transition.Plan) error {
	c := &contents{live, map[blockKey]*entries{}, map[blockKey]bool{}}
	for i := range p.Blocks {
		b := &p.Blocks[i]
		if k := (blockKey{b.Num, b.Switch}); c.now[k] == nil {
			c.now[k], c.read[k] = b.Old, b.Read
		}
	}
	p.Blocks, p.Steps, p.Settles, p.ReadSteps = nil, 0, nil, true
	num, settle := 0, false
	for _, step := range t.Steps {
		if step.MFT == transition.NoMFT { // CutFirst orders the others
			if num++; settle {
				p.Settles = append(p.Settles, num)
			}
			if list := c.writes(step.Entries, num); len(list) > 0 {
				p.Blocks, p.Steps = append(p.Blocks, list...), num
			}
			if step.SL2VL {
				p.changeSL2VLs(num)
			}
		}
		settle = step.Settle
	}
	p.Extra = len(p.Blocks) - len(c.now)
	writes := map[fabric.SwitchIndex]int{}
	for i := range p.Blocks {
		writes[p.Blocks[i].Switch]++
	}
	for i := range p.Switches {
		p.Switches[i].Blocks = writes[p.Switches[i].Switch]
	}
	if t.Steps[0].MFT == transition.CutMFT {
		p.CutFirst = true
		return p.maker.groups(ctx, true)
	}
	return nil
}

// changeSL2VLs plans all changes of SL2VL tables in one step.
func (p *Plan) changeSL2VLs(step int) {
	p.SL2VLs = slices.Clone(p.sl2vls)
	for i := range p.SL2VLs {
		p.SL2VLs[i].Step = step
	}
}
