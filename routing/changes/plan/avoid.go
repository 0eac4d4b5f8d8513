// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/write"
	"example.org/ibconsole/routing/changes/transition"
)

// Avoidance is the search for steps that avoid a credit loop that old and new routes have only together.
type Avoidance struct {
	// Transition has the steps. It is nil if there was no search: the writes also change LinearFDBTops or SL2VL tables,
	// or the loop is not one of unicast packets.
	Transition *transition.Plan
	// NoSettleTime is why it is unknown how long the steps must wait, nil if it is known or they need not wait.
	NoSettleTime error
	// Taken is set if the plan has these steps.
	Taken bool
}

// Drains reports whether some destinations have no path while the steps are written.
func (a *Avoidance) Drains() bool {
	return a.Transition != nil && a.Transition.Method == transition.Drain
}

// AvoidLoop searches for steps that avoid the credit loop that CheckCredits found. If there are any, the plan takes
// them, except that it takes steps that drain destinations only if the argument drain is set. AvoidLoop returns nil if
// the old or the new routes alone have a loop, if there is none, or if LIDs change, which interrupts packets anyway.
func (p *Plan) AvoidLoop(ctx context.Context, live, staged *fabric.Tables, l *Credits, drain bool,
	progress func(done, total int)) (*Avoidance, error) {
	if !l.OnlyTogether() || len(p.Blocks) == 0 || len(p.LIDs) > 0 {
		return nil, nil
	}
	a := &Avoidance{}
	if len(p.Tops)+len(p.SL2VLs)+len(p.Unread) > 0 {
		return a, nil
	}
	t, err := transition.Make(ctx, transition.Assumed(live, staged), staged, transition.Options{
		Progress: func(_ transition.Method, percent int) { progress(percent, 100) },
	})
	switch {
	case errors.Is(err, transition.ErrOtherSubnet) || errors.Is(err, transition.ErrOtherLIDs):
		return a, nil
	case err != nil:
		return nil, err
	case t.Together == nil:
		return a, nil
	}
	if a.Transition = t; t.Method == transition.NoMethod || a.Drains() && !drain {
		return a, nil
	}
	if t.Settles() > 0 {
		if p.SettleTime, a.NoSettleTime = t.SettleTime(live); a.NoSettleTime != nil {
			return a, nil
		}
	}
	a.Taken = true
	p.follow(live, t)
	return a, nil
}

// follow replaces the blocks by those of the steps of a transition. Entries of one block that change in different steps
// are written one after the other.
func (p *Plan) follow(live *fabric.Tables, t *transition.Plan) {
	type key struct {
		num uint16
		sw  fabric.SwitchIndex
	}
	read := map[key]bool{}
	content := map[key]*entries{}
	for i := range p.Blocks {
		b := &p.Blocks[i]
		if k := (key{b.Num, b.Switch}); content[k] == nil {
			content[k], read[k] = b.Old, b.Read
		}
	}
	p.Blocks, p.Steps, p.Extra, p.Settles = nil, len(t.Steps), 0, nil
	writes := map[fabric.SwitchIndex]int{}
	for i := range t.Steps {
		changed := map[key]*entries{}
		for _, e := range t.Steps[i].Entries {
			k := key{e.LID / fabric.BlockSize, e.Switch}
			if changed[k] == nil {
				now := content[k]
				if now == nil { // a block that is equal before and after
					now, read[k] = (*entries)(live.LFT.Block(e.Switch, int(k.num))), true
				}
				next := *now
				content[k], changed[k] = now, &next
			}
			changed[k][e.LID%fabric.BlockSize] = e.New
		}
		var list []write.Block
		for k, next := range changed {
			list = append(list, write.Block{
				Switch: k.sw, Num: k.num, Step: i + 1, Old: content[k], New: next, Read: read[k],
			})
			content[k], read[k] = next, true
			writes[k.sw]++
		}
		slices.SortFunc(list, func(a, b write.Block) int {
			return cmp.Or(cmp.Compare(a.Num, b.Num), cmp.Compare(a.Switch, b.Switch))
		})
		p.Blocks = append(p.Blocks, list...)
		if t.Steps[i].Settle && i < len(t.Steps)-1 {
			p.Settles = append(p.Settles, i+2)
		}
	}
	p.Extra = len(p.Blocks) - len(content)
	for i := range p.Switches {
		p.Switches[i].Blocks = writes[p.Switches[i].Switch]
	}
}
