// SPDX-License-Identifier: Apache-2.0

package files

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"example.org/ibconsole/internal/base/plain"
)

// Entry is a file or a folder in a folder.
type Entry struct {
	Name   string // unescaped
	Folder bool
}

// Listing lists a folder: folders first, then files, by name.
type Listing struct {
	Entries []Entry
	More    bool // the folder has more entries
}

const maxListed = 10_000 // entries that are read of a folder

// Folder lists a folder, or the working directory for "". It returns when ctx ends, even if the system does not
// respond.
func Folder(ctx context.Context, folder string) (*Listing, error) {
	type listed struct {
		*Listing
		err error
	}
	ready := make(chan listed, 1)
	go func() {
		l, err := list(folder)
		ready <- listed{l, err}
	}()
	select {
	case l := <-ready:
		return l.Listing, Err(l.err)
	case <-ctx.Done():
		return nil, fmt.Errorf("list %s: %w", plain.Escape(folder), ctx.Err())
	}
}

func list(folder string) (*Listing, error) {
	d, err := os.Open(cmp.Or(folder, "."))
	if err != nil {
		return nil, err
	}
	defer func() { _ = d.Close() }() // it was only read
	all, err := d.ReadDir(maxListed + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	l := &Listing{More: len(all) > maxListed}
	for _, e := range all[:min(len(all), maxListed)] {
		isFolder := e.IsDir()
		if e.Type()&fs.ModeSymlink != 0 {
			info, err := os.Stat(filepath.Join(folder, e.Name()))
			isFolder = err == nil && info.IsDir()
		}
		l.Entries = append(l.Entries, Entry{e.Name(), isFolder})
	}
	slices.SortStableFunc(l.Entries, func(a, b Entry) int {
		if a.Folder != b.Folder {
			if a.Folder {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.Name, b.Name)
	})
	return l, nil
}
