// SPDX-License-Identifier: Apache-2.0

package history

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"example.org/ibconsole/internal/base/sqlfile"
)

// DefaultRetention is the retention of a history without this setting.
var DefaultRetention = Retention{Age: 365 * 24 * time.Hour, Size: 900 << 20}

// Retention limits the entries that a history keeps. Commits and the entries before them are always kept.
type Retention struct {
	// Age is the time for which entries are kept. If it is 0, they are kept without a limit of time.
	Age time.Duration
	// Size is the maximum number of bytes in use in the file, 0 for no limit. If it is exceeded, the oldest entries are
	// removed first.
	Size int64
}

// Retention returns the limits of the history. They are applied whenever an entry is added.
func (s *Store) Retention(ctx context.Context) (Retention, error) {
	r := DefaultRetention
	var version int
	if err := s.db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil || version < 2 {
		return r, err
	}
	rows, err := s.db.QueryContext(ctx, "SELECT name, value FROM setting")
	if err != nil {
		return r, fmt.Errorf("read the history's settings: %w", s.withPath(err))
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var name string
		var value int64
		if err := rows.Scan(&name, &value); err != nil {
			return r, err
		}
		switch name {
		case "age":
			r.Age = time.Duration(value)
		case "size":
			r.Size = value
		}
	}
	return r, rows.Err()
}

// SetRetention sets the limits of the history.
func (s *Store) SetRetention(ctx context.Context, r Retention) error {
	err := s.write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT OR REPLACE INTO setting VALUES ('age', ?), ('size', ?)",
			int64(r.Age), r.Size)
		return err
	})
	return failed("write the history's settings", err)
}

// keep removes the entries that are beyond the limits. It first checks with a single query whether there are any.
func (s *Store) keep(ctx context.Context) error {
	r, err := s.Retention(ctx)
	if err != nil {
		return err
	}
	var old, some bool
	q := "SELECT EXISTS (SELECT 1 FROM entry WHERE " + removable + " AND until < ?), EXISTS (SELECT 1 FROM " +
		"entry WHERE " + removable + ")"
	if err := s.db.QueryRowContext(ctx, q, time.Now().Add(-r.Age).UnixNano()).Scan(&old, &some); err != nil {
		return err
	}
	size, err := sqlfile.Used(ctx, s.db)
	if err != nil {
		return err
	}
	tooMuch := r.Size > 0 && some && size > r.Size
	if !tooMuch && (r.Age == 0 || !old) {
		return nil
	}
	_, err = s.shrink(ctx, r)
	return err
}

// Prune removes the entries beyond the limits in r and the blobs that are no longer used. Then it compacts the file. It
// returns the number of removed entries.
func (s *Store) Prune(ctx context.Context, r Retention) (gone int, err error) {
	if gone, err = s.shrink(ctx, r); err != nil {
		return gone, fmt.Errorf("prune the history: %w", err)
	}
	if gone > 0 {
		if _, err = s.db.ExecContext(ctx, "VACUUM"); err != nil {
			err = fmt.Errorf("compact the history after %d entries were removed: %w", gone, s.withPath(err))
		}
	}
	return gone, err
}

func (s *Store) shrink(ctx context.Context, r Retention) (gone int, err error) {
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
		if n, err = s.dropSomeOver(ctx, r.Size); n == 0 {
			break
		}
		gone += n
	}
	return gone, err
}

// removable is the SQL condition for entries that may be removed: all except commits, the entries of commits, and the
// latest entry.
const removable = `kind <> 'commit' AND id NOT IN (SELECT before FROM journal) AND id NOT IN (SELECT after FROM journal)
	AND id < (SELECT max(id) FROM entry)`

func drop(ctx context.Context, tx *sql.Tx, which string, args ...any) (int, error) {
	res, err := tx.ExecContext(ctx, "DELETE FROM entry WHERE "+removable+" AND "+which, args...)
	if err != nil {
		return 0, err
	}
	n, err := res.RowsAffected()
	return int(n), err
}

// dropSomeOver removes the oldest eighth of the removable entries if more than size bytes are in use.
func (s *Store) dropSomeOver(ctx context.Context, size int64) (n int, err error) {
	err = s.write(ctx, func(tx *sql.Tx) error {
		have, err := sqlfile.Used(ctx, tx)
		if err != nil || have <= size {
			return err
		}
		n, err = drop(ctx, tx, `id <= (SELECT id FROM entry WHERE `+removable+` ORDER BY id
			LIMIT 1 OFFSET (SELECT (count(*) - 1) / 8 FROM entry WHERE `+removable+`))`)
		if err != nil {
			return err
		}
		return s.collect(ctx, tx)
	})
	return n, err
}

// collect deletes the blobs to which no entry refers.
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

// used returns the IDs of the blobs to which entries and the journal refer.
func (s *Store) used(ctx context.Context, tx *sql.Tx) (map[int64]bool, error) {
	rows, err := tx.QueryContext(ctx, "SELECT fabric, tables, rest FROM entry UNION ALL "+
		"SELECT halfway, NULL, NULL FROM journal")
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
		manifest, err := s.blob(ctx, tx, id, maxManifest)
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
