// SPDX-License-Identifier: Apache-2.0

package commits

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/history"
	"example.org/ibconsole/internal/base/audit"
	"example.org/ibconsole/shell/session"
)

// openJournal is the journal of a running commit. It holds the lock of the subnet. Without a history it is empty.
type openJournal struct {
	store *history.Store
	lock  *history.Lock
	entry history.JournalEntry
}

// beginJournal locks the subnet and records the commit.
func (c *commit) beginJournal(ctx context.Context) (*openJournal, error) {
	if c.Journal().Recorder.None() {
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
		return nil, noJournal(err)
	}
	j := &openJournal{store: store}
	if j.lock, err = store.Lock(c.Subnet()); err != nil {
		return nil, err
	}
	if err := j.begin(ctx, c); err != nil {
		return nil, errors.Join(err, j.lock.Unlock())
	}
	return j, nil
}

// noJournal returns the error for a commit that could not be rolled back.
func noJournal(err error) error {
	return refused(NoJournal, "nothing was written: the commit cannot be recorded in the journal, and could not be "+
		"rolled back: %w", err)
}

func (j *openJournal) begin(ctx context.Context, c *commit) error {
	open, found, err := j.store.Open(ctx, c.Subnet(), c.Journal().Concerns)
	if err == nil && found && open.First.ID != c.of.id && !c.opt.Abandon {
		return &RefusedError{Needs: Abandon, Err: c.Journal().Interruption(open)}
	}
	if now := c.newestCommit(ctx, j.store); err == nil && now.subnet == c.newest.subnet && now != c.newest {
		return errCommitted
	}
	if err == nil {
		before := c.st.Live
		if c.of.before != 0 {
			if before, err = c.st.Of(session.EntryKind(c.of.before)); err != nil {
				return err
			}
		}
		was, after := c.snapshot(before, ""), c.snapshot(c.target, c.of.note) // in the order of their times
		if !c.isPorts() {
			after.Halfway = c.rep.Plan.Between(c.st.Live.Tables)
		}
		j.entry, err = j.store.Begin(ctx, c.of.undone(), was, after, c.controls...)
	}
	if err != nil && c.opt.NoJournal {
		j.store = nil
		return nil
	}
	if err != nil {
		return noJournal(err)
	}
	return nil
}

// errCommitted means that the tables that a commit read are out of date. A journal entry must not record them as those
// before the commit.
var errCommitted = errors.New("nothing was written: another console committed to this subnet after it was read; " +
	"hint: run the command again")

// commitEnd identifies a commit and its outcome.
type commitEnd struct {
	subnet  string
	id      int64
	outcome history.Outcome
}

// newestCommit returns the newest commit in the journal that may have written to the switches of the session. Its
// number is 0 if there is none, or if the journal cannot be read.
func (c *commit) newestCommit(ctx context.Context, store *history.Store) commitEnd {
	newest := commitEnd{subnet: c.Subnet()}
	all, _ := store.Journal(ctx, newest.subnet)
	for i := range all {
		if j := &all[i]; j.Outcome != history.NothingWritten && c.Journal().Concerns(j.ID) {
			newest.id, newest.outcome = j.ID, j.Outcome
			break
		}
	}
	return newest
}

func (c *commit) snapshot(p *session.Picture, note string) history.Snapshot {
	return history.Snapshot{
		Entry: c.op.NewEntry(history.Commit, p, note), Fabric: p.Fabric, Tables: p.Tables,
	}
}

// end records that the commit is done, or that it stopped after some writes, and releases the lock. It does so even if
// the context was cancelled. If the commit stopped in the middle, it returns the interrupted commit.
func (c *commit) end(j *openJournal, isDone bool, sets int) (open history.Chain, isOpen bool, err error) {
	if j.lock == nil {
		return open, false, nil
	}
	defer func() { _ = j.lock.Unlock() }()
	if j.store == nil {
		return open, false, nil
	}
	ctx := context.Background()
	concerns := c.Journal().Concerns
	switch {
	case isDone:
		if open, _, err = j.store.Open(ctx, j.entry.Subnet, concerns); err == nil {
			err = j.store.Settle(ctx, open, j.entry.ID, !open.Forward(&j.entry))
		}
		if err == nil && c.elsewhere != nil {
			err = j.store.Lose(ctx, *c.elsewhere)
		}
		return open, false, err
	case sets == 0:
		return open, false, j.store.End(ctx, j.entry.ID, history.NothingWritten)
	}
	err = j.store.End(ctx, j.entry.ID, history.Interrupted)
	open, isOpen, oerr := j.store.Open(ctx, j.entry.Subnet, concerns)
	return open, isOpen, errors.Join(err, oerr)
}

// endJournal records that a commit ended with err. If the commit stopped in the middle, the returned error contains the
// commands to finish it.
func (c *commit) endJournal(ctx context.Context, j *openJournal, err error) error {
	rep := &c.rep
	sets := 0
	var noteErr error
	if rep.Written != nil {
		sets = rep.Written.Sets
		noteErr = c.noteOthers(ctx, j)
	}
	chain, isOpen, endErr := c.end(j, err == nil, sets)
	if err == nil && !c.isPorts() {
		setPartial(c.Session, partialWrite{})
	}
	if err != nil && sets > 0 {
		e := &StoppedError{Step: rep.Written.Stopped, Hitless: rep.Plan.Hit.None(), Ports: c.isPorts(),
			Err: err}
		if isOpen {
			e.Open = c.Journal().Interruption(chain)
			if !c.isPorts() {
				setPartial(c.Session, partialWrite{c.target.Tables, resumption(&chain, !chain.Forward(&j.entry))})
			}
		}
		err = e
	}
	if j.store != nil {
		endErr = errors.Join(endErr, c.FindInterrupted(context.WithoutCancel(ctx)))
	}
	return errors.Join(err, endErr, noteErr)
}

// errPanicked is logged as the result of a commit that panicked. The panic then continues.
var errPanicked = errors.New("the commit ended in a panic, and it is unknown what the switches hold now")

// log logs a commit with permission to write, with hashes of the forwarding tables before and after. It returns err.
func (c *commit) log(err error) error {
	if !c.opt.writes() || err == nil && c.rep.Written == nil {
		return err
	}
	r, result := audit.Record{Action: "commit"}, err
	switch {
	case c.of.rollback:
		r.Action = "rollback"
	case c.isPorts():
		r.Action = "port control"
	}
	switch {
	case c.st.Live == nil && err != nil:
		result = fmt.Errorf("%w; the journal has no hashes, because the switches were not read", err)
	case c.st.Live != nil:
		r.Before = tablesHash(c.st.Live.Tables)
		if !errors.Is(err, errPanicked) {
			r.After = tablesHash(c.State().Live.Tables)
		}
	}
	c.Audit(r, result)
	return err
}

// tablesHash returns a hash over all switches that were read: their GUID, LinearFDBTop and entries up to LinearFDBTop.
// It returns "" without tables. It takes O(switches x LIDs) time.
func tablesHash(t *fabric.Tables) string {
	if t == nil {
		return ""
	}
	h := sha256.New()
	for i := range t.Fabric.NumSwitches() {
		if !t.Known[i] {
			continue
		}
		head := binary.BigEndian.AppendUint64(nil, t.Fabric.SwitchNode(i).GUID)
		row := t.LFT.Row(i)
		end := min(len(row), int(t.Top[i])+1)
		_, _ = h.Write(slices.Concat(binary.BigEndian.AppendUint16(head, t.Top[i]), row[:end])) // never fails
	}
	return hex.EncodeToString(h.Sum(nil))
}
