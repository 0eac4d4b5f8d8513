// SPDX-License-Identifier: Apache-2.0

package history

import (
	"errors"
	"fmt"
	"io"
	"os"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/internal/base/sqlfile"
)

// DamagedError reports that a file cannot be read as a history.
type DamagedError struct {
	Path string
	Err  error
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("the history %s is damaged or not a history: %s; move the file away to start a new one",
		fabric.Escape(e.Path), fabric.Escape(e.Err.Error()))
}

func (e *DamagedError) Unwrap() error { return e.Err }

// magic is the beginning of a database file (SQLite, Database File Format, 1.3).
const magic = "SQLite format 3\x00"

// Check returns a [DamagedError] if a file does not begin like a history. It reads only the beginning of the file, so
// the rest may still be damaged.
func Check(path string) error {
	if err := sqlfile.Regular(path); err != nil {
		return &DamagedError{path, err}
	}
	f, err := os.Open(path)
	if err != nil {
		return files.Err(err)
	}
	defer func() { _ = f.Close() }()
	head := make([]byte, len(magic))
	n, err := io.ReadFull(f, head)
	if err == io.EOF { // an empty file becomes a history
		return nil
	}
	if string(head[:n]) != magic {
		return &DamagedError{path, errors.New("the file is not a database")}
	}
	return nil
}

// damaged reports whether an error concerns the contents of a file.
func damaged(err error) bool {
	e, ok := errors.AsType[*sqlite.Error](err)
	return errors.Is(err, sqlfile.ErrIrregular) || ok && (e.Code()&0xff == sqlite3.SQLITE_NOTADB ||
		e.Code()&0xff == sqlite3.SQLITE_CORRUPT)
}

// escapedError is an error of SQLite with its message escaped. Messages of SQLite may contain text of the file.
type escapedError struct{ error }

// escaped returns err with a message that is safe to print in one line.
func escaped(err error) error {
	if text := err.Error(); fabric.Escape(text) != text {
		return escapedError{err}
	}
	return err
}

func (e escapedError) Error() string { return fabric.Escape(e.error.Error()) }

func (e escapedError) Unwrap() error { return e.error }
