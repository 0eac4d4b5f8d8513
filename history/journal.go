// SPDX-License-Identifier: Apache-2.0

package history

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/snapshot"
	"example.org/ibconsole/fabric/write"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/internal/base/when"
)

// Outcome is the result of a commit.
type Outcome string

// The outcomes. If a commit has no outcome, it is in progress or its console was killed.
const (
	// Done means that the new routes were written and read back.
	Done Outcome = "done"
	// Interrupted means that the commit was stopped by an error or a signal and may have written a part. Another commit
	// must finish it or roll it back.
	Interrupted Outcome = "interrupted"
	// NothingWritten means that the commit stopped before it wrote anything.
	NothingWritten Outcome = "nothing written"
	// Failed means that the commit ended with an error and may have written a part. Only older programs recorded this
	// outcome.
	Failed Outcome = "failed"
	// RolledBack means that the switches have the old routes again.
	RolledBack Outcome = "rolled back"
	// Finished means that another commit finished this interrupted commit.
	Finished Outcome = "finished later"
	// WrittenOver means that a new commit replaced this interrupted commit.
	WrittenOver Outcome = "written over"
	// Lost means that the commit was interrupted in a simulated subnet that only its console had.
	Lost Outcome = "lost with its simulation"
	// Unknown means that the commit had not ended when it was exported. How it ended is not known here.
	Unknown Outcome = "not ended when exported"
)

const underWay = "under way"

// Open reports whether the commit has not ended. The switches may then have a part of its changes, and it may still be
// in progress.
func (o Outcome) Open() bool { return o == "" || o == Interrupted }

// Word returns the outcome for people.
func (o Outcome) Word() string {
	if o == "" {
		return "under way or interrupted"
	}
	return string(o)
}

// The notes of commits that finish or roll back another commit.
const (
	// RollbackNote marks a commit that reverses another commit.
	RollbackNote = "a rollback"
	// ResumedNote marks a commit that continues an interrupted commit.
	ResumedNote = "resumed"
	// ResumedRollbackNote marks a commit that continues an interrupted rollback.
	ResumedRollbackNote = "a rollback, resumed"
	// UndrainNote begins the note of a commit that reverses one of a drain. The rest of it names what was drained.
	UndrainNote = "undrain "
)

// JournalEntry is one commit.
type JournalEntry struct {
	ID     int64
	Subnet string
	Began  time.Time
	// Outcome is the outcome of the commit, "" if the end of the commit was not recorded.
	Outcome Outcome
	// Completes is the number of the interrupted commit that this commit finishes or rolls back. It is 0 if there is no
	// such commit.
	Completes int64
	Who       string
	// Before and After are the numbers of the history entries with the old and the new state of the switches.
	Before, After int64
	Note          string
	// Others lists values that other programs wrote, as far as they were found: before this commit overwrote them, when
	// it read back its own values, or at a later reading.
	Others write.Conflicts
	// Controls are the ports that the commit controls, with their PortInfo before it.
	Controls []write.Control
	// halfway is the blob of the tables for [Store.Halfway], 0 for none.
	halfway int64
}

// IsRollback reports whether the commit reverses another commit.
func (j *JournalEntry) IsRollback() bool {
	return j.Note == RollbackNote || j.Note == ResumedRollbackNote || strings.HasPrefix(j.Note, UndrainNote)
}

// Name names the commit in texts: "commit 98 of 03:12:07 by root". The number is that of its history entry, which
// commands accept.
func (j *JournalEntry) Name() string {
	what := prose.When(j.IsRollback(), "rollback", "commit")
	if j.After != 0 {
		what += fmt.Sprintf(" %d", j.After)
	} else {
		what = "the " + what
	}
	return fmt.Sprintf("%s of %s by %s", what, when.Text(j.Began), fabric.Escape(j.Who))
}

// Begin records a commit before anything is written. The snapshots before and after hold the current tables of the
// switches and the new tables. after may have Halfway. controls are the ports that the commit controls. The argument
// ends is the number of the interrupted commit that this commit finishes or rolls back, 0 if there is none. Begin
// returns when the record is on the disk.
func (s *Store) Begin(ctx context.Context, ends int64, before, after Snapshot,
	controls ...write.Control) (j JournalEntry, err error) {
	e := after.Entry
	j = JournalEntry{Subnet: e.Subnet, Began: e.Began, Who: e.Who, Completes: ends, Note: e.Note, Controls: controls}
	packed, err := packControls(controls)
	if err != nil {
		return j, failed("journal the commit", err)
	}
	err = s.write(ctx, func(tx *sql.Tx) error {
		w, err := s.writer(ctx, tx)
		if err != nil {
			return err
		}
		before.Note = "before the commit"
		if j.Before, err = w.add(tx, before.Entry, before.Fabric, before.Tables); err != nil {
			return err
		}
		if j.After, err = w.add(tx, e, after.Fabric, after.Tables); err != nil {
			return err
		}
		if after.Halfway != nil {
			var data bytes.Buffer
			if err = snapshot.Write(&data, snapshot.Snapshot{Fabric: after.Halfway.Fabric,
				Tables: after.Halfway}); err != nil {
				return err
			}
			if j.halfway, err = w.blob(data.Bytes()); err != nil {
				return err
			}
		}
		res, err := tx.ExecContext(ctx, "INSERT INTO journal (subnet, began, state, who, before, after, ends, note, "+
			"controls, halfway) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
			j.Subnet, j.Began.UnixNano(), underWay, j.Who, j.Before, j.After, j.Completes, j.Note, packed, j.halfway)
		if err != nil {
			return err
		}
		j.ID, err = res.LastInsertId()
		return err
	})
	return j, failed("journal the commit", err)
}

// Halfway returns the tables with the values that the switches may hold in the middle of a commit and that are neither
// its old nor its new ones. It returns nil if there are no such values, or if the commit has ended.
func (s *Store) Halfway(ctx context.Context, j *JournalEntry) (*fabric.Tables, error) {
	if j.halfway == 0 {
		return nil, nil
	}
	data, err := s.blob(ctx, s.db, j.halfway, snapshot.MaxSize)
	if err != nil {
		return nil, failed("read the journal", s.withPath(err))
	}
	snap, err := snapshot.Read(bytes.NewReader(data))
	return snap.Tables, failed("read the journal", err)
}

// packControls returns controls as JSON, or "" for none.
func packControls(controls []write.Control) (string, error) {
	if len(controls) == 0 {
		return "", nil
	}
	packed, err := json.Marshal(controls)
	return string(packed), err
}

// End records the outcome of a commit.
func (s *Store) End(ctx context.Context, id int64, how Outcome) error {
	err := s.write(ctx, func(tx *sql.Tx) error { return end(ctx, tx, id, how) })
	return failed("journal the end of the commit", err)
}

func end(ctx context.Context, tx *sql.Tx, id int64, how Outcome) error {
	_, err := tx.ExecContext(ctx, "UPDATE journal SET state = ?, ended = ? WHERE id = ?", how,
		time.Now().UnixNano(), id)
	if err == nil && !how.Open() {
		_, err = tx.ExecContext(ctx, "UPDATE journal SET halfway = 0 WHERE id = ?", id)
	}
	return err
}

// NoteOthers adds values that other programs wrote to the record of a commit.
func (s *Store) NoteOthers(ctx context.Context, id int64, found write.Conflicts) error {
	if found.Count == 0 {
		return nil
	}
	err := s.write(ctx, func(tx *sql.Tx) error {
		var text string
		if err := tx.QueryRowContext(ctx, "SELECT others FROM journal WHERE id = ?", id).Scan(&text); err != nil {
			return err
		}
		var all write.Conflicts
		if text != "" {
			if err := json.Unmarshal([]byte(text), &all); err != nil {
				return err
			}
		}
		all.Join(found)
		packed, err := json.Marshal(all)
		if err == nil {
			_, err = tx.ExecContext(ctx, "UPDATE journal SET others = ? WHERE id = ?", string(packed), id)
		}
		return err
	})
	return failed("journal what others wrote", err)
}

// Journal returns the commits of a subnet, newest first.
func (s *Store) Journal(ctx context.Context, subnet string) ([]JournalEntry, error) {
	rows, err := s.db.QueryContext(ctx, "SELECT id, subnet, began, state, who, before, after, "+s.ends+", note, "+
		s.others+", "+s.controls+", "+s.halfway+" FROM journal WHERE ? IN (subnet, '') ORDER BY id DESC", subnet)
	if err != nil {
		return nil, failed("read the journal", s.withPath(err))
	}
	defer func() { _ = rows.Close() }()
	var all []JournalEntry
	for rows.Next() {
		j, err := scanJournal(rows)
		if err != nil {
			return nil, failed("read the journal", s.withPath(err))
		}
		all = append(all, j)
	}
	return all, rows.Err()
}

func scanJournal(row scanner) (j JournalEntry, err error) {
	var began int64
	var others, controls string
	err = row.Scan(&j.ID, &j.Subnet, &began, &j.Outcome, &j.Who, &j.Before, &j.After, &j.Completes, &j.Note, &others,
		&controls, &j.halfway)
	if err == nil && others != "" {
		err = json.Unmarshal([]byte(others), &j.Others)
	}
	if err == nil && controls != "" {
		err = json.Unmarshal([]byte(controls), &j.Controls)
	}
	j.Began = time.Unix(0, began)
	if j.Outcome == underWay {
		j.Outcome = ""
	}
	return j, err
}
