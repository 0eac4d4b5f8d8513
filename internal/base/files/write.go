// SPDX-License-Identifier: Apache-2.0

// Package files reads files with limits, and writes them completely or not at all.
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

	"example.org/ibconsole/internal/base/files/tempfile"
	"example.org/ibconsole/internal/base/plain"
)

// ErrStream is returned by a command that cannot write to standard output.
var ErrStream = errors.New("- (standard output) is not supported here, expected the name of a file")

var errNoReader = errors.New("no program reads from the pipe")

// Write writes a file completely or not at all. It writes to a temporary file in the same folder, and renames it when
// its contents are on the disk. An existing file keeps its mode; the umask determines the mode of a new file. If the
// argument path is not a regular file, Write writes to it directly; a pipe must have a reader.
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
	tmp, err := tempfile.Create(path)
	if err != nil {
		return notWritten(path, err)
	}
	if err := flushInto(tmp, write); err != nil {
		return notWritten(path, errors.Join(err, tmp.Close(), os.Remove(tmp.Name())))
	}
	if err := tempfile.Replace(tmp, path); err != nil {
		return notWritten(path, err)
	}
	return nil
}

// notWritten returns an error that names the target file instead of the temporary file.
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
