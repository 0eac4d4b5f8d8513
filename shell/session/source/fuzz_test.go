// SPDX-License-Identifier: Apache-2.0

package source

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzParse checks that the text of a source that is accepted is accepted again, and gives the same source.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"umad", "umad:mlx5_0:1", "ibsim:sim", "ibsim://host:7070", "file:net", "net:net", "sim:fattree:2,8 traffic=30%",
		"sim:torus:3x3 fail=1", "", ":", "sim:",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(text)
		if err != nil {
			return
		}
		if again, err := Parse(s.String()); err != nil || again != s {
			t.Errorf("%q is %q, and then %q, %v", text, s.String(), again.String(), err)
		}
	})
}

// FuzzReadKeys checks that errors contain no key.
func FuzzReadKeys(f *testing.F) {
	f.Add("0x0123456789abcdef\n")
	f.Add("m_key 0x1234567812345678\nsa_key 0x99aabbccddeeff01 # comment\n")
	f.Add("0x0002c90300001234 0x1234567812345678\n\n0x0002c90300001235 0x1234567812345679\n")
	f.Fuzz(func(t *testing.T, text string) {
		file := filepath.Join(t.TempDir(), "keys")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		keys, err := ReadKeys(t.Context(), file)
		if err == nil {
			if keys == (Keys{}) {
				t.Error("no key, and no error")
			}
			return
		}
		said := strings.ReplaceAll(err.Error(), file, "")
		for word := range strings.FieldsSeq(text) {
			if len(word) >= 10 && strings.Contains(said, word) && !strings.Contains(errKey.Error(), word) {
				t.Errorf("the error contains %q: %v", word, err)
			}
		}
	})
}
