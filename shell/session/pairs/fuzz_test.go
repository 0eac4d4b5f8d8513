// SPDX-License-Identifier: Apache-2.0

package pairs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.org/ibconsole/fabric/gen/gentest"
	"example.org/ibconsole/shell/session/pairs"
)

// FuzzRead checks that a file is read or refused with its name.
func FuzzRead(f *testing.F) {
	f.Add("node-0001 node-0002\n'node-0001 HCA-1' 5 # comment\n0x200001 leaf-01/3\n")
	f.Add("dr:0,1,2 lid:3\nnode-0001\n")
	net := gentest.WithLIDs(f, "fattree:2,4")
	f.Fuzz(func(t *testing.T, text string) {
		file := filepath.Join(t.TempDir(), "pairs")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		all, err := pairs.Read(t.Context(), net, file)
		switch {
		case err != nil && !strings.Contains(err.Error(), file):
			t.Errorf("the error has no file: %v", err)
		case err == nil && len(all) == 0:
			t.Error("no pairs, and no error")
		}
	})
}
