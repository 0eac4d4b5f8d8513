// SPDX-License-Identifier: Apache-2.0

package history

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"example.org/ibconsole/fabric"
)

// ExposedError reports that other users can replace a history or prevent its creation.
type ExposedError struct{ History, Folder, Why string }

func (e *ExposedError) Error() string {
	return fmt.Sprintf("other users can replace the history %s: the folder %s %s", fabric.Escape(e.History),
		fabric.Escape(e.Folder), e.Why)
}

// Exposed returns an [ExposedError] if other users can replace the history, otherwise nil.
func (s *Store) Exposed() error { return s.exposed }

// exposed checks the folder of a history and all parent folders. Users who can write to one of these folders can rename
// its entries, unless the folder is sticky. A group whose ID equals the user ID is assumed to contain only this user.
func exposed(path string) error {
	dir, err := filepath.Abs(filepath.Dir(path))
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return nil // opening the history reports the error
	}
	for at, own := dir, true; ; at, own = filepath.Dir(at), false {
		info, err := os.Stat(at)
		if err != nil {
			return nil
		}
		if why := tooOpen(info, own); why != "" {
			return &ExposedError{path, at, why}
		}
		if at == filepath.Dir(at) {
			return nil
		}
	}
}

// tooOpen returns a text that describes how other users can write to a folder, "" if they cannot. The argument own is
// set for the folder that contains the history itself.
func tooOpen(info os.FileInfo, own bool) string {
	mode := info.Mode()
	sticky := mode&os.ModeSticky != 0 && !own
	st, known := info.Sys().(*syscall.Stat_t)
	switch {
	case !known:
	case own && st.Uid != 0 && int(st.Uid) != os.Geteuid():
		return fmt.Sprintf("belongs to user %d", st.Uid)
	case mode&0o002 != 0 && !sticky:
		return "can be written by everybody"
	case mode&0o020 != 0 && !sticky && st.Gid != st.Uid:
		return fmt.Sprintf("can be written by group %d", st.Gid)
	}
	return ""
}
