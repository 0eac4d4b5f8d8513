// SPDX-License-Identifier: Apache-2.0

package history

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"example.org/ibconsole/fabric"
)

// Outcome is how a commit ended.
type Outcome string

// The outcomes. A commit without one is under way, or was interrupted.
const (
	// Done: the switches hold the new routes, which were read back.
	Done Outcome = "done"
	// Failed: the commit ended with an error; some of it may be written.
	Failed Outcome = "failed"
	// RolledBack: the switches hold the old routes again.
	RolledBack Outcome = "rolled back"
	// Finished: a commit that was interrupted was brought to its end later.
	Finished Outcome = "finished later"
	// Unknown: the commit had not ended when it was exported, and what came of it is
	// not known here.
	Unknown Outcome = "not ended when exported"
)

const underWay = "under way"

// JournalEntry is one commit.
type JournalEntry struct {
	ID     int64
	Subnet string
	Began  time.Time
	// Outcome is "" where the commit has not ended.
	Outcome Outcome
	Who     string
	// Before and After are the entries with what the switches held and what was to
	// be written.
	Before, After int64
	Note          string
}

// Begin journals a commit before anything is written: the tables that the
// switches hold and those that they are to get. What it returns for is on the
// disk.
func (s *Store) Begin(ctx context.Context, e Entry, before, after *fabric.Tables) (j JournalEntry, err error) {
	j = JournalEntry{Subnet: e.Subnet, Began: e.Began, Who: e.Who, Note: e.Note}
	err = s.write(ctx, func(tx *sql.Tx) error {
		w, err := s.writer(ctx, tx)
		if err != nil {
			return err
		}
		e.Kind = Commit
		old := e
		old.Note = "before the commit"
		old.Engine, old.Options, old.Figures = before.Origin, "", nil
		if j.Before, err = w.add(tx, old, before.Fabric, before); err != nil {
			return err
		}
		if j.After, err = w.add(tx, e, after.Fabric, after); err != nil {
			return err
		}
		res, err := tx.ExecContext(ctx, "INSERT INTO journal (subnet, began, state, who, before, after, note) VALUES (?, ?, ?, ?, ?, ?, ?)",
			j.Subnet, j.Began.UnixNano(), underWay, j.Who, j.Before, j.After, j.Note)
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
	if s.why != nil {
		return s.why
	}
	_, err := s.db.ExecContext(ctx, "UPDATE journal SET state = ?, ended = ? WHERE id = ?", how, time.Now().UnixNano(), id)
	if err != nil {
		return fmt.Errorf("journal the end of the commit: %w", err)
	}
	return nil
}

// Journal returns the commits of a subnet, the newest first.
func (s *Store) Journal(ctx context.Context, subnet string) ([]JournalEntry, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT id, subnet, began, state, who, before, after, note FROM journal
		WHERE ? IN (subnet, '') ORDER BY id DESC`, subnet)
	if err != nil {
		return nil, fmt.Errorf("read the journal: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var all []JournalEntry
	for rows.Next() {
		j, err := scanJournal(rows)
		if err != nil {
			return nil, fmt.Errorf("read the journal: %w", err)
		}
		all = append(all, j)
	}
	return all, rows.Err()
}

func scanJournal(row scanner) (j JournalEntry, err error) {
	var began int64
	err = row.Scan(&j.ID, &j.Subnet, &began, &j.Outcome, &j.Who, &j.Before, &j.After, &j.Note)
	j.Began = time.Unix(0, began)
	if j.Outcome == underWay {
		j.Outcome = ""
	}
	return j, err
}

// Interrupted returns the commit of a subnet that has begun and not ended, and
// false where there is none. It is to be asked under the subnet's [Lock], or the
// commit may be one that another console carries out at the moment.
func (s *Store) Interrupted(ctx context.Context, subnet string) (JournalEntry, bool, error) {
	j, err := scanJournal(s.db.QueryRowContext(ctx, `SELECT id, subnet, began, state, who, before, after, note FROM journal
		WHERE subnet = ? AND state = ? ORDER BY id DESC LIMIT 1`, subnet, underWay))
	if errors.Is(err, sql.ErrNoRows) {
		return j, false, nil
	}
	if err != nil {
		return j, false, fmt.Errorf("read the journal: %w", err)
	}
	return j, true, nil
}
