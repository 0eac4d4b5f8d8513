// SPDX-License-Identifier: Apache-2.0

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
	_ "modernc.org/sqlite" // the driver
)

// FileName is the name of the file in a state directory.
const FileName = "history.db"

// Store is an open history. Its methods may be called from any goroutine.
type Store struct {
	db   *sql.DB
	dir  string
	pack *zstd.Encoder
	open *zstd.Decoder
}

// Dir is the directory where a user's history is: $XDG_STATE_HOME/ibconsole, or
// ~/.local/state/ibconsole.
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

// Open opens the history in a directory and makes both where they are missing.
// The error says where a directory cannot be written, and where a newer program
// has made the file.
func Open(ctx context.Context, dir string) (*Store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open the history: %w", err)
	}
	path := filepath.Join(dir, FileName)
	s, err := open(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("open the history %s: %w", path, err)
	}
	s.dir = dir
	return s, nil
}

// pragmas make readers and a writer not wait for each other, what is committed
// survive a loss of power, and a second writer wait up to ten seconds.
var pragmas = []string{"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(ON)"}

func open(ctx context.Context, path string) (*Store, error) {
	q := url.Values{"_pragma": pragmas, "_txlock": {"immediate"}}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: q.Encode()}).String())
	if err != nil {
		return nil, err
	}
	s := &Store{db: db}
	if err := s.prepare(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	if s.pack, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest)); err == nil {
		s.open, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(1<<32))
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

// prepare makes the tables of a new file and checks those of an old one.
func (s *Store) prepare(ctx context.Context) error {
	return s.write(ctx, func(tx *sql.Tx) error {
		var have int
		if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&have); err != nil {
			return err
		}
		switch {
		case have > version:
			return fmt.Errorf("a newer program made it: its version is %d, this program knows %d", have, version)
		case have == version:
			return nil
		}
		if _, err := tx.ExecContext(ctx, schema); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", version))
		return err
	})
}

// write runs a change that is made wholly or not at all.
func (s *Store) write(ctx context.Context, change func(*sql.Tx) error) error {
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
