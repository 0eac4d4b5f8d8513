// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"example.org/ibconsole/history"
)

// ErrAllUndone says that every commit was taken back.
var ErrAllUndone = errors.New("every commit of this subnet is taken back already (history lists them; rollback ID takes back one of them, a rollback too)")

// ErrNothingToUndo says that no commit of this subnet is in the history.
var ErrNothingToUndo = errors.New("no commit of this subnet is in the history")

// Rollback stages what the switches held before a commit, the last one that has
// not been taken back for 0, and commits it as [Session.Commit] does.
func (s *Session) Rollback(ctx context.Context, id int64, opt CommitOptions) (CommitReport, history.JournalEntry, error) {
	j, err := s.journalled(ctx, id)
	if err != nil {
		return CommitReport{}, j, err
	}
	if err := s.stageEntry(ctx, j.Before); err != nil {
		return CommitReport{}, j, err
	}
	opt.ends, opt.how = j.ID, history.RolledBack
	rep, err := s.Commit(ctx, opt)
	return rep, j, err
}

// Resume stages what an interrupted commit was to write, and commits it.
func (s *Session) Resume(ctx context.Context, opt CommitOptions) (CommitReport, error) {
	j, found, err := s.Interrupted(ctx)
	switch {
	case err != nil:
		return CommitReport{}, err
	case !found:
		return CommitReport{}, errors.New("no commit of this subnet was interrupted")
	}
	if err := s.stageEntry(ctx, j.After); err != nil {
		return CommitReport{}, err
	}
	opt.ends, opt.how, opt.before = j.ID, history.Finished, j.Before
	return s.Commit(ctx, opt)
}

// Interrupted returns the commit of this subnet that began and never ended, and
// false where there is none or where another console is carrying it out.
func (s *Session) Interrupted(ctx context.Context) (history.JournalEntry, bool, error) {
	store, err := s.History()
	if err != nil {
		return history.JournalEntry{}, false, err
	}
	lock, err := store.Lock(s.Subnet())
	if errors.Is(err, history.ErrLocked) {
		return history.JournalEntry{}, false, nil
	}
	if err != nil {
		return history.JournalEntry{}, false, err
	}
	j, found, err := store.Interrupted(ctx, s.Subnet())
	return j, found, errors.Join(err, lock.Unlock())
}

// lookForInterrupted notes a commit of this subnet that was interrupted.
func (s *Session) lookForInterrupted(ctx context.Context) {
	if !s.State().Source.Live() || !s.recorder.Load().exists() {
		return
	}
	j, found, err := s.Interrupted(ctx)
	text := ""
	switch {
	case err != nil:
		text = fmt.Sprintf("the history cannot be read: %v", err)
	case found:
		text = (&InterruptedError{j}).Error()
	}
	if text != "" {
		s.update(ChangeLive, func(st *State) {
			st.Interrupted = text
			st.Warnings = append(slices.Clip(st.Warnings), text)
		})
	}
}

// journalled finds a commit of this subnet by its number in the journal or that
// of one of its entries; for 0 the last that was not taken back.
func (s *Session) journalled(ctx context.Context, id int64) (history.JournalEntry, error) {
	store, err := s.History()
	if err != nil {
		return history.JournalEntry{}, err
	}
	all, err := store.Journal(ctx, s.Subnet())
	if err != nil {
		return history.JournalEntry{}, err
	}
	for _, j := range all {
		if id == j.After || id == j.Before || id == 0 && j.Outcome != history.RolledBack && j.Note != RollbackNote {
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

// stageEntry stages the tables of an entry, for the subnet as it was then.
func (s *Session) stageEntry(ctx context.Context, id int64) error {
	end, err := s.begin(ctx, "load")
	if err != nil {
		return err
	}
	defer end()
	p, err := s.recall(id)
	if err != nil {
		return err
	}
	if p.Tables == nil {
		return fmt.Errorf("entry %d of the history has no tables", id)
	}
	st := s.State()
	staged := *p.as(Staged)
	staged.madeOf = st.Paper()
	tables := *p.Tables
	tables.Origin = fmt.Sprintf("history %d", id)
	staged.Tables = &tables
	s.stage(&staged)
	return nil
}
