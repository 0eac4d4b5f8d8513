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

// DamagedError says that a file cannot be read as a history.
type DamagedError struct {
	Path string
	Err  error
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("the history %s is damaged or is none: %s; move the file away, and a new one is made",
		fabric.Escape(e.Path), fabric.Escape(e.Err.Error()))
}

func (e *DamagedError) Unwrap() error { return e.Err }

// magic is what a database file begins with (SQLite, Database File Format, 1.3).
const magic = "SQLite format 3\x00"

// Check returns a [DamagedError] for a file that begins otherwise than a history.
// It reads no more than that, so a history that passes may be damaged further on.
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
	if err == io.EOF { // an empty file becomes one
		return nil
	}
	if string(head[:n]) != magic {
		return &DamagedError{path, errors.New("the file is not a database")}
	}
	return nil
}

// damaged reports whether an error is about what is in a file.
func damaged(err error) bool {
	e, ok := errors.AsType[*sqlite.Error](err)
	return errors.Is(err, sqlfile.ErrIrregular) || ok && (e.Code()&0xff == sqlite3.SQLITE_NOTADB ||
		e.Code()&0xff == sqlite3.SQLITE_CORRUPT)
}

// shownError is an error of SQLite, whose messages hold what stands in the file, with its text escaped.
type shownError struct{ error }

// shown makes an error safe to be put into a line.
func shown(err error) error {
	if text := err.Error(); fabric.Escape(text) != text {
		return shownError{err}
	}
	return err
}

func (e shownError) Error() string { return fabric.Escape(e.error.Error()) }

func (e shownError) Unwrap() error { return e.error }
