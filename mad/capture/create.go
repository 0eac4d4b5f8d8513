// SPDX-License-Identifier: Apache-2.0

package capture

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"example.org/ibconsole/internal/base/files/tempfile"
	"example.org/ibconsole/internal/base/plain"
)

// create creates the file with its header. Unless overwrite is set, it fails with an error that wraps [fs.ErrExist] if
// the file exists. A file that is not regular, such as a pipe to Wireshark, is written to if a process reads it.
func create(path string, overwrite bool) (*os.File, error) {
	f, err := open(path, overwrite)
	if err != nil {
		return nil, failed(path, err)
	}
	return f, nil
}

// failed wraps an error with the requested path instead of a temporary one.
func failed(path string, err error) error {
	if e := (*fs.PathError)(nil); errors.As(err, &e) {
		err = e.Err
	}
	if e := (*os.LinkError)(nil); errors.As(err, &e) {
		err = e.Err
	}
	return fmt.Errorf("capture to %s: %w", plain.Escape(path), err)
}

func open(path string, overwrite bool) (*os.File, error) {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return nil, &fs.PathError{Op: "open", Path: path, Err: syscall.EISDIR}
	case err == nil && !info.Mode().IsRegular():
		f, err := os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0)
		return begin(f, err, nil)
	case !overwrite:
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		return begin(f, err, nil)
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	f, err := tempfile.Create(path)
	return begin(f, err, func() error { return os.Rename(f.Name(), path) })
}

// begin writes the header and then calls then. On failure it removes the file.
func begin(f *os.File, err error, then func() error) (*os.File, error) {
	if err != nil {
		return nil, err
	}
	if _, err = f.Write(appendFileHeader(nil)); err == nil && then != nil {
		err = then()
	}
	if err == nil {
		return f, nil
	}
	if info, serr := f.Stat(); serr == nil && info.Mode().IsRegular() {
		_ = os.Remove(f.Name())
	}
	_ = f.Close()
	return nil, err
}
