// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"example.org/ibconsole/history"
)

// InterruptedError says that an earlier commit began and never ended.
type InterruptedError struct{ Commit history.JournalEntry }

func (e *InterruptedError) Error() string {
	return fmt.Sprintf("the commit of %s by %s was interrupted, so the switches may hold a part of it: go on with commit resume yes, or go back with rollback yes",
		e.Commit.Began.Format(time.DateTime), e.Commit.Who)
}

// NoJournalError says that a commit could not be undone.
type NoJournalError struct{ Err error }

func (e *NoJournalError) Error() string {
	remedy := "Make room for the journal, or keep it"
	if _, damaged := errors.AsType[*history.DamagedError](e.Err); damaged {
		remedy = "Or keep the journal"
	}
	return fmt.Sprintf("nothing was written, for the commit cannot be journalled, and then nothing could undo it: %v. "+
		"%s in a file elsewhere: commit yes journal=FILE; or do without: commit yes journal=no", e.Err, remedy)
}

// Unwrap returns Err.
func (e *NoJournalError) Unwrap() error { return e.Err }

// endingNotes say what a commit is that ends another one.
var endingNotes = map[history.Outcome]string{history.RolledBack: RollbackNote, history.Finished: "resumed"}

// RollbackNote is the note of a commit that takes another one back.
const RollbackNote = "a rollback"

// openJournal is a commit that is under way, with the lock of its subnet.
type openJournal struct {
	store *history.Store
	lock  *history.Lock
	entry history.JournalEntry
	ends  int64
	how   history.Outcome
}

// beginJournal locks the subnet and journals the commit of a state.
func (s *Session) beginJournal(ctx context.Context, st *State, opt CommitOptions) (*openJournal, error) {
	if s.recorder.Load().none() {
		return &openJournal{}, nil
	}
	store, err := s.History()
	if err == nil {
		err = store.ReadOnly()
	}
	switch {
	case err != nil && opt.NoJournal:
		return &openJournal{}, nil
	case err != nil:
		return nil, &NoJournalError{err}
	}
	j := &openJournal{store: store, ends: opt.ends, how: opt.how}
	if j.lock, err = store.Lock(st.subnet()); err != nil {
		return nil, err
	}
	if err := j.begin(ctx, s, st, opt); err != nil {
		return nil, errors.Join(err, j.lock.Unlock())
	}
	return j, nil
}

func (j *openJournal) begin(ctx context.Context, s *Session, st *State, opt CommitOptions) error {
	old, found, err := j.store.Interrupted(ctx, st.subnet())
	if err == nil && found && old.ID != opt.ends {
		return &InterruptedError{old}
	}
	if err == nil {
		note := ""
		if opt.ends != 0 {
			note = endingNotes[opt.how]
		}
		before := st.Live.Tables
		if opt.before != 0 {
			p, err := s.recall(opt.before)
			if err != nil {
				return err
			}
			before = p.Tables
		}
		j.entry, err = j.store.Begin(ctx, s.entry(history.Commit, note, nil), before, st.Staged.Tables)
	}
	if err != nil && opt.NoJournal {
		j.store = nil
		return nil
	}
	if err != nil {
		return &NoJournalError{err}
	}
	return nil
}

// nothingToWrite ends the commit that this one was to end: the switches hold what
// they are to hold already.
func (s *Session) nothingToWrite(ctx context.Context, opt CommitOptions) error {
	if opt.ends == 0 || opt.DryRun || !opt.Yes {
		return nil
	}
	store, err := s.History()
	if err != nil {
		return err
	}
	return store.End(ctx, opt.ends, opt.how)
}

// end notes how the commit ended and gives the lock back. It does so also where
// the commit was cancelled.
func (j *openJournal) end(done bool) error {
	if j.lock == nil {
		return nil
	}
	defer func() { _ = j.lock.Unlock() }()
	if j.store == nil {
		return nil
	}
	ctx := context.Background()
	if !done {
		return j.store.End(ctx, j.entry.ID, history.Failed)
	}
	err := j.store.End(ctx, j.entry.ID, history.Done)
	if j.ends != 0 {
		err = errors.Join(err, j.store.End(ctx, j.ends, j.how))
	}
	return err
}
