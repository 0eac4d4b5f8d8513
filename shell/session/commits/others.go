// SPDX-License-Identifier: Apache-2.0

package commits

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/write"
	"example.org/ibconsole/history"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/changes/plan"
	"example.org/ibconsole/shell/session/journal"
)

// Others describes changes that other programs wrote after the tables of a commit were computed, and that the commit
// would overwrite.
type Others struct {
	write.Conflicts
	Recorded  int    // how many of them the journal has already, from the commit that is to be finished
	Who       string // who probably wrote it
	Restarted bool   // the what-if starts from what the switches hold now
}

func (o *Others) err() error {
	return fmt.Errorf("nothing was written: the switches no longer hold the tables from which the staged "+
		"tables were computed. %s since, by %s: %s", prose.Verb(o.Count, "entry", "was changed", "were changed"), o.Who,
		o.First(journal.MaxExamples))
}

// findOthers compares the state that the target was computed for with the contents of the switches, at every place that
// the plan writes.
func (c *commit) findOthers(ctx context.Context, p *plan.Plan) error {
	o := Others{}
	recorded, held := map[[3]string]bool{}, c.target.HeldOn()
	if c.of.id != 0 {
		store, err := c.History()
		if err != nil {
			return err
		}
		all, err := store.Journal(ctx, c.Subnet())
		if err != nil {
			return err
		}
		for i := range all {
			j := &all[i]
			if !j.Outcome.Open() || !c.Journal().Concerns(j.ID) {
				continue
			}
			for _, w := range j.Others.List {
				if w.Written {
					recorded[[3]string{w.GUID, w.What, w.Is}] = true
				}
			}
			switch halfway, err := store.Halfway(ctx, j); {
			case err != nil:
				return err
			case halfway != nil:
				held = append(slices.Clip(held), halfway)
			}
		}
	}
	live := c.st.Live
	p.Overwritten(live.Tables, c.target.Tables, held,
		func(node fabric.NodeIndex, what string, was, is, would any) {
			n := &live.Fabric.Nodes[node]
			if recorded[[3]string{fmt.Sprintf("0x%016x", n.GUID), what, fmt.Sprint(is)}] {
				o.Recorded++
			}
			o.Add(live.Fabric.NodeName(node), n.GUID, what, was, is, would)
		})
	if o.Count == 0 {
		return nil
	}
	var err error
	c.rep.Others = &o
	o.Who, err = c.whoWrote(ctx, o.List)
	return err
}

// whoWrote returns a text that names who probably wrote the given entries.
func (c *commit) whoWrote(ctx context.Context, found []write.Conflict) (string, error) {
	return c.op.WhoWrote(ctx, &c.st.Reading, found, func(j *history.JournalEntry) bool { return j.ID != c.of.id })
}

// foundOthers handles a commit that stopped with err because others wrote to the switches after it read the subnet. It
// returns the error of the commit.
func (c *commit) foundOthers(ctx context.Context, err error) error {
	o := Others{Conflicts: c.rep.Written.Others}
	var whoErr error
	o.Who, whoErr = c.whoWrote(ctx, o.List)
	c.rep.Others = &o
	if c.rep.Written.Sets > 0 {
		return errors.Join(fmt.Errorf("%w. It was probably written by %s", err, o.Who), whoErr)
	}
	c.rep.Refusal = &RefusedError{Needs: Overwrite, Others: &o, Err: o.err()}
	return errors.Join(c.refuse(), whoErr)
}

// noteOthers records in the journal the changes by others that a commit found.
func (c *commit) noteOthers(ctx context.Context, j *openJournal) error {
	if j.store == nil {
		return nil
	}
	found := c.rep.Written.Others
	if c.rep.Others != nil && c.opt.AllowOverwrite {
		found = c.rep.Others.Conflicts
		found.Join(c.rep.Written.Others)
	}
	found.Join(c.rep.Written.Mixed.AfterWriting())
	return j.store.NoteOthers(context.WithoutCancel(ctx), j.entry.ID, found)
}
