// SPDX-License-Identifier: Apache-2.0

package paths

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzACM checks that errors name the file, and that each section has its GUID.
func FuzzACM(f *testing.F) {
	f.Add("Channel Adapter 0x0000000000100001, base LID 0, LMC 0, port GUID 0x100002\n# LID     :  SL  :  Priority\n" +
		"0x0001    :  0  :  0\n")
	f.Add("Switch 0x1, x\n\nRouter 0x2\n#\n")
	f.Fuzz(func(t *testing.T, text string) {
		file := filepath.Join(t.TempDir(), "acm")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		all, named, err := readACM(t.Context(), file)
		if err != nil {
			if !strings.Contains(err.Error(), file) {
				t.Errorf("the error has no file: %v", err)
			}
			return
		}
		for _, s := range all {
			if !named[s.guid] || s.digest == "" {
				t.Errorf("%+v", s)
			}
		}
	})
}
