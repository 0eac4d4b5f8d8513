// SPDX-License-Identifier: Apache-2.0

package records

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/klauspost/compress/zstd"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/internal/base/sqlfile"
)

// pageSize is that of a new file: blocks of several kilobytes waste less in large pages. It must be set before the
// journal's mode, and the driver takes settings by the alphabet: hence the quotes.
const pageSize = `"main".page_size(32768)`

// logPages is how long the log before the file may become: 4 MB.
const logPages = "wal_autocheckpoint(128)"

// FileName is the name of the file in a state directory.
const FileName = "records.db"

// version is the schema's, kept in SQLite's user_version.
const version = 1

// A sample has what the ports of a block counted from began until until, in milliseconds since 1970: as it was read,
// or rolled up out of those of the level below. Ports are numbered by subnet as they come; a block has 1,024 of them.
const schema = `
CREATE TABLE subnet (
	id   INTEGER PRIMARY KEY,
	name TEXT NOT NULL UNIQUE
);
CREATE TABLE port (
	subnet INTEGER NOT NULL REFERENCES subnet,
	nth    INTEGER NOT NULL,
	guid   INTEGER NOT NULL,
	num    INTEGER NOT NULL,
	name   TEXT NOT NULL,
	PRIMARY KEY (subnet, nth)
) WITHOUT ROWID;
CREATE TABLE sample (
	id     INTEGER PRIMARY KEY,
	subnet INTEGER NOT NULL REFERENCES subnet,
	level  INTEGER NOT NULL,
	rolled INTEGER NOT NULL,
	block  INTEGER NOT NULL,
	what   INTEGER NOT NULL,
	began  INTEGER NOT NULL,
	until  INTEGER NOT NULL,
	data   BLOB NOT NULL
);
CREATE INDEX sample_by_block ON sample (subnet, block, level, until);
CREATE INDEX sample_by_level ON sample (level, until);
CREATE TABLE setting (
	name  TEXT PRIMARY KEY,
	value INTEGER NOT NULL
);
`

// Store is an open file of records. Its methods may be called from any goroutine; one process at a time may
// [Store.Keep] those of a subnet.
type Store struct {
	db   *sql.DB
	path string
	pack *zstd.Encoder
	open *zstd.Decoder

	mu    sync.Mutex // guards what follows it
	ports map[string]*ports
	sums  sum // where blocks are put together
}

// Open opens the records in a file and makes it and its directory where they are missing.
func Open(ctx context.Context, path string) (*Store, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("open the records: %w", files.Err(err))
	}
	sqlfile.Private(path)
	s, err := open(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("open the records %s: %w", fabric.Escape(path), err)
	}
	return s, nil
}

func open(ctx context.Context, path string) (*Store, error) {
	q := sqlfile.Writing()
	q["_pragma"] = append([]string{pageSize, logPages}, q["_pragma"]...)
	db, err := sqlfile.Open(path, q)
	if err != nil {
		return nil, err
	}
	s := &Store{db: db, path: path, ports: map[string]*ports{}}
	if s.pack, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1),
		zstd.WithEncoderLevel(zstd.SpeedDefault)); err == nil {
		s.open, err = files.Unfolder(maxBlob)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	if err := sqlfile.Patiently(ctx, s.prepare); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// prepare makes the tables of a new file.
func (s *Store) prepare(ctx context.Context) error {
	return s.change(ctx, func(tx *sql.Tx) error {
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
		_, err := tx.ExecContext(ctx, schema+fmt.Sprintf("PRAGMA user_version = %d", version))
		return err
	})
}

// change runs a change that is made wholly or not at all.
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

func (s *Store) failed(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %s: %w", doing, fabric.Escape(s.path), err)
}

// File is where the records are.
func (s *Store) File() string { return s.path }

// Close closes the file.
func (s *Store) Close() error {
	s.open.Close()
	return errors.Join(s.pack.Close(), s.db.Close())
}

// maxBlob is more than a block unfolds to: 1,024 ports with twenty counters of ten bytes.
const maxBlob = 1 << 20

// fold packs a block: the length of what is compressed, that, and what is not.
func (s *Store) fold(b *block) []byte {
	data, fine := b.append()
	packed := s.pack.EncodeAll(data, nil)
	out := binary.AppendUvarint(make([]byte, 0, 4+len(packed)+len(fine)), uint64(len(packed)))
	return append(append(out, packed...), fine...)
}

func (s *Store) unfold(b *block, folded []byte) error {
	length, n := binary.Uvarint(folded)
	if n <= 0 || length > uint64(len(folded)-n) {
		return errShort
	}
	data, err := files.Unfold(s.open, folded[n:n+int(length)], maxBlob)
	if err != nil {
		return err
	}
	return b.unpack(data, folded[n+int(length):])
}

// setting returns a number that the file keeps, 0 where it has none.
func setting(ctx context.Context, from querier, name string) (value int64, err error) {
	err = from.QueryRowContext(ctx, "SELECT value FROM setting WHERE name = ?", name).Scan(&value)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return value, err
}

func set(ctx context.Context, tx *sql.Tx, name string, value int64) error {
	_, err := tx.ExecContext(ctx, "INSERT OR REPLACE INTO setting VALUES (?, ?)", name, value)
	return err
}

// querier is the data base, or a transaction.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}
