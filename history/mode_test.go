// SPDX-License-Identifier: Apache-2.0

package history_test

import (
	"os"
	"path/filepath"
	"testing"

	"example.org/ibconsole/history"
)

func TestPrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	path := filepath.Join(dir, history.FileName)
	for _, was := range []os.FileMode{0, 0o644} {
		if was != 0 {
			if err := os.Chmod(path, was); err != nil {
				t.Fatal(err)
			}
		}
		s, err := history.OpenFile(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]os.FileMode{dir: 0o700, path: 0o600, path + "-wal": 0o600} {
			if info, err := os.Stat(name); err != nil || info.Mode().Perm() != want {
				t.Errorf("%s, from mode %o: %v, %v, want %o", name, was, info, err, want)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
