// SPDX-License-Identifier: Apache-2.0

package history

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

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
	return fmt.Sprintf("the history %s is damaged or not a history: %s; hint: move the file away to start a "+
		"new history",
		fabric.Escape(e.Path), fabric.Escape(e.Err.Error()))
}

func (e *DamagedError) Unwrap() error { return e.Err }

// magic is the beginning of a database file (SQLite, Database File Format, 1.3).
const magic = "SQLite format 3\x00"

// Check returns a [DamagedError] if a file does not begin like a history, or is truncated. It reads only the beginning
// of the file, so the rest may still be damaged.
func Check(path string) error {
	if err := sqlfile.Regular(path); err != nil {
		return &DamagedError{path, err}
	}
	f, err := os.Open(path)
	if err != nil {
		return files.Err(err)
	}
	defer func() { _ = f.Close() }()
	var head struct {
		Magic    [len(magic)]byte
		PageSize uint16 // 1 means 65536
		_        [10]byte
		Pages    uint32
	}
	err = binary.Read(f, binary.BigEndian, &head)
	if err == io.EOF { // an empty file becomes a history
		return nil
	}
	if string(head.Magic[:]) != magic {
		return &DamagedError{path, errors.New("the file is not a database")}
	}
	info, serr := f.Stat()
	_, werr := os.Stat(path + "-wal") // while it exists, the database may be written
	size := int64(head.Pages) * cmp.Or(int64(head.PageSize)&^1, 1<<16)
	if serr == nil && werr != nil && info.Size() < size {
		return &DamagedError{path, fmt.Errorf("the file is truncated: it has %d of %d bytes", info.Size(), size)}
	}
	return nil
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
