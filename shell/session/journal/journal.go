// SPDX-License-Identifier: Apache-2.0

// Package journal finds the commits of one subnet in the history: interrupted commits, the last commit, and the commit
// that wrote given entries.
package journal

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/write"
	"example.org/ibconsole/history"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session/recorder"
)

// Journal is the journal of one subnet.
type Journal struct {
	Recorder  *recorder.Recorder
	Subnet    string
	UsualFile string // the history file that a session uses unless it is told another one
	// Simulated means that each console simulates the subnet on its own. Then only the commits in Own were written to
	// the switches of the session.
	Simulated bool
	Own       []Own
}

// Own identifies a commit of the session: its number in the journal of a file, 0 for a commit without an entry.
type Own struct {
	File string
	ID   int64
}

// Concerns reports whether a commit of the journal was written to the switches of the session.
func (j Journal) Concerns(id int64) bool {
	return !j.Simulated || slices.Contains(j.Own, Own{j.Recorder.File(), id})
}

// isElsewhere reports whether a commit of the journal was written to the simulated subnet of another console.
func (j Journal) isElsewhere(id int64) bool { return !j.Concerns(id) }

// Outcome returns the outcome of a commit. A commit that another console left in its own simulation of the subnet is
// not open here, and has an outcome of its own.
func (j Journal) Outcome(e *history.JournalEntry) history.Outcome {
	if e.Outcome.Open() && e.Subnet == j.Subnet && j.isElsewhere(e.ID) {
		return history.Outcome(e.Outcome.Word() + " in the simulation of another console")
	}
	return e.Outcome
}

// Commits returns the commits of the subnet, the newest first, with the outcomes that [Journal.Outcome] returns.
func (j Journal) Commits(ctx context.Context) ([]history.JournalEntry, error) {
	store, err := j.Recorder.Store()
	if err != nil {
		return nil, err
	}
	all, err := store.Journal(ctx, j.Subnet)
	for i := range all {
		all[i].Outcome = j.Outcome(&all[i])
	}
	return all, err
}

// Known returns the commits of the subnet, the newest first. It returns none if the session keeps no history, or if
// there is no history yet.
func (j Journal) Known(ctx context.Context) ([]history.JournalEntry, error) {
	if !j.Recorder.Exists() {
		return nil, nil
	}
	return j.Commits(ctx)
}

// Interrupted returns the interrupted commit of the subnet. It returns false if there is none. If another console is
// just carrying it out, the error wraps [history.ErrLocked] and names that console.
func (j Journal) Interrupted(ctx context.Context) (history.Chain, bool, error) {
	return j.open(ctx, j.Concerns)
}

// Elsewhere returns the commit of a simulated subnet that was interrupted in the simulation of another console. It
// returns false if there is none. The error is that of Interrupted.
func (j Journal) Elsewhere(ctx context.Context) (history.Chain, bool, error) {
	if !j.Simulated {
		return history.Chain{}, false, nil
	}
	return j.open(ctx, j.isElsewhere)
}

func (j Journal) open(ctx context.Context, isCandidate func(id int64) bool) (history.Chain, bool, error) {
	store, err := j.Recorder.Store()
	if err != nil {
		return history.Chain{}, false, err
	}
	before, found, err := store.Open(ctx, j.Subnet, isCandidate)
	if !found || err != nil || store.ReadOnly() != nil { // a read-only history cannot be locked
		return before, found, err
	}
	if err := store.Locked(j.Subnet); err != nil {
		return history.Chain{}, false, err
	}
	c, found, err := store.Open(ctx, j.Subnet, isCandidate) // it may have ended before the lock was tested
	if len(c.Later) > len(before.Later) {                   // and another console may have begun to resume it
		return history.Chain{}, false, errors.Join(err, history.ErrLocked)
	}
	return c, found, err
}

// ElsewhereText describes a commit that was interrupted in the simulation of another console, with the commands that
// end it.
func (j Journal) ElsewhereText(c history.Chain) string {
	return fmt.Sprintf("%s was interrupted in another console, which simulated this subnet on its own, so that no "+
		"switch here holds a part of it; rollback %d yes%s ends its entry, and commit resume yes%s writes its tables "+
		"here",
		c.First.Name(), c.First.After, Option(j.OtherFile()), Option(j.OtherFile()))
}

// LastFailed returns the last commit of the subnet if its outcome is [history.Failed], which older versions recorded.
func (j Journal) LastFailed(ctx context.Context) (history.JournalEntry, bool, error) {
	all, err := j.Commits(ctx)
	if err != nil || len(all) == 0 || all[0].Outcome != history.Failed {
		return history.JournalEntry{}, false, err
	}
	return all[0], true, nil
}

// InterruptedError reports that an earlier commit was interrupted.
type InterruptedError struct {
	Commit history.JournalEntry
	File   string // the file of the journal, "" for the usual one
}

// Interruption returns the error that reports an interrupted commit.
func (j Journal) Interruption(c history.Chain) *InterruptedError {
	return &InterruptedError{Commit: c.First, File: j.OtherFile()}
}

// OtherFile returns the file of the journal, or "" if it is the usual one.
func (j Journal) OtherFile() string {
	if file := j.Recorder.File(); file != j.UsualFile {
		return file
	}
	return ""
}

// Option returns the option with which another console finds the commits of a file, with a blank before it. It returns
// "" for the usual file.
func Option(file string) string {
	return prose.When(file != "", " journal="+lang.Quote(fabric.Escape(file)), "")
}

func (e *InterruptedError) Error() string {
	return fmt.Sprintf("%s was interrupted, and the switches may hold a part of it: %s", e.Commit.Name(), e.Remedy())
}

// Remedy returns the commands that finish the commit or undo it. They work in any console.
func (e *InterruptedError) Remedy() string {
	at := Option(e.File)
	if e.Commit.IsRollback() {
		return fmt.Sprintf("finish it with rollback yes%s, or undo it with rollback %d yes%s", at, e.Commit.After, at)
	}
	return fmt.Sprintf("finish it with commit resume yes%s, or undo it with rollback yes%s", at, at)
}

// MaxExamples is the maximum number of entries that a message lists.
const MaxExamples = 5

const mostTried = 4 // how many commits are compared with entries

// Writer returns a text that names the commit which wrote the given entries, or "" if none did. It considers those of
// the latest commits for which the function isCandidate returns true. The function tables returns the tables of a
// history entry, or nil.
func (j Journal) Writer(ctx context.Context, found []write.Conflict, isCandidate func(*history.JournalEntry) bool,
	tables func(entry int64) (*fabric.Tables, error)) (string, error) {
	if !j.Recorder.Exists() {
		return "", nil
	}
	all, err := j.Commits(ctx)
	if err != nil {
		return "", err
	}
	for _, c := range all[:min(len(all), mostTried)] {
		if !isCandidate(&c) || c.Outcome == history.NothingWritten {
			continue
		}
		t, err := tables(c.After)
		if err != nil {
			return "", err
		}
		if t != nil && holds(t, found[:min(len(found), MaxExamples)]) {
			return c.Name(), nil
		}
	}
	return "", nil
}

// holds reports whether tables contain all forwarding entries of a list. It returns false if there is no forwarding
// entry among them.
func holds(t *fabric.Tables, found []write.Conflict) bool {
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
