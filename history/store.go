// SPDX-License-Identifier: Apache-2.0

// Package history stores the states of a subnet over time. Sweeps, routings, loads and commits are stored as snapshots
// of fabric and tables. The journal of commits makes it possible to finish an interrupted commit or to roll it back.
//
// The history is a single SQLite file, which several consoles may use at the same time. Snapshots share equal data:
// fabrics as a whole, and forwarding tables in pieces of 4,096 LIDs.
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

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/internal/base/sqlfile"
)

// FileName is the name of the file with the history in a state directory.
const FileName = "history.db"

// Store is an open history. It is safe for concurrent use.
type Store struct {
	db   *sql.DB
	path string
	pack *zstd.Encoder
	open *zstd.Decoder
	// ends, others, events, simulated, seen, controls and halfway are SQL expressions for the columns of these names.
	// They are constants for an older file that lacks the columns and is opened read-only.
	ends, others, events, simulated, seen, controls, halfway string
	// readOnly is the reason why the history cannot be written, nil if it can be written.
	readOnly error
	// exposed is an [ExposedError] or nil.
	exposed error
}

// ReadOnly returns a [sqlfile.ReadOnlyError] if the history can only be read, otherwise nil.
func (s *Store) ReadOnly() error { return s.readOnly }

// Dir returns the directory of the user's history: $XDG_STATE_HOME/ibconsole, or ~/.local/state/ibconsole.
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

// OpenFile opens the history in a file. If the file or its directory does not exist, OpenFile creates it. The lock
// files of subnets are in the same directory. A history that cannot be written is opened for reading, see
// [Store.ReadOnly]. OpenFile returns an error if there is no history and it cannot create one, or if a newer program
// has written the file.
func OpenFile(ctx context.Context, path string) (*Store, error) {
	dir := filepath.Dir(path)
	err := os.MkdirAll(dir, 0o700)
	if err != nil {
		return nil, fmt.Errorf("open the history: %w", files.Err(err))
	}
	sqlfile.Private(path)
	s, err := open(ctx, path)
	if sqlfile.CannotWrite(err) {
		q, newest := sqlfile.Reading(ctx, path)
		switch old, rerr := openToRead(ctx, path, q); {
		case rerr == nil:
			old.readOnly = &sqlfile.ReadOnlyError{What: "history", Dir: dir, Err: err, Newest: newest}
			s, err = old, nil
		case errors.Is(rerr, os.ErrNotExist):
			err = fmt.Errorf("the file does not exist, and it cannot be created: %w", err)
		}
	}
	switch {
	case sqlfile.IsDamaged(err):
		return nil, &DamagedError{path, err}
	case err != nil:
		return nil, fmt.Errorf("open the history %s: %w", fabric.Escape(path), escaped(err))
	}
	s.exposed = exposed(path)
	return s, nil
}

func open(ctx context.Context, path string) (*Store, error) {
	if err := sqlfile.Writable(path); err != nil {
		return nil, err
	}
	s, err := connect(path, sqlfile.Writing())
	if err != nil {
		return nil, err
	}
	if err := sqlfile.Patiently(ctx, s.prepare); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// openToRead opens an existing file for reading with the URL parameters in q.
func openToRead(ctx context.Context, path string, q url.Values) (*Store, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, files.Err(err)
	}
	s, err := connect(path, q)
	if err != nil {
		return nil, err
	}
	var have int
	err = s.db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&have)
	if err == nil {
		err = known(have)
	}
	if err == nil && have == 0 {
		err = errors.New("the file is not a history of ibconsole")
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	for _, c := range []struct {
		since  int
		column *string
		value  string
	}{{3, &s.ends, "0"}, {4, &s.others, "''"}, {5, &s.events, "''"}, {6, &s.simulated, "''"}, {7, &s.seen, "''"},
		{8, &s.controls, "''"}, {9, &s.halfway, "0"}} {
		if have < c.since {
			*c.column = c.value
		}
	}
	return s, nil
}

func connect(path string, q url.Values) (*Store, error) {
	db, err := sqlfile.Open(path, q)
	if err != nil {
		return nil, err
	}
	s := &Store{db: db, path: path, ends: "ends", others: "others", events: "events", simulated: "simulated",
		seen: "seen", controls: "controls", halfway: "halfway"}
	if s.pack, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1),
		zstd.WithEncoderLevel(zstd.SpeedFastest)); err == nil {
		s.open, err = files.NewDecoder(maxBlob)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

// known returns an error if this program does not know the version of a file.
func known(have int) error {
	if have < 0 || have > version {
		return fmt.Errorf("written by a newer ibconsole: the format has version %d, this program supports "+
			"version %d", have, version)
	}
	return nil
}

// prepare creates the tables of a new file, and upgrades those of an old file.
func (s *Store) prepare(ctx context.Context) error {
	return sqlfile.Change(ctx, s.db, func(tx *sql.Tx) error {
		var have int
		if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&have); err != nil {
			return err
		}
		if err := known(have); err != nil || have == version {
			return err
		}
		for _, upgrade := range upgrades[have:] {
			if _, err := tx.ExecContext(ctx, upgrade); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", version))
		return err
	})
}

// write runs the function change in a transaction, so the change is made completely or not at all. The error contains
// the path of the file.
func (s *Store) write(ctx context.Context, change func(*sql.Tx) error) error {
	if s.readOnly != nil {
		return s.readOnly
	}
	return s.withPath(sqlfile.Change(ctx, s.db, change))
}

func (s *Store) withPath(err error) error { return failed(fabric.Escape(s.path), err) }

// failed returns err with its context, a text such as "store the outages of links". It returns nil if err is nil.
func failed(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// Close closes the file.
func (s *Store) Close() error {
	s.open.Close()
	return errors.Join(s.pack.Close(), s.db.Close())
}
