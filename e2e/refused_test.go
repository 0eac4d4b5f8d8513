// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.org/ibconsole/history"
)

// TestRefusesValues checks that invalid values are rejected with the expected ones.
func TestRefusesValues(t *testing.T) {
	folder, empty := t.TempDir(), write(t, "")
	for script, want := range map[string]struct {
		status int
		words  []string
	}{
		"watch 1 for=-2":                         {exitUsage, []string{"for=-2", "expected 0.1 to"}},
		"watch 1 for=x":                          {exitUsage, []string{"for=x", "seconds"}},
		"route; resilience switches top=-3":      {exitFailed, []string{"top=-3", "1 or more"}},
		"resilience merge top=0 " + empty:        {exitUsage, []string{"top=0", "1 or more"}},
		"resilience merge " + empty:              {exitFailed, []string{"the file is empty, expected a report"}},
		"resilience merge " + folder:             {exitFailed, []string{folder + ": a folder"}},
		"paths info " + folder:                   {exitFailed, []string{"a folder, expected a file"}},
		"load paths " + folder:                   {exitFailed, []string{"a folder, expected a file"}},
		"load guid2lid " + folder:                {exitFailed, []string{folder + ": a folder, expected a file"}},
		"history import " + folder:               {exitFailed, []string{"a folder, expected a file"}},
		"history import " + write(t, "no entry"): {exitFailed, []string{"expected an exported history"}},
	} {
		oneLine(t, try("-s", smallTree, "-c", script), want.status, want.words...)
	}
	oneLine(t, try("-s", smallTree, "--theme", "foo", "-c", "summary"), exitUsage, `"foo"`,
		"dark, light, contrast, none")
}

// TestDamagedHistory checks that a damaged history is reported with a remedy by all commands that need it and by
// summary.
func TestDamagedHistory(t *testing.T) {
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	file := filepath.Join(state, "ibconsole", history.FileName)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, make([]byte, 4096), 0o600); err != nil {
		t.Fatal(err)
	}
	oneLine(t, try("-s", smallTree, "-c", "history"), exitFailed, file, "move the file away")
	r := try("-s", smallTree, "-c", "summary")
	contains(t, r.out, "warning: the history "+file+" is damaged")
	r = try("-s", smallTree, "-c", "engine updn; fail random 1; route; write on; commit yes")
	contains(t, r.err, "move the file away")
	contains(t, r.err, "commit yes journal=FILE")
}

func contains(t *testing.T, text, want string) {
	t.Helper()
	if !strings.Contains(text, want) {
		t.Errorf("%q is not in %q", want, text)
	}
}
