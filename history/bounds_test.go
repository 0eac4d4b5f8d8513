// SPDX-License-Identifier: Apache-2.0

package history_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"example.org/ibconsole/history"
)

// TestBomb replaces each blob of an entry (the fabric, the list of pieces, and a piece) by one that decompresses to too
// much, or to more than it states.
func TestBomb(t *testing.T) {
	ctx := context.Background()
	var frame bytes.Buffer
	z, err := zstd.NewWriter(&frame) // states no size
	if err == nil {
		_, err = z.Write(make([]byte, 1<<20))
	}
	if err = errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	stated := z.EncodeAll(make([]byte, 128<<20), nil)
	two := append(z.EncodeAll(make([]byte, 4096), nil), z.EncodeAll(make([]byte, 4096), nil)...)
	for want, packed := range map[string][]byte{
		"damaged: decompressed size exceeds": frame.Bytes(), "damaged: decompressed size": two,
		"damaged: too large: its decompressed size is 128 MB, expected at most": stated,
	} {
		file := filepath.Join(t.TempDir(), history.FileName)
		s := store(t, filepath.Dir(file))
		id := add(t, s, entry(history.Route), tables(t, "torus:3x3"))
		if _, err := s.Load(ctx, id); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		for _, which := range []string{
			"(SELECT fabric FROM entry)", "(SELECT tables FROM entry)",
			"(SELECT min(id) FROM blob WHERE id NOT IN (SELECT fabric FROM entry) AND id NOT IN (SELECT tables FROM " +
				"entry))",
		} {
			put := func(packed []byte) (was []byte) {
				db, err := sql.Open("sqlite", file)
				if err == nil {
					err = db.QueryRowContext(ctx, "SELECT data FROM blob WHERE id = "+which).Scan(&was)
				}
				if err == nil {
					_, err = db.ExecContext(ctx, "UPDATE blob SET data = ? WHERE id = "+which, packed)
				}
				if err = errors.Join(err, db.Close()); err != nil {
					t.Fatal(err)
				}
				return was
			}
			was := put(packed)
			s := store(t, filepath.Dir(file))
			if _, err := s.Load(ctx, id); err == nil || !strings.Contains(err.Error(), file) ||
				!strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %s", which, err, want)
			}
			_ = s.Close()
			put(was)
		}
	}
}

// TestOpenWhileAnotherWrites opens a new history while another program writes to the file, before it has a log.
func TestOpenWhileAnotherWrites(t *testing.T) {
	ctx := t.Context()
	file := filepath.Join(t.TempDir(), history.FileName)
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.ExecContext(ctx, "CREATE TABLE other (id INTEGER)"); err != nil {
		t.Fatal(err)
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO other VALUES (1)"); err != nil {
		t.Fatal(err)
	}
	opened := make(chan error)
	go func() {
		s, err := history.OpenFile(ctx, file)
		if err == nil {
			err = errors.Join(s.ReadOnly(), s.Close())
		}
		opened <- err
	}()
	select {
	case err = <-opened:
		t.Fatalf("while another program writes: %v", err)
	case <-time.After(200 * time.Millisecond):
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := <-opened; err != nil {
		t.Error(err)
	}
}

// TestExposed checks that the folder in which other users can replace the history is reported, the history's own or a
// parent. A parent may be sticky.
func TestExposed(t *testing.T) {
	for _, c := range []struct {
		own, above os.FileMode
		want       string
	}{
		{0o700, 0o755, ""}, {0o755, 0o755, ""}, {0o700, 0o777 | os.ModeSticky, ""},
		{0o777, 0o755, "own can be written by everybody"},
		{0o777 | os.ModeSticky, 0o755, "own can be written by everybody"},
		{0o775, 0o755, "own can be written by group 12345"}, {0o700, 0o777, "above can be written by everybody"},
	} {
		above := filepath.Join(t.TempDir(), "above")
		own := filepath.Join(above, "own")
		if err := os.MkdirAll(own, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(own, -1, 12345); err != nil {
			t.Skipf("cannot change the group of folders: %v", err)
		}
		if err := errors.Join(os.Chmod(own, c.own), os.Chmod(above, c.above)); err != nil {
			t.Fatal(err)
		}
		s := store(t, own)
		var got *history.ExposedError
		if err := s.Exposed(); c.want == "" && err != nil || c.want != "" &&
			(!errors.As(err, &got) || !strings.HasSuffix(err.Error(), c.want)) {
			t.Errorf("%o in %o: %v, want %q", c.own, c.above, err, c.want)
		}
	}
}

// TestImportOfAnotherKind checks that a folder and a pipe are rejected before anything waits for them.
func TestImportOfAnotherKind(t *testing.T) {
	s := store(t, t.TempDir())
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		pipe: "not a regular file", filepath.Dir(pipe): "a folder, expected a file",
	} {
		if _, err := s.Import(t.Context(), path); err == nil || !strings.Contains(err.Error(), path+": "+want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
