// SPDX-License-Identifier: Apache-2.0

// Package beside makes files that take the place of others once they are whole.
package beside

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// Create makes a temporary file beside path, which is to be renamed to it. It has the mode of the file that is
// there, and where there is none what the user's umask leaves.
func Create(path string) (*os.File, error) {
	old, err := os.Stat(path)
	mode := fs.FileMode(0o666)
	if err == nil {
		mode = 0o600 // until it has the other's
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

// Replace has a file of [Create] take the place of path, and closes it; where it cannot, the file is gone. When it
// returns nil the file is on the disk: a loss of power leaves what was there before, or all of this.
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

// syncFolder has what a folder lists on the disk. Some file systems know no such thing.
func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if errors.Is(err, fs.ErrPermission) { // one may write to a folder that one may not read
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
