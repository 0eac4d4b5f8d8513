// SPDX-License-Identifier: Apache-2.0

// Package journal finds the commits of one subnet in the history: interrupted commits, the last commit, and the commit
// that wrote given entries.
package journal

import (
	"context"
	"fmt"

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
}

// Commits returns the commits of the subnet, the newest first.
func (j Journal) Commits(ctx context.Context) ([]history.JournalEntry, error) {
	store, err := j.Recorder.Store()
	if err != nil {
		return nil, err
	}
	return store.Journal(ctx, j.Subnet)
}

// Known returns the commits of the subnet, the newest first. It returns none if the session keeps no history, or if
// there is no history yet.
func (j Journal) Known(ctx context.Context) ([]history.JournalEntry, error) {
	if !j.Recorder.Exists() {
		return nil, nil
	}
	return j.Commits(ctx)
}

// Interrupted returns the interrupted commit of the subnet. It returns false if there is none, or if another console is
// just carrying it out.
func (j Journal) Interrupted(ctx context.Context) (history.Chain, bool, error) {
	store, err := j.Recorder.Store()
	if err != nil {
		return history.Chain{}, false, err
	}
	before, found, err := store.Open(ctx, j.Subnet)
	if !found || err != nil || store.ReadOnly() != nil { // a read-only history cannot be locked
		return before, found, err
	}
	if locked, err := store.Locked(j.Subnet); locked || err != nil {
		return history.Chain{}, false, err
	}
	c, found, err := store.Open(ctx, j.Subnet) // the commit may have ended before the lock was tested
	if len(c.Later) > len(before.Later) {      // and another console may have begun to resume it
		return history.Chain{}, false, err
	}
	return c, found, err
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
