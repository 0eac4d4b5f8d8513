// SPDX-License-Identifier: Apache-2.0

package formats

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/ibdiagnet"
	"example.org/ibconsole/fabric/formats/osm"
	"example.org/ibconsole/internal/files"
)

const (
	dataBase = ".db_csv"
	tables   = ".fdbs"
)

// readFolder reads what ibdiagnet left in a folder: its data base and, where they are there, the tables.
func readFolder(ctx context.Context, folder string, o Options) (s Subnet, err error) {
	l, err := files.Folder(ctx, folder)
	if err != nil {
		return s, err
	}
	db, err := member(l, folder, dataBase)
	if err != nil {
		return s, err
	}
	if db == "" {
		return s, fmt.Errorf("%s: no file whose name ends in %s, expected a folder of ibdiagnet", fabric.Escape(folder), dataBase)
	}
	err = unzipped(ctx, db, files.Topology, func(r io.Reader) (err error) {
		s.Fabric, s.Warnings, err = ibdiagnet.ReadDB(ctx, r, db, s.found(o))
		return err
	})
	if err != nil {
		return s, err
	}
	fdbs, err := member(l, folder, tables)
	if err != nil || fdbs == "" {
		s.Warnings = append(s.Warnings, fmt.Sprintf("%s: no file whose name ends in %s, so there are no forwarding tables", fabric.Escape(folder), tables))
		return s, err
	}
	return s, unzipped(ctx, fdbs, files.Tables, func(r io.Reader) error { return s.take(r, fabric.Escape(fdbs)) })
}

// take takes forwarding tables.
func (s *Subnet) take(r io.Reader, name string) error {
	file, err := osm.ReadFDBs(r, name)
	if err != nil {
		return err
	}
	t, report, err := file.Apply(s.Fabric)
	if err != nil {
		return err
	}
	s.Tables = t
	report.NoPortGUID = osm.Finding{} // no entry of ibdiagnet's has one
	for _, l := range report.Lines() {
		s.Warnings = append(s.Warnings, name+": "+l)
	}
	return nil
}

// member is the file of a folder whose name ends so, gzipped or not; "" for none.
func member(l *files.Listing, folder, suffix string) (string, error) {
	found := ""
	for _, e := range l.Entries {
		if e.Folder || !strings.HasSuffix(strings.TrimSuffix(e.Name, ".gz"), suffix) || strings.HasSuffix(e.Name, ".mcfdbs") {
			continue
		}
		if found != "" {
			return "", fmt.Errorf("%s: two files whose names end in %s, expected one", fabric.Escape(folder), suffix)
		}
		found = filepath.Join(folder, e.Name)
	}
	return found, nil
}

// unzipped opens a file that may be gzipped. What it unfolds to is held to the limit of its kind, too.
func unzipped(ctx context.Context, path string, kind files.Kind, read func(io.Reader) error) error {
	return files.Read(ctx, path, kind, func(r io.Reader) error {
		if !strings.HasSuffix(path, ".gz") {
			return read(r)
		}
		z, err := gzip.NewReader(r)
		if err != nil {
			return fmt.Errorf("%s: %w", fabric.Escape(path), err)
		}
		return errors.Join(read(&bounded{z, kind.Most, path}), z.Close())
	})
}

// bounded ends with an error where more comes than may.
type bounded struct {
	r    io.Reader
	left int64
	path string
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, fmt.Errorf("%s: %w unfolded", fabric.Escape(b.path), files.ErrTooLarge)
	}
	return n, err
}
