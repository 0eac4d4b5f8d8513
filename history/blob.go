// SPDX-License-Identifier: Apache-2.0

package history

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"

	"example.org/ibconsole/internal/base/files"
)

// writer stores blobs and entries within a single transaction.
type writer struct {
	ctx    context.Context
	store  *Store
	find   *sql.Stmt
	insert *sql.Stmt
}

func (s *Store) writer(ctx context.Context, tx *sql.Tx) (*writer, error) {
	find, err := tx.PrepareContext(ctx, "SELECT id FROM blob WHERE hash = ?")
	if err != nil {
		return nil, err
	}
	insert, err := tx.PrepareContext(ctx, "INSERT INTO blob (hash, data) VALUES (?, ?)")
	if err != nil {
		return nil, err
	}
	return &writer{ctx: ctx, store: s, find: find, insert: insert}, nil
}

// blob stores data and returns the ID of the blob. If the history already contains the same data, it returns the ID of
// the existing blob.
func (w *writer) blob(data []byte) (id int64, err error) {
	sum := sha256.Sum256(data)
	err = w.find.QueryRowContext(w.ctx, sum[:]).Scan(&id)
	if err == nil || !errors.Is(err, sql.ErrNoRows) {
		return id, err
	}
	res, err := w.insert.ExecContext(w.ctx, sum[:], w.store.pack.EncodeAll(data, nil))
	if err != nil {
		return 0, err
	}
	return res.LastInsertId()
}

// maxBlob is the maximum decompressed size of a blob in bytes. The forwarding tables of the largest subnet take 144 MB,
// the other tables 400 MB.
const maxBlob = 896 << 20

// querier is the database or a transaction.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// blob reads the blob with this ID and checks the data. The blob must not be longer than a number of bytes.
func (s *Store) blob(ctx context.Context, from querier, id, most int64) ([]byte, error) {
	var hash, packed []byte
	err := from.QueryRowContext(ctx, "SELECT hash, data FROM blob WHERE id = ?", id).Scan(&hash, &packed)
	if err != nil {
		return nil, fmt.Errorf("blob %d: %w", id, err)
	}
	data, err := files.Decompress(s.open, packed, uint64(most))
	if err != nil {
		return nil, fmt.Errorf("blob %d: damaged: %w", id, err)
	}
	if sum := sha256.Sum256(data); string(sum[:]) != string(hash) {
		return nil, fmt.Errorf("blob %d: damaged: its checksum is wrong", id)
	}
	return data, nil
}
