// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/history"
	"example.org/ibconsole/internal/base/prose"
)

// commits are the commits of a session's subnet, as its history has them.
type commits struct{ *Session }

func commitsOf(s *Session) commits { return commits{s} }

// ErrAllUndone says that every commit was taken back.
var ErrAllUndone = errors.New("every commit of this subnet is taken back already (history lists them; rollback ID " +
	"takes back one of them, a rollback too)")

// ErrNothingToUndo says that no commit of this subnet is in the history.
var ErrNothingToUndo = errors.New("no commit of this subnet is in the history")

// Rollback stages what the switches held before a commit, the last one that has not been taken back for 0, and
// commits it as [Session.Commit] does. Where one was interrupted it is that, and a rollback that was goes on.
func (s *Session) Rollback(ctx context.Context, id int64, opt CommitOptions) (CommitReport,
	history.JournalEntry, error) {
	c, open, err := commitsOf(s).openCommits(ctx)
	if err != nil {
		return CommitReport{}, history.JournalEntry{}, commitsOf(s).refused(opt, true, err)
	}
	if open {
		j, back := c.First, !c.First.IsRollback()
		if id != 0 {
			var known bool
			if j, known = c.Find(id); !known {
				return CommitReport{}, j, commitsOf(s).refused(opt, true, commitsOf(s).interrupted(c))
			}
			back = c.Forward(&j)
		}
		rep, err := commitsOf(s).settle(ctx, &c, back, opt)
		return rep, j, err
	}
	j, err := commitsOf(s).journalled(ctx, id)
	if err != nil {
		return CommitReport{}, j, commitsOf(s).refused(opt, true, err)
	}
	if err := commitsOf(s).stageEntry(ctx, j.Before, j.After); err != nil {
		return CommitReport{}, j, commitsOf(s).refused(opt, true, err)
	}
	opt.ending = ending{ends: j.ID, back: true, note: RollbackNote}
	rep, err := s.Commit(ctx, opt)
	return rep, j, err
}

// Resume stages what an interrupted commit was to write, and commits it.
func (s *Session) Resume(ctx context.Context, opt CommitOptions) (CommitReport, error) {
	c, found, err := commitsOf(s).openCommits(ctx)
	if err == nil && !found {
		c.First, found, err = commitsOf(s).lastFailed(ctx)
	}
	switch {
	case err != nil:
		return CommitReport{}, commitsOf(s).refused(opt, false, err)
	case !found:
		return CommitReport{}, commitsOf(s).refused(opt, false, errors.New("no commit of this subnet was interrupted"))
	}
	return commitsOf(s).settle(ctx, &c, false, opt)
}

// settle brings an interrupted commit to its end, or goes back to what was there before it.
func (s commits) settle(ctx context.Context, c *history.Chain, back bool, opt CommitOptions) (CommitReport, error) {
	opt.ending = endingOf(c, back)
	entry := prose.When(back, c.First.Before, c.First.After)
	if err := s.stageEntry(ctx, entry, opt.before); err != nil {
		return CommitReport{}, s.refused(opt, back, err)
	}
	return s.Commit(ctx, opt)
}

// endingOf says how a commit ends an interrupted one. What was there before counts as
// before it, not the mixture that the switches hold.
func endingOf(c *history.Chain, back bool) ending {
	e := ending{ends: c.First.ID, back: back, before: c.First.Before, note: history.ResumedNote}
	switch {
	case back:
		e.before, e.note = c.First.After, RollbackNote
	case c.First.IsRollback():
		e.note = history.ResumedRollbackNote
	}
	return e
}

// stopped are staged tables of which a commit of this session wrote a part, or nil, and how another goes on.
type stopped struct {
	tables *fabric.Tables
	ending
}

// openCommits returns the commit of this subnet that began and did not come to its
// end, and false where there is none or where another console is carrying it out.
func (s commits) openCommits(ctx context.Context) (history.Chain, bool, error) {
	store, err := s.History()
	if err != nil {
		return history.Chain{}, false, err
	}
	before, found, err := store.Open(ctx, s.Subnet())
	if !found || err != nil || store.ReadOnly() != nil { // nor can be locked
		return before, found, err
	}
	if locked, err := store.Locked(s.Subnet()); locked || err != nil {
		return history.Chain{}, false, err
	}
	c, found, err := store.Open(ctx, s.Subnet()) // it may have ended just before the lock was looked at
	if len(c.Later) > len(before.Later) {        // and somebody may have begun since to end it
		return history.Chain{}, false, err
	}
	return c, found, err
}

// lastFailed returns the last commit of this subnet if an older program noted no more of it than that it failed.
func (s commits) lastFailed(ctx context.Context) (history.JournalEntry, bool, error) {
	all, err := s.journal(ctx)
	if err != nil || len(all) == 0 || all[0].Outcome != history.Failed {
		return history.JournalEntry{}, false, err
	}
	return all[0], true, nil
}

// journal lists the commits of this subnet, the latest first.
func (s commits) journal(ctx context.Context) ([]history.JournalEntry, error) {
	store, err := s.History()
	if err != nil {
		return nil, err
	}
	return store.Journal(ctx, s.Subnet())
}

// lookForInterrupted notes a commit of this subnet that was interrupted.
func (s commits) lookForInterrupted(ctx context.Context) error {
	c, found, err := s.openCommits(ctx)
	if err != nil {
		return err
	}
	text := ""
	if found {
		text = s.interrupted(c).Error()
	}
	if text != s.State().Interrupted {
		s.Publish(ChangeLive, func(st *State) { st.Interrupted = text })
	}
	return nil
}

// lookForOthers notes, after a reading, a commit that another console has left or ended since.
func (s commits) lookForOthers(ctx context.Context) error {
	if !s.State().Source.Live() || !s.recorder.Load().Exists() {
		return nil
	}
	return s.lookForInterrupted(ctx)
}

// lookBack notes what the history says of earlier commits to this subnet: that one was
// interrupted, or that one of an older program failed.
func (s commits) lookBack(ctx context.Context) {
	if !s.State().Source.Live() || !s.recorder.Load().Exists() {
		return
	}
	err := s.lookForInterrupted(ctx)
	j, failed := history.JournalEntry{}, false
	if err == nil {
		j, failed, err = s.lastFailed(ctx)
	}
	text := ""
	switch {
	case err != nil:
		text = fmt.Sprintf("the history cannot be read: %v", err)
	case failed:
		text = fmt.Sprintf("the commit of %s by %s failed, and it was not noted whether a part of it was written: "+
			"diff live %d says so; commit resume yes goes on, rollback yes goes back",
			j.Began.Format(time.DateTime), fabric.Escape(j.Who), j.Before)
	}
	if text != "" {
		s.Publish(ChangeLive, func(st *State) { st.Warnings = append(slices.Clip(st.Warnings), text) })
	}
}

// gone are the outcomes of commits that left nothing to take back, or left it to another one.
var gone = []history.Outcome{history.RolledBack, history.Finished, history.NothingWritten}

// journalled finds a commit of this subnet by its number in the journal or that
// of one of its entries; for 0 the last that was not taken back.
func (s commits) journalled(ctx context.Context, id int64) (history.JournalEntry, error) {
	all, err := s.journal(ctx)
	if err != nil {
		return history.JournalEntry{}, err
	}
	for _, j := range all {
		if id == j.After || id == j.Before || id == 0 && !j.IsRollback() && !slices.Contains(gone, j.Outcome) {
			return j, nil
		}
	}
	if id != 0 {
		return history.JournalEntry{}, fmt.Errorf("%d is no commit of this subnet (history lists them)", id)
	}
	if len(all) > 0 {
		return history.JournalEntry{}, ErrAllUndone
	}
	return history.JournalEntry{}, ErrNothingToUndo
}

// stageEntry stages the tables of an entry, for the subnet as it was then. The switches are taken to hold those of
// another one, or the same.
func (s commits) stageEntry(ctx context.Context, id, held int64) error {
	op, err := s.Begin(ctx, "load")
	if err != nil {
		return err
	}
	defer op.End()
	p, err := s.recall(id)
	if err != nil {
		return err
	}
	if p.Tables == nil {
		return fmt.Errorf("entry %d of the history has no tables", id)
	}
	other, err := s.recall(held)
	if err != nil {
		return err
	}
	st := s.State()
	staged := *p.as(Staged)
	staged.madeOf, staged.heldOn = st.Paper(), holding(other.Tables)
	tables := *p.Tables
	tables.Origin = fmt.Sprintf("history %d", id)
	staged.Tables = &tables
	s.stage(&staged)
	return nil
}
