// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/write"
	"example.org/ibconsole/history"
	"example.org/ibconsole/history/timeline"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/compute"
)

// Others is what somebody else has written since staged tables were made, and a commit would write over.
type Others struct {
	write.Conflicts
	Told int    // how many of them the journal has already, as found by the commit that is to be ended
	Who  string // who probably wrote it, in words
	// Anew says that the paper starts from what the switches hold now, so that the next route does.
	Anew bool
}

// mostTold is how many entries a message names.
const mostTold = 5

// Names are the first entries in words.
func (o *Others) Names(most int) string {
	return prose.List(prose.Words(o.List[:min(len(o.List), most+1)], func(c write.Conflict) string {
		return c.String()
	}), most)
}

// OthersError says that somebody else has written to the switches since the staged tables were made.
type OthersError struct {
	Others
	ending
}

func (e *OthersError) Error() string {
	remedy := "Route anew on what they hold (try: route), or write over it on purpose: commit yes others=yes"
	switch {
	case e.note == history.ResumedNote:
		remedy = "To write over it on purpose: commit resume yes others=yes"
	case e.ends != 0:
		remedy = "To write over it on purpose: rollback yes others=yes"
	case !e.Anew:
		remedy = "Route anew on what they hold (try: restore all; route), or write over it on purpose: commit yes " +
			"others=yes"
	}
	return fmt.Sprintf("nothing was written, for the switches no longer hold what the staged tables were made for. "+
		"%s since, by %s: %s. %s",
		prose.Verb(e.Count, "entry", "was changed", "were changed"), e.Who, e.Names(mostTold), remedy)
}

// holding is a list of tables that switches may hold.
func holding(t *fabric.Tables) []*fabric.Tables {
	if t == nil {
		return []*fabric.Tables{}
	}
	return []*fabric.Tables{t}
}

// held is what tables that are made now take the switches to hold.
func (ps *Pictures) held() []*fabric.Tables {
	if ps.Base != nil && ps.Base.heldOn != nil {
		return ps.Base.heldOn
	}
	return holding(ps.Live.Tables)
}

// holds notes that the switches hold what was staged, or with done false some of it.
func (ps *Pictures) holds(staged *Picture, done bool) {
	note := func(p *Picture) *Picture {
		c := *p
		if c.heldOn = append(slices.Clip(p.heldOn), staged.Tables); done {
			c.heldOn = holding(staged.Tables)
		}
		return &c
	}
	if ps.Base != nil {
		ps.Base = note(ps.Base)
	}
	if ps.Staged == staged {
		ps.Staged = note(staged)
	}
}

// findOthers compares what the staged tables were made for with what the switches hold, wherever the plan writes.
func (c *commit) findOthers(ctx context.Context) error {
	o := Others{}
	told := map[[3]string]bool{}
	if c.opt.ends != 0 {
		journal, err := commitsOf(c.Session).journal(ctx)
		if err != nil {
			return err
		}
		for _, j := range journal {
			for _, w := range j.Others.List {
				if j.Outcome.Open() && w.Written {
					told[[3]string{w.GUID, w.What, w.Is}] = true
				}
			}
		}
	}
	c.rep.Plan.Overwritten(c.st.Live.Tables, c.st.Staged.Tables, c.st.Staged.heldOn,
		func(node fabric.NodeIndex, what string, was, is, would any) {
			n := &c.st.Live.Fabric.Nodes[node]
			guid := fmt.Sprintf("0x%016x", n.GUID)
			if told[[3]string{guid, what, fmt.Sprint(is)}] {
				o.Told++
			}
			o.Add(c.st.Live.Fabric.NodeName(node), n.GUID, what, was, is, would)
		})
	if o.Count == 0 {
		return nil
	}
	var err error
	c.rep.Others = &o
	o.Who, err = c.whoWrote(ctx, o.List)
	return err
}

// othersStop refuses what would write over what others wrote, and lets the paper start from what there is now.
func (c *commit) othersStop() error {
	c.Publish(ChangePaper, func(st *State) { c.rep.Others.Anew = st.startAnew() })
	return &OthersError{*c.rep.Others, c.opt.ending}
}

// startAnew makes the live tables those that the paper starts from, if the subnet is the same one. It reports whether
// it starts from these.
func (ps *Pictures) startAnew() bool {
	switch {
	case ps.Base == nil:
		return true
	case ps.Base.file != "" || ps.Live.Tables == nil || !fabric.Same(ps.Base.Fabric, ps.Live.Fabric):
		return false
	}
	ps.Base = ps.Live.On(ps.Base.Fabric).as(Base)
	ps.Base.heldOn = holding(ps.Live.Tables)
	ps.WhatIf, ps.past = ps.Base.On(ps.WhatIf.Fabric).as(WhatIf), compute.Past{}
	return true
}

// othersCame says of a commit that came upon what somebody else wrote since it read the subnet.
func (c *commit) othersCame(ctx context.Context, err error) error {
	o := Others{Conflicts: c.rep.Written.Others}
	who, werr := c.whoWrote(ctx, o.List)
	o.Who = who
	c.rep.Others = &o
	if c.rep.Written.Sets > 0 {
		return errors.Join(fmt.Errorf("%w. It was probably written by %s", err, who), werr)
	}
	return errors.Join(c.othersStop(), werr)
}

// noteOthers puts what a commit came upon into the journal.
func (c *commit) noteOthers(ctx context.Context, j *openJournal) error {
	if j.store == nil {
		return nil
	}
	found := c.rep.Written.Others
	if c.rep.Others != nil && c.opt.Others {
		found = c.rep.Others.Conflicts
		found.Join(c.rep.Written.Others)
	}
	found.Join(c.rep.Written.Mixed.AfterWriting())
	return j.store.NoteOthers(context.WithoutCancel(ctx), j.entry.ID, found)
}

// recentCommits is how many commits are held against what somebody wrote.
const recentCommits = 4

// whoWrote says who probably wrote what was found: another console of which the journal knows, or the subnet manager in
// charge.
func (c *commit) whoWrote(ctx context.Context, found []write.Conflict) (string, error) {
	return c.Session.whoWrote(ctx, &c.st, found, func(j *history.JournalEntry) bool { return j.ID != c.opt.ends })
}

// whoWrote is that of any of the latest commits that may have, by a state that has the subnet managers.
func (s *Session) whoWrote(ctx context.Context, st *State, found []write.Conflict,
	may func(*history.JournalEntry) bool) (string, error) {
	if s.recorder.Load().Exists() {
		all, err := commitsOf(s).journal(ctx)
		if err != nil {
			return "", err
		}
		for _, j := range all[:min(len(all), recentCommits)] {
			if !may(&j) || j.Outcome == history.NothingWritten {
				continue
			}
			p, err := s.recall(j.After)
			if err != nil {
				return "", err
			}
			if explains(p.Tables, found[:min(len(found), mostTold)]) {
				return timeline.ByCommit(&j), nil
			}
		}
	}
	if sm, ok := st.Master(); ok {
		return fmt.Sprintf("probably the %s subnet manager 0x%016x on %s (priority %d)", sm.State, sm.GUID, sm.Port,
			sm.Priority), nil
	}
	return "an unknown one (no subnet manager is in charge, and no commit in this journal wrote it)", nil
}

// explains reports whether some tables hold the entries that were found, as far as they can be told apart.
func explains(t *fabric.Tables, found []write.Conflict) bool {
	if t == nil {
		return false
	}
	entries := 0
	for _, w := range found {
		var guid uint64
		var lid uint16
		if n, _ := fmt.Sscanf(w.GUID+" "+w.What, "0x%x LID %d", &guid, &lid); n != 2 {
			continue
		}
		entries++
		if sw := t.Fabric.SwitchByGUID(guid); sw == fabric.None || fmt.Sprint(t.Port(sw, lid)) != w.Is {
			return false
		}
	}
	return entries > 0
}
