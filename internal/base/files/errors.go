// SPDX-License-Identifier: Apache-2.0

package files

import (
	"io/fs"
	"os"

	"example.org/ibconsole/internal/base/plain"
)

// Err returns an error of the operating system with its file names escaped. It returns other errors unchanged.
func Err(err error) error {
	switch e := err.(type) { //nolint:errorlint // the text of a wrapping error is fixed
	case *fs.PathError:
		return &fs.PathError{Op: e.Op, Path: plain.Escape(e.Path), Err: e.Err}
	case *os.LinkError:
		return &os.LinkError{Op: e.Op, Old: plain.Escape(e.Old), New: plain.Escape(e.New), Err: e.Err}
	}
	return err
}
