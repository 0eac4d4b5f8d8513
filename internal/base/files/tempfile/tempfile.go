// SPDX-License-Identifier: Apache-2.0

// Package tempfile writes temporary files that replace other files when they are complete.
package tempfile

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// Create creates a temporary file in the folder of path, for [Replace]. Its mode is that of the file at path. If there
// is no such file, the umask determines the mode.
func Create(path string) (*os.File, error) {
	old, err := os.Stat(path)
	mode := fs.FileMode(0o666)
	if err == nil {
		mode = 0o600 // until Chmod
	}
	f, err := create(path, mode)
	if err != nil || old == nil {
		return f, err
	}
	if err := f.Chmod(old.Mode().Perm()); err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	return f, nil
}

// Replace closes a file that [Create] returned and renames it to path. If that fails, Replace removes the file. When
// Replace returns nil, the file is on the disk: after a loss of power, the file has the old or the complete new
// contents.
func Replace(f *os.File, path string) error {
	err := f.Sync()
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return syncFolder(filepath.Dir(path))
}

// syncFolder writes a folder to the disk. Some file systems do not support this, which is not an error.
func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if errors.Is(err, fs.ErrPermission) { // a folder can be writable but not readable
		return nil
	}
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		err = nil
	}
	return errors.Join(err, d.Close())
}

func create(path string, mode fs.FileMode) (f *os.File, err error) {
	for range 100 {
		name := "." + filepath.Base(path) + "." + strconv.FormatUint(uint64(rand.Uint32()), 10)
		f, err = os.OpenFile(filepath.Join(filepath.Dir(path), name), os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
		if !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	return f, err
}
