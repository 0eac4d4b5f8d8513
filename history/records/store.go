// SPDX-License-Identifier: Apache-2.0

// Package records stores the counts of ports over time, by seconds, minutes and hours. It uses an SQLite file of
// limited size next to the history. The file is separate, so that commits do not wait for it.
//
// The counts of a port between two readings form a [Sample]. The samples of one round are encoded in blocks of 1,024
// ports, column by column, without zeros. Errors are exact. Data, packets and waits have 9 binary digits, which means
// an error of at most 1 in 512. Samples of seconds are rolled up to minutes, and samples of minutes to hours. Each
// level rounds again, so a figure of hours has an error of at most 3 in 512. If the file is too large, the oldest
// samples of the finest level are removed first.
package records

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/internal/base/sqlfile"
)

// pageSize is the setting for the page size of a new file. Blocks of several kilobytes waste less space in large pages.
// The page size must be set before the journal mode. The driver applies settings in alphabetical order, and the quotes
// make this setting the first.
const pageSize = `"main".page_size(32768)`

// logPages limits the write-ahead log to 4 MB.
const logPages = "wal_autocheckpoint(128)"

// FileName is the name of the file with the records in a state directory.
const FileName = "records.db"

// version is the version of the schema. The file stores it in SQLite's user_version. A file of an earlier version can
// be read. Only a recorder upgrades it, because an earlier program cannot read it then.
const version = withSets

// The versions of the schema that added tables or columns: those of [ledgerSchema], [outageSchema], [evidenceSchema]
// and [setSchema].
const (
	withLedger = iota + 2
	withOutages
	withEvidence
	withSets
)

// A row of the table sample holds the counts of a block's ports from began to until, in milliseconds since 1970. The
// row was either stored by Keep or rolled up from the level below. Ports are numbered per subnet in the order of their
// appearance. A block has 1,024 ports.
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

// Store is an open file of records. It is safe for concurrent use. Only one process at a time may call [Store.Keep] for
// a subnet.
type Store struct {
	db   *sql.DB
	path string
	pack *zstd.Encoder
	open *zstd.Decoder
	// readOnly is the reason why the file cannot be written, nil if it can be written.
	readOnly error

	mu    sync.Mutex // guards the fields below
	ports map[string]*ports
	sums  sum // reused for building blocks
}

// Open opens the file of records. If the file or its directory does not exist, Open creates it. A file that cannot be
// written is opened for reading, see [Store.ReadOnly].
func Open(ctx context.Context, path string) (*Store, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("open the records: %w", files.Err(err))
	}
	sqlfile.Private(path)
	var s *Store
	err := sqlfile.Writable(path)
	if err == nil {
		s, err = open(ctx, path, sqlfile.Writing())
	}
	if _, missing := os.Stat(path); sqlfile.CannotWrite(err) && missing == nil {
		q, newest := sqlfile.Reading(ctx, path)
		why := &sqlfile.ReadOnlyError{What: "record", Dir: filepath.Dir(path), Err: err, Newest: newest}
		if s, err = open(ctx, path, q); err == nil {
			s.readOnly = why
		} else {
			err = fmt.Errorf("%w (write it: %w)", err, why.Err)
		}
	}
	switch {
	case sqlfile.IsDamaged(err):
		return nil, fmt.Errorf("open the records %s: the file is damaged or has no records: %w; hint: move the file "+
			"away to start new records", fabric.Escape(path), err)
	case err != nil:
		return nil, fmt.Errorf("open the records %s: %w", fabric.Escape(path), err)
	}
	return s, nil
}

func open(ctx context.Context, path string, q url.Values) (*Store, error) {
	isReading := q.Has("mode")
	if !isReading {
		q["_pragma"] = append([]string{pageSize, logPages}, q["_pragma"]...)
	}
	db, err := sqlfile.Open(path, q)
	if err != nil {
		return nil, err
	}
	s := &Store{db: db, path: path, ports: map[string]*ports{}}
	if s.pack, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1),
		zstd.WithEncoderLevel(zstd.SpeedDefault)); err == nil {
		s.open, err = files.NewDecoder(maxBlob)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	prepare := s.prepare
	if isReading {
		prepare = s.check
	}
	if err := sqlfile.Patiently(ctx, prepare); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// prepare creates the tables of a new file.
func (s *Store) prepare(ctx context.Context) error {
	have, err := versionOf(ctx, s.db)
	switch {
	case err != nil:
		return err
	case have == 0:
		return sqlfile.Change(ctx, s.db, func(tx *sql.Tx) error { return upgrade(ctx, tx) })
	}
	return supported(have)
}

// check returns an error if this program cannot read the format of the file.
func (s *Store) check(ctx context.Context) error {
	have, err := versionOf(ctx, s.db)
	switch {
	case err != nil:
		return err
	case have == 0:
		return errors.New("the file has no records")
	}
	return supported(have)
}

func supported(have int) error {
	if have > version {
		return fmt.Errorf("written by a newer ibconsole: the format has version %d, this program supports version %d",
			have, version)
	}
	return nil
}

func versionOf(ctx context.Context, from querier) (have int, err error) {
	err = from.QueryRowContext(ctx, "PRAGMA user_version").Scan(&have)
	return have, err
}

// upgrade adds the tables and columns of later versions.
func upgrade(ctx context.Context, tx *sql.Tx) error {
	have, err := versionOf(ctx, tx)
	if err != nil || have == version {
		return err
	}
	if err := supported(have); err != nil {
		return err
	}
	add := strings.Join([]string{schema, ledgerSchema, outageSchema, evidenceSchema, setSchema}[have:], "")
	_, err = tx.ExecContext(ctx, add+fmt.Sprintf("PRAGMA user_version = %d", version))
	return err
}

// Upgrade upgrades a file of an earlier version for a recorder. Programs of that version cannot read it afterwards. It
// returns the earlier version, or 0 if there was nothing to upgrade.
func (s *Store) Upgrade(ctx context.Context) (earlier int, err error) {
	err = s.change(ctx, func(tx *sql.Tx) error {
		have, err := versionOf(ctx, tx)
		if have < version {
			earlier = have
		}
		return errors.Join(err, upgrade(ctx, tx))
	})
	return earlier, s.failed("upgrade the records", err)
}

// ReadOnly returns a [sqlfile.ReadOnlyError] if the file can only be read, otherwise nil.
func (s *Store) ReadOnly() error { return s.readOnly }

// change changes the file without an upgrade.
func (s *Store) change(ctx context.Context, change func(*sql.Tx) error) error {
	if s.readOnly != nil {
		return s.readOnly
	}
	return sqlfile.Change(ctx, s.db, change)
}

// record changes the file for a recorder.
func (s *Store) record(ctx context.Context, change func(*sql.Tx) error) error {
	return s.change(ctx, func(tx *sql.Tx) error {
		if err := upgrade(ctx, tx); err != nil {
			return err
		}
		return change(tx)
	})
}

func (s *Store) failed(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %s: %w", doing, fabric.Escape(s.path), err)
}

// File returns the path of the file.
func (s *Store) File() string { return s.path }

// Close closes the file.
func (s *Store) Close() error {
	s.open.Close()
	return errors.Join(s.pack.Close(), s.db.Close())
}

// maxBlob is the maximum decompressed size of a block in bytes. It is more than 1,024 ports with twenty counters of ten
// bytes need.
const maxBlob = 1 << 20

// encode encodes a block. The result has the length of the compressed part, the compressed part, and the part that is
// not compressed.
func (s *Store) encode(b *block) []byte {
	data, fine := b.append()
	packed := s.pack.EncodeAll(data, nil)
	out := binary.AppendUvarint(make([]byte, 0, 4+len(packed)+len(fine)), uint64(len(packed)))
	return append(append(out, packed...), fine...)
}

func (s *Store) decode(b *block, data []byte) error {
	length, n := binary.Uvarint(data)
	if n <= 0 || length > uint64(len(data)-n) {
		return errShort
	}
	packed, fine := data[n:n+int(length)], data[n+int(length):]
	unpacked, err := files.Decompress(s.open, packed, maxBlob)
	if err != nil {
		return err
	}
	return b.unpack(unpacked, fine)
}

// setting returns a number that the file stores under a name, 0 if it does not store the number.
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

// querier is the database or a transaction.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}
