// SPDX-License-Identifier: Apache-2.0

package history

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"example.org/ibconsole/fabric/write"
)

// Outcome is how a commit ended.
type Outcome string

// The outcomes. A commit without one is under way, or its console was killed.
const (
	// Done: the switches hold the new routes, which were read back.
	Done Outcome = "done"
	// Interrupted: the commit stopped before its end, with an error or by a signal; some
	// of it may be written. It waits to be ended by another one.
	Interrupted Outcome = "interrupted"
	// NothingWritten: the commit stopped before it wrote anything.
	NothingWritten Outcome = "nothing written"
	// Failed: the commit ended with an error. That is all that older programs noted; some of it may be written.
	Failed Outcome = "failed"
	// RolledBack: the switches hold the old routes again.
	RolledBack Outcome = "rolled back"
	// Finished: a commit that was interrupted was brought to its end later.
	Finished Outcome = "finished later"
	// WrittenOver: a commit that was interrupted was given up for another one.
	WrittenOver Outcome = "written over"
	// Unknown: the commit had not ended when it was exported, and what came of it is not known here.
	Unknown Outcome = "not ended when exported"
)

const underWay = "under way"

// Open reports whether the commit waits for its end: switches may hold a part of it, and it may be under way still.
func (o Outcome) Open() bool { return o == "" || o == Interrupted }

// Word returns the outcome for people.
func (o Outcome) Word() string {
	if o == "" {
		return "under way or interrupted"
	}
	return string(o)
}

// The notes of commits that bring another one to its end.
const (
	// RollbackNote: it takes another one back.
	RollbackNote = "a rollback"
	// ResumedNote: it goes on with one that was interrupted.
	ResumedNote = "resumed"
	// ResumedRollbackNote: it goes on with a rollback that was interrupted.
	ResumedRollbackNote = "a rollback, resumed"
)

// JournalEntry is one commit.
type JournalEntry struct {
	ID     int64
	Subnet string
	Began  time.Time
	// Outcome is "" where the end of the commit was not noted.
	Outcome Outcome
	// Ends is the number of the commit that this one is to bring to its end, 0 for none.
	Ends int64
	Who  string
	// Before and After are the entries with what the switches held and what was to be written.
	Before, After int64
	Note          string
	// Others is what others wrote, as far as the commit came upon it: before it wrote over it, when it read back
	// what it had written, or at a later reading. Of each there is what it was to the commit and what was found.
	Others write.Conflicts
}

// IsRollback reports whether the commit takes another one back.
func (j *JournalEntry) IsRollback() bool {
	return j.Note == RollbackNote || j.Note == ResumedRollbackNote
}

// Begin journals a commit before anything is written: the tables that the
// switches hold and those that they are to get. ends is the number of the commit that
// it is to bring to its end, 0 for none. What it returns for is on the disk.
func (s *Store) Begin(ctx context.Context, ends int64, before, after Snapshot) (j JournalEntry, err error) {
	e := after.Entry
	j = JournalEntry{Subnet: e.Subnet, Began: e.Began, Who: e.Who, Ends: ends, Note: e.Note}
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
		res, err := tx.ExecContext(ctx, "INSERT INTO journal (subnet, began, state, who, before, after, ends, note) "+
			"VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
			j.Subnet, j.Began.UnixNano(), underWay, j.Who, j.Before, j.After, j.Ends, j.Note)
		if err != nil {
			return err
		}
		j.ID, err = res.LastInsertId()
		return err
	})
	if err != nil {
		return j, fmt.Errorf("journal the commit: %w", err)
	}
	return j, nil
}

// End notes how a commit ended.
func (s *Store) End(ctx context.Context, id int64, how Outcome) error {
	err := s.write(ctx, func(tx *sql.Tx) error { return end(ctx, tx, id, how) })
	if err != nil {
		return fmt.Errorf("journal the end of the commit: %w", err)
	}
	return nil
}

func end(ctx context.Context, tx *sql.Tx, id int64, how Outcome) error {
	_, err := tx.ExecContext(ctx, "UPDATE journal SET state = ?, ended = ? WHERE id = ?", how,
		time.Now().UnixNano(), id)
	return err
}

// NoteOthers adds what a commit found of others to what was noted of it.
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
	if err != nil {
		return fmt.Errorf("journal what others wrote: %w", err)
	}
	return nil
}

// Journal returns the commits of a subnet, the newest first.
func (s *Store) Journal(ctx context.Context, subnet string) ([]JournalEntry, error) {
	rows, err := s.db.QueryContext(ctx, "SELECT id, subnet, began, state, who, before, after, "+s.ends+", note, "+
		s.others+" FROM journal WHERE ? IN (subnet, '') ORDER BY id DESC", subnet)
	if err != nil {
		return nil, fmt.Errorf("read the journal: %w", s.named(err))
	}
	defer func() { _ = rows.Close() }()
	var all []JournalEntry
	for rows.Next() {
		j, err := scanJournal(rows)
		if err != nil {
			return nil, fmt.Errorf("read the journal: %w", s.named(err))
		}
		all = append(all, j)
	}
	return all, rows.Err()
}

func scanJournal(row scanner) (j JournalEntry, err error) {
	var began int64
	var others string
	err = row.Scan(&j.ID, &j.Subnet, &began, &j.Outcome, &j.Who, &j.Before, &j.After, &j.Ends, &j.Note, &others)
	if err == nil && others != "" {
		err = json.Unmarshal([]byte(others), &j.Others)
	}
	j.Began = time.Unix(0, began)
	if j.Outcome == underWay {
		j.Outcome = ""
	}
	return j, err
}
