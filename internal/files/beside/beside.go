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
