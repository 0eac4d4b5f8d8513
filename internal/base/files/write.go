// SPDX-License-Identifier: Apache-2.0

// Package files opens files to read, and writes them whole or not at all.
package files

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"example.org/ibconsole/internal/base/files/beside"
	"example.org/ibconsole/internal/base/plain"
)

// ErrStream says that something is not written to standard output.
var ErrStream = errors.New("- is standard output for other commands, and this goes to a file: name one")

var errNoReader = errors.New("no program reads from the pipe")

// Write writes a file whole or not at all: to a temporary file beside it,
// which then takes its name once it is on the disk. A file that was there keeps its mode, a new one has what the user's
// umask leaves. What is no regular file is written to directly; of a pipe there must be a reader.
func Write(path string, write func(io.Writer) error) error {
	if path == "-" {
		return ErrStream
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return writeThrough(path, write)
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	tmp, err := beside.Create(path)
	if err != nil {
		return notWritten(path, err)
	}
	if err := flushInto(tmp, write); err != nil {
		return notWritten(path, errors.Join(err, tmp.Close(), os.Remove(tmp.Name())))
	}
	if err := beside.Replace(tmp, path); err != nil {
		return notWritten(path, err)
	}
	return nil
}

// notWritten names the file that was meant, not the temporary one.
func notWritten(path string, err error) error {
	if e := (*fs.PathError)(nil); errors.As(err, &e) {
		err = e.Err
	}
	return fmt.Errorf("write %s: %w", plain.Escape(path), err)
}

func writeThrough(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ENXIO) {
		err = errNoReader
	}
	if err == nil {
		err = flushInto(f, write)
		if cerr := f.Close(); err == nil {
			err = cerr
		}
	}
	if err != nil {
		return notWritten(path, err)
	}
	return nil
}

func flushInto(f *os.File, write func(io.Writer) error) error {
	w := bufio.NewWriterSize(f, 1<<16)
	if err := write(w); err != nil {
		return err
	}
	return w.Flush()
}
