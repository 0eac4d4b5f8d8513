// SPDX-License-Identifier: Apache-2.0

package history

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"example.org/ibconsole/fabric"
)

// ExposedError says that others can put another file in the history's place, or keep it from being made.
type ExposedError struct{ History, Folder, Why string }

func (e *ExposedError) Error() string {
	return fmt.Sprintf("the history %s is not safe from others: the folder %s %s", fabric.Escape(e.History),
		fabric.Escape(e.Folder), e.Why)
}

// Exposed is an [ExposedError] where others can put another file in the history's place, else nil.
func (s *Store) Exposed() error { return s.exposed }

// exposed looks at the folder of a history and at those above it: who may write to one can rename what is in it, unless
// it is sticky. A group of the user's own, which has the user's number, is nobody else.
func exposed(path string) error {
	dir, err := filepath.Abs(filepath.Dir(path))
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return nil // to open the history says what can be said
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

// tooOpen says in what a folder is open to others, "" for nothing. own is that of the history itself.
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
