// SPDX-License-Identifier: Apache-2.0

package shell_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestHintsWithNames runs the commands in the hints of problems. They name nodes and ports whose names have characters
// that are special in commands.
func TestHintsWithNames(t *testing.T) {
	const made = "../fabric/formats/testdata/ibdiagnet"
	show := regexp.MustCompile(`show (?:counters|ports) ([^;]*)`)
	for _, name := range []string{
		"Spine-ZONE1-1/2", "Spine, ZONE 1/2", "Spine $HOME `x` 'y' 1/2", `Spine\ !x 1/2`, "leaf, 3",
	} {
		folder := t.TempDir()
		files, err := os.ReadDir(made)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(filepath.Join(made, file.Name()))
			if err != nil {
				t.Fatal(err)
			}
			text = []byte(strings.ReplaceAll(string(text), "Spine-ZONE1-1/2", name))
			if err := os.WriteFile(filepath.Join(folder, file.Name()), text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		out, err := on(t, "ibdiagnet:"+folder, "problems all")
		hints := show.FindAllString(out, -1)
		if len(hints) == 0 {
			t.Errorf("%q: no hint with a name: %v\n%s", name, err, out)
		}
		for _, hint := range hints {
			if line, _, ok := strings.Cut(hint, "\n"); ok {
				hint = line
			}
			out, err := on(t, "ibdiagnet:"+folder, hint)
			if err != nil && !strings.Contains(err.Error(), "the file has no counters of this port") {
				t.Errorf("%q: %s: %v\n%s", name, hint, err, out)
			}
		}
	}
}
