// SPDX-License-Identifier: Apache-2.0

package records_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"example.org/ibconsole/fabric/problems"
	"example.org/ibconsole/history/records"
	"example.org/ibconsole/internal/base/sqlfile"
)

// TestReadOnly opens copies of a file in use in a read-only file system: with the whole write-ahead log, without the
// index of the log, and after the writer closed the file. Only without the index do the newest changes stay unread, and
// the store reports this.
func TestReadOnly(t *testing.T) {
	ctx := context.Background()
	dir, at := t.TempDir(), time.UnixMilli(1_790_000_000_000)
	file := filepath.Join(dir, records.FileName)
	open := func() *records.Store {
		s, err := records.Open(ctx, file)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	if err := open().Close(); err != nil { // the tables are in the file, and not only in the log
		t.Fatal(err)
	}
	s := open()
	bad := problems.Problem{Kind: problems.Narrow, At: problems.Place{GUID: 1, Port: 2}, What: "narrow"}
	if _, _, err := s.Observe(ctx, "a", at, []problems.Problem{bad}, nil); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		suffix []string
		closed bool // the file is copied after it was closed
		newest bool // the log is not read
	}{
		{"log", []string{"", "-wal", "-shm"}, false, false},
		{"no index", []string{"", "-wal"}, false, true},
		{"closed", []string{""}, true, false},
	} {
		if c.closed {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
		copied := copyReadOnly(t, file, c.suffix)
		r, err := records.Open(ctx, copied)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		got, _, err := r.Problems(ctx, "a", at, at)
		if err != nil || (len(got) != 1) != c.newest {
			t.Errorf("%s: %d problems, %v", c.name, len(got), err)
		}
		var why *sqlfile.ReadOnlyError
		if !errors.As(r.ReadOnly(), &why) || (why.Newest != "") != c.newest {
			t.Errorf("%s: %v", c.name, r.ReadOnly())
		}
		for _, err := range []error{
			r.Acknowledge(ctx, "a", records.Acknowledgement{ID: "x"}), r.SetSize(ctx, 1),
			r.Keep(ctx, records.Round{Subnet: "a"}), r.SetClock(ctx, "a", at, time.Hour),
		} {
			if !errors.As(err, &why) {
				t.Errorf("%s: writing: %v", c.name, err)
			}
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

// copyReadOnly copies a file, and the files of the same name with the suffixes, to a read-only file system. It skips
// the test if none can be mounted.
func copyReadOnly(t *testing.T, file string, suffixes []string) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=16m"); err != nil {
		t.Skipf("cannot mount a file system: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	to := filepath.Join(dir, filepath.Base(file))
	for _, suffix := range suffixes {
		b, err := os.ReadFile(file + suffix)
		if err == nil {
			err = os.WriteFile(to+suffix, b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Skipf("cannot remount read-only: %v", err)
	}
	return to
}
