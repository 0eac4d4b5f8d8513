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

// create creates the file with its header. If the file exists, create fails with an error that wraps [fs.ErrExist],
// unless the argument overwrite is set. If the file is not a regular file, such as a pipe to Wireshark, create opens it
// only if a process reads from it.
func create(path string, overwrite bool) (*os.File, error) {
	f, err := open(path, overwrite)
	if err != nil {
		return nil, failed(path, err)
	}
	return f, nil
}

// failed returns err with the requested path in place of the path of a temporary file.
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

// begin writes the header and then calls the function then. If this fails, it removes the file.
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
