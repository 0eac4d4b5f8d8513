// SPDX-License-Identifier: Apache-2.0

package history

import (
	"errors"
	"fmt"
	"io"
	"os"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// DamagedError says that a file cannot be read as a history.
type DamagedError struct {
	Path string
	Err  error
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("the history %s is damaged or is none: %v; move the file away, and a new one is made", e.Path, e.Err)
}

func (e *DamagedError) Unwrap() error { return e.Err }

// magic is what a database file begins with (SQLite, Database File Format, 1.3).
const magic = "SQLite format 3\x00"

// Check returns a [DamagedError] for a file that begins otherwise than a history.
// It reads no more than that, so a history that passes may be damaged further on.
func Check(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
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
	return ok && (e.Code()&0xff == sqlite3.SQLITE_NOTADB || e.Code()&0xff == sqlite3.SQLITE_CORRUPT)
}
