// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"example.org/ibconsole/history"
)

// fault records an error.
func (f *faulty) fault(format string, args ...any) {
	f.wrong = errors.Join(f.wrong, fmt.Errorf(format, args...))
}

// judge checks the files that a run left, and reports whether a commit had to be finished.
func (f *faulty) judge(r *rand.Rand, w *writing, dir string, res result) (open bool) {
	t := f.t
	kept := res.status == exitDone || w.said != "" && strings.Contains(res.out, w.said)
	if res.status == exitFailed && !f.mute && !strings.Contains(res.err, dir) && !strings.Contains(res.err, "stdout") {
		f.fault("the message has no file")
	}
	state := filepath.Join(dir, "state", "ibconsole", history.FileName)
	path := filepath.Join(dir, w.file)
	switch {
	case w.name == "export" && kept:
		if journal, err := historyIn(t, path); err != nil || len(journal) != 2 {
			f.fault("exported: %+v, %v", journal, err)
		}
	case w.name == "export":
	case w.name == "commit elsewhere":
		state = path
	case w.file != "":
		f.judgeFile(w, dir, kept, res.status < 0)
	}
	if _, err := os.Stat(state); os.IsNotExist(err) && !kept {
		return false
	}
	journal, err := historyIn(t, state)
	if err != nil {
		f.fault("the history afterwards: %v", err)
		return false
	}
	switch {
	case w.name == "import" && (len(journal) != 2 && len(journal) != 4 || kept && len(journal) != 4):
		f.fault("imported, kept %v: %+v", kept, journal)
	case !strings.Contains(w.name, "commit"):
		return false
	case w.name != "commit elsewhere":
		path = ""
	}
	return f.judgeCommit(r, dir, path, kept, journalled.FindString(res.out), journal)
}

// judgeFile compares a file with its previous and its expected content.
func (f *faulty) judgeFile(w *writing, dir string, kept, killed bool) {
	now, err := os.ReadFile(filepath.Join(dir, w.file))
	isNew := err == nil && bytes.Equal(now, f.whole[w.name])
	if w.name == "paths" { // it contains the time when it was built
		isNew = err == nil && f.try(dir, "paths info "+filepath.Join(dir, w.file)).status == exitDone
	}
	isOld := os.IsNotExist(err) && !w.old || w.old && string(now) == "what was there"
	if kept && !isNew || !isNew && !isOld {
		f.fault("%s: kept %v, and it holds %d bytes, %v", w.file, kept, len(now), err)
	}
	left, err := filepath.Glob(filepath.Join(dir, ".*"))
	if err != nil || len(left) > 0 && !killed && kept {
		f.fault("left: %q, %v", left, err)
	}
}

// journalled is the message of a commit that is recorded.
var journalled = regexp.MustCompile(`history \d+; rollback`)

// judgeCommit compares a commit and the message about its entry with its journal, and finishes it if it is interrupted.
// The switches of a simulation, which start with the old tables again, must then have the old or the new ones.
func (f *faulty) judgeCommit(r *rand.Rand, dir, elsewhere string, kept bool, said string,
	journal []history.JournalEntry) (open bool) {
	t := f.t
	if kept && (len(journal) == 0 || journal[0].Outcome != history.Done) || said != "" &&
		(len(journal) == 0 || !strings.HasPrefix(said, fmt.Sprintf("history %d;", journal[0].After))) {
		f.fault("kept, and in the journal is %+v", journal)
	}
	if len(journal) == 0 || !journal[0].Outcome.Open() {
		return false
	}
	how, want := "commit resume yes", f.after
	if r.IntN(2) == 0 {
		how, want = "rollback yes", f.before
	}
	file := filepath.Join(dir, "state", "ibconsole", history.FileName)
	if elsewhere != "" {
		how, file = how+" journal="+elsewhere, elsewhere
	}
	live := filepath.Join(dir, "live")
	if res := f.try(dir, "write on; "+how+"; dump lfts of=live "+live); res.status != exitDone {
		f.fault("%s: %d, %s", how, res.status, res.err)
		return true
	}
	if !bytes.Equal([]byte(read(t, live)), want) {
		f.fault("%s: other tables", how)
	}
	if journal, err := historyIn(t, file); err != nil || journal[0].Outcome.Open() ||
		journal[len(journal)-1].Outcome.Open() {
		f.fault("%s: in the journal is %+v, %v", how, journal, err)
	}
	return true
}

// historyIn opens a history as the program does, checks all of it, and returns its journal.
func historyIn(t *testing.T, file string) (journal []history.JournalEntry, err error) {
	t.Helper()
	ctx := t.Context()
	s, err := history.OpenFile(ctx, file)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	all, err := s.List(ctx, "", 0)
	for _, e := range all {
		_, lerr := s.Load(ctx, e.ID)
		err = errors.Join(err, lerr)
	}
	journal, jerr := s.Journal(ctx, "")
	return journal, errors.Join(err, jerr, integrity(ctx, file))
}

// integrity is SQLite's own check.
func integrity(ctx context.Context, file string) (err error) {
	db, err := sql.Open("sqlite", file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var said string
	if err := db.QueryRowContext(ctx, "PRAGMA integrity_check").Scan(&said); err != nil || said != "ok" {
		return fmt.Errorf("integrity: %q, %w", said, err)
	}
	return nil
}
