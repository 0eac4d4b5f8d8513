// SPDX-License-Identifier: Apache-2.0

// Package sqlfile opens SQLite files. All databases of the program use its settings.
package sqlfile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"example.org/ibconsole/internal/base/plain"
)

// pragmas returns the settings of a database. They let readers and one writer work at the same time, and keep commits
// after a loss of power. A second writer waits up to ten seconds.
func pragmas() []string {
	return []string{"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(ON)"}
}

// Writing returns the URL parameters that open a file for reading and writing.
func Writing() url.Values { return url.Values{"_pragma": pragmas(), "_txlock": {"immediate"}} }

// ErrIrregular is returned for a path that is not a regular file. SQLite would wait forever for a named pipe.
var ErrIrregular = errors.New("not a regular file")

// Regular returns [ErrIrregular] if the database exists and is not a regular file. It also checks the additional files
// that SQLite keeps next to the database.
func Regular(path string) error {
	for _, suffix := range []string{"", "-journal", "-wal", "-shm"} {
		if info, err := os.Stat(path + suffix); err == nil && !info.Mode().IsRegular() {
			return fmt.Errorf("%s is %w", plain.Escape(filepath.Base(path+suffix)), ErrIrregular)
		}
	}
	return nil
}

// IsDamaged reports whether an error is about the contents of a file.
func IsDamaged(err error) bool {
	e, ok := errors.AsType[*sqlite.Error](err)
	return errors.Is(err, ErrIrregular) || ok && (e.Code()&0xff == sqlite3.SQLITE_NOTADB ||
		e.Code()&0xff == sqlite3.SQLITE_CORRUPT)
}

// Open prepares a database. SQLite opens the file at its first use. Open returns the error of [Regular].
func Open(path string, q url.Values) (*sql.DB, error) {
	if err := Regular(path); err != nil {
		return nil, err
	}
	return sql.Open("sqlite",
		(&url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: q.Encode()}).String())
}

// Private creates a new file that only its owner can access, or removes the access of others to an existing file.
// SQLite gives its additional files the same mode. Private ignores errors, because opening the file reports them.
func Private(path string) {
	if f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600); err == nil {
		_ = f.Close()
		return
	}
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0 {
		_ = os.Chmod(path, info.Mode().Perm()&^0o077)
	}
}

// Change calls the function change in a transaction, so the database is changed completely or not at all.
func Change(ctx context.Context, db *sql.DB, change func(*sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := change(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// Used returns the number of bytes in use in a database file. The argument from is the database or a transaction.
func Used(ctx context.Context, from interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}) (int64, error) {
	var pages, free, size int64
	for pragma, into := range map[string]*int64{"page_count": &pages, "freelist_count": &free, "page_size": &size} {
		if err := from.QueryRowContext(ctx, "PRAGMA "+pragma).Scan(into); err != nil {
			return 0, err
		}
	}
	return (pages - free) * size, nil
}
