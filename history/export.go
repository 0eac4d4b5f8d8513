// SPDX-License-Identifier: Apache-2.0

package history

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/internal/base/sqlfile"
)

// Export writes entries to a new file for [Store.Import] and returns their number. Without IDs it writes all entries of
// a subnet. If an entry belongs to a commit, Export also writes the commit's other entry and the outcome of the commit.
func (s *Store) Export(ctx context.Context, path, subnet string, ids ...int64) (n int, err error) {
	if _, err := os.Lstat(path); err == nil {
		return 0, &fs.PathError{Op: "export", Path: fabric.Escape(path), Err: fs.ErrExist}
	}
	if ids, err = s.toExport(ctx, subnet, ids); err != nil {
		return 0, err
	}
	to, err := open(ctx, path)
	if err != nil {
		return 0, fmt.Errorf("export to %s: %w", fabric.Escape(path), escaped(err))
	}
	n, err = to.copyFrom(ctx, s, ids)
	// The export must be a single file, so no part of it may stay in a write-ahead log.
	_, werr := to.db.ExecContext(ctx, "PRAGMA journal_mode = DELETE")
	if err = errors.Join(err, werr, to.Close()); err != nil {
		return n, fmt.Errorf("export to %s: %w", fabric.Escape(path), errors.Join(err, os.Remove(path)))
	}
	return n, nil
}

// toExport returns the IDs of the entries to export, in ascending order. They are the given entries and the other
// entries of their commits. Without IDs they are all entries of a subnet.
func (s *Store) toExport(ctx context.Context, subnet string, ids []int64) ([]int64, error) {
	if len(ids) == 0 {
		all, err := s.List(ctx, subnet, 0)
		for _, e := range all {
			ids = append(ids, e.ID)
		}
		slices.Sort(ids)
		return ids, err
	}
	journal, err := s.Journal(ctx, "")
	for _, j := range journal {
		if slices.Contains(ids, j.Before) || slices.Contains(ids, j.After) {
			ids = append(ids, j.Before, j.After)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids), err
}

// Import adds the entries of an exported file under new numbers, and the outcomes of their commits. If there is an
// error, it adds nothing. It skips entries that already exist. It returns the number of new entries.
func (s *Store) Import(ctx context.Context, path string) (n int, err error) {
	if s.readOnly != nil {
		return 0, s.readOnly
	}
	if err := files.Regular(ctx, path, files.History); err != nil {
		return 0, fmt.Errorf("import %w, expected an exported history", err)
	}
	from, err := openToRead(ctx, path, url.Values{"mode": {"ro"}, "immutable": {"1"}})
	if sqlfile.IsDamaged(err) {
		return 0, fmt.Errorf("import %s: %w, expected an exported history", fabric.Escape(path), escaped(err))
	}
	if err != nil {
		return 0, fmt.Errorf("import %s: %w", fabric.Escape(path), escaped(err))
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	ids, err := from.toExport(ctx, "", nil)
	if err == nil {
		n, err = s.copyFrom(ctx, from, ids)
	}
	if err != nil {
		return 0, fmt.Errorf("import %s: %w", fabric.Escape(path), escaped(err))
	}
	return n, nil
}

// copyFrom copies entries, and the commits to which they belong, from another store.
func (s *Store) copyFrom(ctx context.Context, from *Store, ids []int64) (n int, err error) {
	journal, err := from.Journal(ctx, "")
	if err != nil {
		return 0, err
	}
	err = s.write(ctx, func(tx *sql.Tx) error {
		w, err := s.writer(ctx, tx)
		if err != nil {
			return err
		}
		now := map[int64]int64{}
		for _, id := range ids {
			snap, err := from.Load(ctx, id)
			if err != nil {
				return err
			}
			fresh := false
			if now[id], fresh, err = w.storeUnlessPresent(tx, snap); err != nil {
				return err
			}
			if fresh {
				n++
			}
		}
		for i := range journal {
			j := &journal[len(journal)-1-i]
			if err := takeJournal(ctx, tx, j, now[j.Before], now[j.After]); err != nil {
				return err
			}
		}
		return nil
	})
	return n, err
}

// storeUnlessPresent stores an entry unless the store has it already.
func (w *writer) storeUnlessPresent(tx *sql.Tx, snap *Snapshot) (id int64, fresh bool, err error) {
	c, err := w.content(snap.Fabric, snap.Tables)
	if err != nil {
		return 0, false, err
	}
	e := &snap.Entry
	err = tx.QueryRowContext(w.ctx,
		`SELECT id FROM entry WHERE kind = ? AND subnet = ? AND began = ? AND who = ? AND source = ? AND note = ?
		AND fabric = ? AND tables IS ? AND rest IS ?`,
		e.Kind, e.Subnet, e.Began.UnixNano(), e.Who, e.Source, e.Note, c.fabric, c.tables, c.rest).Scan(&id)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		id, err = w.enter(tx, e, c)
		return id, true, err
	case err == nil:
		_, err = tx.ExecContext(w.ctx, "UPDATE entry SET until = max(until, ?) WHERE id = ?", e.Until.UnixNano(), id)
	}
	return id, false, err
}

// takeJournal adds a commit of another store unless the commit exists already. The arguments before and after are the
// numbers of the commit's entries in this store. If the commit had not ended when it was exported, this store cannot
// end it.
func takeJournal(ctx context.Context, tx *sql.Tx, j *JournalEntry, before, after int64) error {
	if before == 0 || after == 0 {
		return nil
	}
	var have bool
	err := tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM journal WHERE after = ?)", after).Scan(&have)
	if err != nil || have {
		return err
	}
	how := j.Outcome
	if how.Open() {
		how = Unknown
	}
	others := ""
	if j.Others.Count > 0 {
		packed, err := json.Marshal(j.Others)
		if err != nil {
			return err
		}
		others = string(packed)
	}
	controls, err := packControls(j.Controls)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO journal (subnet, began, state, who, before, after, note, others, "+
		"controls) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
		j.Subnet, j.Began.UnixNano(), how, j.Who, before, after, j.Note, others, controls)
	return err
}
