// SPDX-License-Identifier: Apache-2.0

// Package sqlfile opens files of SQLite in the way that all of ours are opened.
package sqlfile

import (
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"example.org/ibconsole/internal/base/plain"
)

// pragmas make readers and a writer not wait for each other, what is committed
// survive a loss of power, and a second writer wait up to ten seconds.
func pragmas() []string {
	return []string{"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(ON)"}
}

// Writing returns the parameters of a file that is read and written.
func Writing() url.Values { return url.Values{"_pragma": pragmas(), "_txlock": {"immediate"}} }

// ErrIrregular says that something else than a regular file has the name. SQLite waits for ever for a named pipe.
var ErrIrregular = errors.New("no regular file")

// Regular returns [ErrIrregular] where a database, or a file that SQLite keeps with it, is there and no regular file.
func Regular(path string) error {
	for _, suffix := range []string{"", "-journal", "-wal", "-shm"} {
		if info, err := os.Stat(path + suffix); err == nil && !info.Mode().IsRegular() {
			return fmt.Errorf("%s is %w", plain.Escape(filepath.Base(path+suffix)), ErrIrregular)
		}
	}
	return nil
}

// Open names a file, which is opened when it is first used. The error is that of [Regular].
func Open(path string, q url.Values) (*sql.DB, error) {
	if err := Regular(path); err != nil {
		return nil, err
	}
	return sql.Open("sqlite",
		(&url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: q.Encode()}).String())
}

// Private makes a new file, or has one that is there, for nobody but its owner; SQLite's files beside it take its
// mode. Where that cannot be, opening says what can be said.
func Private(path string) {
	if f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600); err == nil {
		_ = f.Close()
		return
	}
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0 {
		_ = os.Chmod(path, info.Mode().Perm()&^0o077)
	}
}
