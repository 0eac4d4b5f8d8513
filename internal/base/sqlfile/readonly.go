// SPDX-License-Identifier: Apache-2.0

package sqlfile

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// ReadOnlyError reports that a file can only be read.
type ReadOnlyError struct {
	What string // the contents of the file, such as "history"
	Dir  string
	Err  error
	// Newest is the write-ahead log with the newest changes if it cannot be read, otherwise "".
	Newest string
}

func (e *ReadOnlyError) Error() string {
	text := fmt.Sprintf("the %s in %s is read-only: %v", e.What, e.Dir, e.Err)
	if e.Newest != "" {
		text += fmt.Sprintf("; the newest changes, in %s, cannot be read", filepath.Base(e.Newest))
	}
	return text
}

func (e *ReadOnlyError) Unwrap() error { return e.Err }

// accessWrite is W_OK of access(2).
const accessWrite = 2

// Writable returns an error if the process may not write to an existing file or to its directory.
func Writable(path string) error {
	for _, p := range []string{path, filepath.Dir(path)} {
		err := syscall.Access(p, accessWrite)
		if err != nil && !errors.Is(err, syscall.ENOENT) {
			return err
		}
	}
	return nil
}

// CannotWrite reports whether an error concerns writing and not the contents of the file.
func CannotWrite(err error) bool {
	if errors.Is(err, syscall.EACCES) || errors.Is(err, syscall.EROFS) {
		return true
	}
	e, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return false
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR,
		sqlite3.SQLITE_PERM:
		return true
	}
	return false
}

// Reading returns the URL parameters that open an existing file for reading only, and the path of its write-ahead log
// if SQLite cannot read it, otherwise "". The log can be read if the file of its index exists, or can be created.
// Without the log, no process may write to the file while it is open.
func Reading(ctx context.Context, path string) (q url.Values, newest string) {
	q = url.Values{"mode": {"ro"}, "_pragma": {"busy_timeout(10000)"}}
	db, err := Open(path, q)
	if err == nil {
		var n int
		err = errors.Join(db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&n), db.Close())
	}
	if err == nil {
		return q, ""
	}
	q.Set("immutable", "1")
	if info, err := os.Stat(path + "-wal"); err == nil && info.Size() > 0 {
		newest = path + "-wal"
	}
	return q, newest
}
