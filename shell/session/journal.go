// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/history"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/shell/lang"
)

// InterruptedError says that an earlier commit began and did not come to its end.
type InterruptedError struct {
	Commit history.JournalEntry
	File   string // where the journal is, "" for the usual place
}

func (e *InterruptedError) Error() string {
	what := prose.When(e.Commit.IsRollback(), "rollback", "commit")
	return fmt.Sprintf("the %s of %s by %s was interrupted, so the switches may hold a part of it: %s",
		what, e.Commit.Began.Format(time.DateTime), fabric.Escape(e.Commit.Who), e.remedy())
}

// remedy says which commands bring it to an end, in any console.
func (e *InterruptedError) remedy() string {
	at := prose.When(e.File != "", " journal="+lang.Quote(fabric.Escape(e.File)), "")
	if e.Commit.IsRollback() {
		return fmt.Sprintf("go on with rollback yes%s, or take it back with rollback %d yes%s", at, e.Commit.After, at)
	}
	return fmt.Sprintf("go on with commit resume yes%s, or go back with rollback yes%s", at, at)
}

func (s commits) interrupted(c history.Chain) *InterruptedError {
	e := &InterruptedError{Commit: c.First}
	if file := s.recorder.Load().File(); file != stateFile(s.opt.StateDir) {
		e.File = file
	}
	return e
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

func (e *NoJournalError) Unwrap() error { return e.Err }

// RollbackNote is the note of a commit that takes another one back.
const RollbackNote = history.RollbackNote

// openJournal is a commit that is under way, with the lock of its subnet.
type openJournal struct {
	store *history.Store
	lock  *history.Lock
	entry history.JournalEntry
}

// beginJournal locks the subnet and journals the commit.
func (c *commit) beginJournal(ctx context.Context) (*openJournal, error) {
	if c.recorder.Load().None() {
		return &openJournal{}, nil
	}
	store, err := c.History()
	if err == nil {
		err = store.ReadOnly()
	}
	switch {
	case err != nil && c.opt.NoJournal:
		return &openJournal{}, nil
	case err != nil:
		return nil, &NoJournalError{err}
	}
	j := &openJournal{store: store}
	if j.lock, err = store.Lock(c.st.subnet()); err != nil {
		return nil, err
	}
	if err := j.begin(ctx, c); err != nil {
		return nil, errors.Join(err, j.lock.Unlock())
	}
	return j, nil
}

func (j *openJournal) begin(ctx context.Context, c *commit) error {
	st, opt := &c.st, &c.opt
	old, found, err := j.store.Open(ctx, st.subnet())
	if err == nil && found && old.First.ID != opt.ends && !opt.Over {
		return fmt.Errorf("%w. To write other routes over it: commit yes over=yes",
			commitsOf(c.Session).interrupted(old))
	}
	if err == nil {
		before := st.Live
		if opt.before != 0 {
			if before, err = c.recall(opt.before); err != nil {
				return err
			}
		}
		j.entry, err = j.store.Begin(ctx, opt.ends, c.snapshot(before, ""), c.snapshot(st.Staged, opt.note))
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

func (c *commit) snapshot(p *Picture, note string) history.Snapshot {
	return history.Snapshot{Entry: c.entry(history.Commit, p, note, nil), Fabric: p.Fabric, Tables: p.Tables}
}

// nothingToWrite ends the commit that this one was to end: the switches hold what they are to hold already.
func (c *commit) nothingToWrite(ctx context.Context) error {
	opt := &c.opt
	if opt.ends == 0 || opt.DryRun || !opt.Yes {
		return nil
	}
	store, err := c.History()
	if err != nil {
		return err
	}
	lock, err := store.Lock(c.Subnet())
	if err != nil {
		return err
	}
	chain, found, err := store.Open(ctx, c.Subnet())
	switch {
	case err != nil:
	case found && chain.First.ID == opt.ends:
		err = store.Settle(ctx, chain, 0, opt.back)
	case opt.back:
		err = store.End(ctx, opt.ends, history.RolledBack)
	default:
		err = store.End(ctx, opt.ends, history.Done)
	}
	return errors.Join(err, lock.Unlock(), commitsOf(c.Session).lookForInterrupted(ctx))
}

// end notes that the commit is done, or that it stopped after some writes, and gives the lock back. It does
// so also where the commit was cancelled. Where it stopped in the middle it returns what is to be ended now.
func (j *openJournal) end(done bool, sets int) (c history.Chain, open bool, err error) {
	if j.lock == nil {
		return c, false, nil
	}
	defer func() { _ = j.lock.Unlock() }()
	if j.store == nil {
		return c, false, nil
	}
	ctx := context.Background()
	switch {
	case done:
		if c, _, err = j.store.Open(ctx, j.entry.Subnet); err == nil {
			err = j.store.Settle(ctx, c, j.entry.ID, !c.Forward(&j.entry))
		}
		return c, false, err
	case sets == 0:
		return c, false, j.store.End(ctx, j.entry.ID, history.NothingWritten)
	}
	err = j.store.End(ctx, j.entry.ID, history.Interrupted)
	c, open, oerr := j.store.Open(ctx, j.entry.Subnet)
	return c, open, errors.Join(err, oerr)
}

// endJournal notes how a commit ended, and says what is to be done where it stopped.
func (c *commit) endJournal(ctx context.Context, j *openJournal, err error) error {
	rep := &c.rep
	sets := 0
	var noted error
	if rep.Written != nil {
		sets = rep.Written.Sets
		noted = c.noteOthers(ctx, j)
	}
	chain, open, jerr := j.end(err == nil, sets)
	if err == nil {
		c.stopped = stopped{}
	}
	if err != nil && sets > 0 {
		e := &StoppedError{Step: rep.Written.Stopped, Hitless: rep.Plan.Hit.None(), Err: err}
		if open {
			e.Open = commitsOf(c.Session).interrupted(chain)
			c.stopped = stopped{c.st.Staged.Tables, endingOf(&chain, !chain.Forward(&j.entry))}
		}
		err = e
	}
	if j.store != nil {
		jerr = errors.Join(jerr, commitsOf(c.Session).lookForInterrupted(context.WithoutCancel(ctx)))
	}
	return errors.Join(err, jerr, noted)
}
