// SPDX-License-Identifier: Apache-2.0

// Package history keeps what a subnet was: sweeps, routings, loads and commits, each as a snapshot of its fabric
// and tables, and the journal of commits from which one that was interrupted is brought to an end or taken back.
//
// It is one SQLite file, which several consoles may use at once. What snapshots share is stored once: fabrics
// as they are, forwarding tables in pieces of 4,096 LIDs.
package history

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zstd"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/internal/base/sqlfile"
)

// FileName is the name of the file in a state directory.
const FileName = "history.db"

// Store is an open history. Its methods may be called from any goroutine.
type Store struct {
	db   *sql.DB
	path string
	pack *zstd.Encoder
	open *zstd.Decoder
	// ends, others, events, simulated and seen are the columns of these names, or what stands for them in a
	// file that has none and is only read.
	ends, others, events, simulated, seen string
	// why says why nothing can be written, nil where it can.
	why error
	// exposed is an [ExposedError] or nil.
	exposed error
}

// ReadOnlyError says that a history can be read and not written.
type ReadOnlyError struct {
	Dir string
	Err error
}

func (e *ReadOnlyError) Error() string {
	return fmt.Sprintf("the history in %s can be read and not written: %v", e.Dir, e.Err)
}

func (e *ReadOnlyError) Unwrap() error { return e.Err }

// ReadOnly is a [ReadOnlyError] where the history can only be read, else nil.
func (s *Store) ReadOnly() error { return s.why }

// Dir returns the directory where a user's history is: $XDG_STATE_HOME/ibconsole, or ~/.local/state/ibconsole.
func Dir() (string, error) {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "ibconsole"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("find the state directory: %w", err)
	}
	return filepath.Join(home, ".local", "state", "ibconsole"), nil
}

// OpenFile opens the history in a file and makes it and its directory where they are missing; locks of
// subnets lie beside it. One that is there and cannot be written is opened for reading, see [Store.ReadOnly].
// The error says where there is none and none can be made, and where a newer program has made the file.
func OpenFile(ctx context.Context, path string) (*Store, error) {
	dir := filepath.Dir(path)
	err := os.MkdirAll(dir, 0o700)
	if err != nil {
		return nil, fmt.Errorf("open the history: %w", files.Err(err))
	}
	sqlfile.Private(path)
	s, err := open(ctx, path)
	if err != nil && cannotWrite(err) {
		if old, rerr := openToRead(ctx, path); rerr == nil {
			old.why = &ReadOnlyError{dir, err}
			s, err = old, nil
		}
	}
	switch {
	case damaged(err):
		return nil, &DamagedError{path, err}
	case err != nil:
		return nil, fmt.Errorf("open the history %s: %w", fabric.Escape(path), shown(err))
	}
	s.exposed = exposed(path)
	return s, nil
}

// cannotWrite reports whether an error is about writing, not about what is there.
func cannotWrite(err error) bool {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR,
		sqlite3.SQLITE_PERM:
		return true
	}
	return false
}

func open(ctx context.Context, path string) (*Store, error) {
	s, err := connect(path, sqlfile.Writing())
	if err != nil {
		return nil, err
	}
	if err := sqlfile.Patiently(ctx, s.prepare); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// openToRead opens a file that is there and leaves it as it is. Nothing else may write to it meanwhile.
func openToRead(ctx context.Context, path string) (*Store, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, files.Err(err)
	}
	s, err := connect(path, url.Values{"mode": {"ro"}, "immutable": {"1"}})
	if err != nil {
		return nil, err
	}
	var have int
	err = s.db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&have)
	if err == nil {
		err = known(have)
	}
	if err == nil && have == 0 {
		err = errors.New("it is no history")
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if have < 3 {
		s.ends = "0"
	}
	if have < 4 {
		s.others = "''"
	}
	if have < 5 {
		s.events = "''"
	}
	if have < 6 {
		s.simulated = "''"
	}
	if have < 7 {
		s.seen = "''"
	}
	return s, nil
}

func connect(path string, q url.Values) (*Store, error) {
	db, err := sqlfile.Open(path, q)
	if err != nil {
		return nil, err
	}
	s := &Store{db: db, path: path, ends: "ends", others: "others", events: "events", simulated: "simulated",
		seen: "seen"}
	if s.pack, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1),
		zstd.WithEncoderLevel(zstd.SpeedFastest)); err == nil {
		s.open, err = files.Unfolder(maxBlob)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

func known(have int) error {
	if have > version {
		return fmt.Errorf("a newer program made it: its version is %d, this program knows %d", have, version)
	}
	return nil
}

// prepare makes the tables of a new file and checks those of an old one.
func (s *Store) prepare(ctx context.Context) error {
	return s.change(ctx, func(tx *sql.Tx) error {
		var have int
		if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&have); err != nil {
			return err
		}
		if err := known(have); err != nil || have == version {
			return err
		}
		if have == 0 {
			if _, err := tx.ExecContext(ctx, schema); err != nil {
				return err
			}
		}
		if have < 2 {
			if _, err := tx.ExecContext(ctx, settings); err != nil {
				return err
			}
		}
		if have < 3 {
			if _, err := tx.ExecContext(ctx, ending); err != nil {
				return err
			}
		}
		if have < 4 {
			if _, err := tx.ExecContext(ctx, others); err != nil {
				return err
			}
		}
		if have < 5 {
			if _, err := tx.ExecContext(ctx, events); err != nil {
				return err
			}
		}
		if have < 6 {
			if _, err := tx.ExecContext(ctx, simulated); err != nil {
				return err
			}
		}
		if _, err := tx.ExecContext(ctx, seen); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", version))
		return err
	})
}

// write runs a change that is made wholly or not at all. Its error names the file.
func (s *Store) write(ctx context.Context, change func(*sql.Tx) error) error {
	if s.why != nil {
		return s.why
	}
	if err := s.change(ctx, change); err != nil {
		return s.named(err)
	}
	return nil
}

func (s *Store) named(err error) error { return fmt.Errorf("%s: %w", fabric.Escape(s.path), err) }

func (s *Store) change(ctx context.Context, change func(*sql.Tx) error) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := change(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// Close closes the file.
func (s *Store) Close() error {
	s.open.Close()
	return errors.Join(s.pack.Close(), s.db.Close())
}
