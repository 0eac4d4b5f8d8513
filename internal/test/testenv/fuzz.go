// SPDX-License-Identifier: Apache-2.0

package testenv

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// FuzzFile calls the function read with files that differ from the file whole at one place.
func FuzzFile(f *testing.F, whole string, read func(t *testing.T, path string)) {
	f.Helper()
	text, err := os.ReadFile(whole)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(uint32(0), []byte(""))
	f.Add(uint32(18), []byte{2, 2})
	f.Add(uint32(100), []byte{0xff, 0xff})
	f.Add(uint32(len(text)-4000), []byte{0x28, 0xb5, 0x2f, 0xfd})
	f.Fuzz(func(t *testing.T, at uint32, patch []byte) {
		changed := slices.Clone(text)
		copy(changed[int(at)%len(changed):], patch)
		path := filepath.Join(t.TempDir(), filepath.Base(whole))
		if err := os.WriteFile(path, changed, 0o600); err != nil {
			t.Fatal(err)
		}
		read(t, path)
	})
}
