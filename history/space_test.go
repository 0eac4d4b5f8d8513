// SPDX-License-Identifier: Apache-2.0

package history_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"example.org/ibconsole/history"
	"example.org/ibconsole/internal/base/sqlfile"
)

// mounted mounts a small file system in memory, or skips the test.
func mounted(t *testing.T, options string) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, options); err != nil {
		t.Skipf("cannot mount a file system: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// TestReadOnly checks that a history that cannot be written can be read, and reports the reason.
func TestReadOnly(t *testing.T) {
	ctx := context.Background()
	dir := mounted(t, "size=8m")
	s := store(t, dir)
	tb := tables(t, "fattree:2,8")
	id := add(t, s, entry(history.Route), tb)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Skipf("cannot remount read-only: %v", err)
	}
	s, err := history.OpenFile(ctx, filepath.Join(dir, history.FileName))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if snap, err := s.Load(ctx, id); err != nil || !sameTables(snap.Tables, tb) {
		t.Errorf("load: %v", err)
	}
	var why *sqlfile.ReadOnlyError
	if !errors.As(s.ReadOnly(), &why) || why.Dir != dir {
		t.Errorf("why: %v", s.ReadOnly())
	}
	_, aerr := s.Add(ctx, entry(history.Route), tb.Fabric, tb)
	_, berr := s.Begin(ctx, 0, snapshot(entry(history.Commit), tb), snapshot(entry(history.Commit), tb))
	_, lerr := s.Lock("a")
	for _, err := range []error{aerr, berr, lerr, s.End(ctx, 1, history.Done)} {
		if !errors.As(err, &why) {
			t.Errorf("writing: %v", err)
		}
	}
}

// TestDiskFull fills the disk while the history grows: earlier entries are kept, a failed one leaves nothing, and
// writing works again when there is space.
func TestDiskFull(t *testing.T) {
	ctx := context.Background()
	dir := mounted(t, "size=600k")
	s := store(t, dir)
	tb := tables(t, "fattree:2,16")
	var ids []int64
	var failed error
	for i := 0; failed == nil && i < 10000; i++ {
		changed := *tb
		changed.LFT = tb.LFT.Clone()
		for lid := range changed.LFT.Row(0) {
			changed.LFT.Row(0)[lid] = uint8(lid * i)
		}
		var id int64
		if id, failed = s.Add(ctx, entry(history.Route), changed.Fabric, &changed); failed == nil {
			ids = append(ids, id)
		}
	}
	if failed == nil || len(ids) == 0 {
		t.Fatalf("%d entries, and then: %v", len(ids), failed)
	}
	if _, err := s.Begin(ctx, 0, snapshot(entry(history.Commit), tb), snapshot(entry(history.Commit), tb)); err == nil {
		t.Log("there was space for a commit")
	}
	list, err := s.List(ctx, "", 0)
	if err != nil || len(list) < len(ids) {
		t.Errorf("%d entries of %d are left, %v", len(list), len(ids), err)
	}
	for _, e := range list {
		if _, err := s.Load(ctx, e.ID); err != nil {
			t.Errorf("entry %d: %v", e.ID, err)
		}
	}
	if err := unix.Mount("", dir, "", unix.MS_REMOUNT, "size=16m"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Begin(ctx, 0, snapshot(entry(history.Commit), tb), snapshot(entry(history.Commit), tb)); err != nil {
		t.Errorf("with space again: %v", err)
	}
	if _, err := os.Stat(dir); err != nil {
		t.Error(err)
	}
}
