// SPDX-License-Identifier: Apache-2.0

package history

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// Retention says what may go. Commits, and what they were made from, stay for
// ever.
type Retention struct {
	// Age is how long entries are kept, 0 for ever.
	Age time.Duration
	// Size is how many bytes the stored data may have, 0 for any number: the oldest
	// entries go first.
	Size int64
}

// Prune throws away what is too old or too much, and what then nothing refers to.
// It returns the number of entries that went.
func (s *Store) Prune(ctx context.Context, r Retention) (gone int, err error) {
	err = s.write(ctx, func(tx *sql.Tx) error {
		if r.Age > 0 {
			n, err := drop(ctx, tx, "until < ?", time.Now().Add(-r.Age).UnixNano())
			if err != nil {
				return err
			}
			gone += n
		}
		return s.collect(ctx, tx)
	})
	for err == nil && r.Size > 0 {
		var n int
		if n, err = s.dropHalfOver(ctx, r.Size); n == 0 {
			break
		}
		gone += n
	}
	if err != nil {
		return gone, fmt.Errorf("prune the history: %w", err)
	}
	if gone > 0 {
		_, err = s.db.ExecContext(ctx, "VACUUM")
	}
	return gone, err
}

// removable are the entries that may go.
const removable = `kind <> 'commit' AND id NOT IN (SELECT before FROM journal) AND id NOT IN (SELECT after FROM journal)`

func drop(ctx context.Context, tx *sql.Tx, which string, args ...any) (int, error) {
	res, err := tx.ExecContext(ctx, "DELETE FROM entry WHERE "+removable+" AND "+which, args...)
	if err != nil {
		return 0, err
	}
	n, err := res.RowsAffected()
	return int(n), err
}

// dropHalfOver drops the older half of what may go if there is too much data.
func (s *Store) dropHalfOver(ctx context.Context, size int64) (n int, err error) {
	err = s.write(ctx, func(tx *sql.Tx) error {
		var have int64
		if err := tx.QueryRowContext(ctx, "SELECT coalesce(sum(length(data)), 0) FROM blob").Scan(&have); err != nil || have <= size {
			return err
		}
		n, err = drop(ctx, tx, `id <= (SELECT id FROM entry WHERE `+removable+` ORDER BY id
			LIMIT 1 OFFSET (SELECT (count(*) - 1) / 2 FROM entry WHERE `+removable+`))`)
		if err != nil {
			return err
		}
		return s.collect(ctx, tx)
	})
	return n, err
}

// collect deletes the blobs that nothing refers to.
func (s *Store) collect(ctx context.Context, tx *sql.Tx) error {
	used, err := s.used(ctx, tx)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "CREATE TEMP TABLE IF NOT EXISTS used (id INTEGER PRIMARY KEY)"); err != nil {
		return err
	}
	insert, err := tx.PrepareContext(ctx, "INSERT INTO used VALUES (?)")
	if err != nil {
		return err
	}
	for id := range used {
		if _, err := insert.ExecContext(ctx, id); err != nil {
			return err
		}
	}
	if _, err := tx.ExecContext(ctx, "DELETE FROM blob WHERE id NOT IN (SELECT id FROM used)"); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "DROP TABLE used")
	return err
}

// used are the blobs that entries refer to.
func (s *Store) used(ctx context.Context, tx *sql.Tx) (map[int64]bool, error) {
	rows, err := tx.QueryContext(ctx, "SELECT fabric, tables, rest FROM entry")
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	used, manifests := map[int64]bool{}, map[int64]bool{}
	for rows.Next() {
		var fab int64
		var tables, rest sql.NullInt64
		if err := rows.Scan(&fab, &tables, &rest); err != nil {
			return nil, err
		}
		used[fab] = true
		if tables.Valid {
			used[tables.Int64], manifests[tables.Int64] = true, true
		}
		if rest.Valid {
			used[rest.Int64] = true
		}
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	for id := range manifests {
		manifest, err := s.blob(ctx, tx, id)
		if err != nil {
			return nil, err
		}
		ids, err := pieces(manifest)
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			used[id] = true
		}
	}
	return used, nil
}
