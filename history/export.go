// SPDX-License-Identifier: Apache-2.0

package history

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Export writes entries, all of a subnet for no IDs, to a new file, which Import
// takes.
func (s *Store) Export(ctx context.Context, path, subnet string, ids ...int64) (n int, err error) {
	if _, err := os.Lstat(path); err == nil {
		return 0, &fs.PathError{Op: "export", Path: path, Err: fs.ErrExist}
	}
	if len(ids) == 0 {
		all, err := s.List(ctx, subnet, 0)
		if err != nil {
			return 0, err
		}
		for _, e := range all {
			ids = append([]int64{e.ID}, ids...)
		}
	}
	to, err := open(ctx, path)
	if err != nil {
		return 0, fmt.Errorf("export to %s: %w", path, err)
	}
	n, err = copyEntries(ctx, s, to, ids)
	// One file is to hold all of it: none of it stays in a log beside it.
	_, werr := to.db.ExecContext(ctx, "PRAGMA journal_mode = DELETE")
	if err = errors.Join(err, werr, to.Close()); err != nil {
		return n, fmt.Errorf("export to %s: %w", path, errors.Join(err, os.Remove(path)))
	}
	return n, nil
}

// Import takes over the entries of an exported file, with new numbers.
func (s *Store) Import(ctx context.Context, path string) (n int, err error) {
	if _, err := os.Stat(path); err != nil {
		return 0, err
	}
	from, err := open(ctx, path)
	if err != nil {
		return 0, fmt.Errorf("import %s: %w", path, err)
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	all, err := from.List(ctx, "", 0)
	if err != nil {
		return 0, fmt.Errorf("import %s: %w", path, err)
	}
	var ids []int64
	for i := range all {
		ids = append(ids, all[len(all)-1-i].ID)
	}
	if n, err = copyEntries(ctx, from, s, ids); err != nil {
		return n, fmt.Errorf("import %s: %w", path, err)
	}
	return n, nil
}

func copyEntries(ctx context.Context, from, to *Store, ids []int64) (n int, err error) {
	for _, id := range ids {
		snap, err := from.Load(ctx, id)
		if err != nil {
			return n, err
		}
		if _, err := to.Add(ctx, snap.Entry, snap.Fabric, snap.Tables); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}
