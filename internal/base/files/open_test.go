// SPDX-License-Identifier: Apache-2.0

package files_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.org/ibconsole/internal/base/files"
)

var small = files.Kind{Name: "a small file", Most: 1 << 20}

// fifo creates a named pipe.
func fifo(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// feed writes to a pipe until it has no reader.
func feed(t *testing.T, path string, write func(io.Writer) error) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			t.Error(err)
			return
		}
		defer f.Close()
		if err := write(f); err != nil && !errors.Is(err, syscall.EPIPE) {
			t.Error(err)
		}
	}()
	t.Cleanup(func() { <-done })
}

func endless(w io.Writer) error {
	b := make([]byte, 1<<16)
	for {
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
}

func TestAllOfAFile(t *testing.T) {
	for _, n := range []int{0, 1, 300<<10 + 1, 1 << 20} { // none, one, more than a part, the limit
		want := strings.Repeat("x", n)
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := files.All(t.Context(), path, small); err != nil || string(got) != want {
			t.Errorf("file of %d bytes: %d, %v", n, len(got), err)
		}
		pipe := fifo(t)
		feed(t, pipe, func(w io.Writer) error { _, err := io.WriteString(w, want); return err })
		if got, err := files.All(t.Context(), pipe, small); err != nil || string(got) != want {
			t.Errorf("pipe of %d bytes: %d, %v", n, len(got), err)
		}
	}
}

func TestTooLarge(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, small.Most+1); err != nil {
		t.Fatal(err)
	}
	pipe := fifo(t)
	feed(t, pipe, endless)
	for _, path := range []string{path, pipe} {
		b, err := files.All(t.Context(), path, small)
		if !errors.Is(err, files.ErrTooLarge) || !strings.Contains(err.Error(), "1 MB, the limit of a small file") ||
			!strings.Contains(err.Error(), path) {
			t.Errorf("%d bytes, %v", len(b), err)
		}
	}
}

func TestNotAFile(t *testing.T) {
	for _, path := range []string{"/dev/zero", "/dev/null", "/", t.TempDir()} {
		if _, err := files.Open(t.Context(), path, small); err == nil || !strings.Contains(err.Error(), path+": ") {
			t.Errorf("%s: %v", path, err)
		}
	}
	if err := files.Regular(t.Context(), fifo(t), small); err == nil ||
		!strings.Contains(err.Error(), "not a regular file") {
		t.Error(err)
	}
	if _, err := files.Open(t.Context(), "/none", small); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// TestStalled reads pipes without data: one without a writer, for which opening blocks, and one with a writer.
func TestStalled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	pipe := fifo(t)
	held, err := os.OpenFile(pipe, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	f, err := files.Open(ctx, pipe, small)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	go cancel()
	if _, err := f.Read(make([]byte, 1)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := files.Open(ctx, fifo(t), small); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestModes(t *testing.T) {
	old := syscall.Umask(0o027)
	defer syscall.Umask(old)
	path := filepath.Join(t.TempDir(), "file")
	write := func() os.FileMode {
		if err := files.Write(path, func(w io.Writer) error {
			_, err := io.WriteString(w, "x")
			return err
		}); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Mode()
	}
	if mode := write(); mode != 0o640 {
		t.Errorf("a new file with umask 027 has mode %o", mode)
	}
	for _, want := range []os.FileMode{0o600, 0o664} {
		if err := os.Chmod(path, want); err != nil {
			t.Fatal(err)
		}
		if mode := write(); mode != want {
			t.Errorf("a file of mode %o has mode %o now", want, mode)
		}
	}
}

// TestWriteToAPipe writes to a pipe that has a reader, and does not wait for a reader.
func TestWriteToAPipe(t *testing.T) {
	pipe := fifo(t)
	text := func(w io.Writer) error { _, err := io.WriteString(w, "some text"); return err }
	ended := make(chan error, 1)
	go func() { ended <- files.Write(pipe, text) }()
	select {
	case err := <-ended:
		if err == nil || !strings.Contains(err.Error(), "no program reads from the pipe") {
			t.Errorf("without a reader: %v", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("it waits for a reader")
	}
	reader, err := os.OpenFile(pipe, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reader.Close() }()
	if err := files.Write(pipe, text); err != nil {
		t.Error(err)
	}
	if got, err := io.ReadAll(reader); string(got) != "some text" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}
