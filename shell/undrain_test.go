// SPDX-License-Identifier: Apache-2.0

package shell_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.org/ibconsole/shell/session/commits"
	"example.org/ibconsole/shell/session/sessiontest"
)

// TestUndrainAfterOtherPorts changes another port between a drain and its undrain. The tables from before the drain
// connect all pairs if all links are up, so undrain loses no pair. If another link is down, undrain is refused exactly
// if these tables use the link.
func TestUndrainAfterOtherPorts(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for _, c := range []struct {
		before, between string
		isRefused       bool
	}{
		{before: "port disable leaf-02/1 yes; port disable leaf-02/3 yes force-unreachable", // to a host and to a spine
			between: "port enable leaf-02/1 yes; port enable leaf-02/3 yes"},
		{between: "port disable leaf-02/3 yes force-unreachable", isRefused: true},
	} {
		s := sessiontest.OpenIn(t, "sim:fattree:2,4", t.TempDir())
		setup := "write on; " + c.before + "; drain link leaf-01 3 yes port=disable; " + c.between
		if out, err := runIn(t.Context(), s, setup); err != nil {
			t.Fatalf("%s: %v\n%s", setup, err, out)
		}
		out, err := runIn(t.Context(), s, "undrain link leaf-01 3 yes")
		isLost := strings.Contains(out, "LOST") || strings.Contains(out, "hosts lost")
		isRefused := commits.Needs(err, commits.Unreachable)
		if isRefused != c.isRefused || !isRefused && err != nil || isLost != c.isRefused {
			t.Errorf("after %q and %q: undrain: %v\n%s", c.before, c.between, err, out)
		}
		if out, err := runIn(t.Context(), s, "check reach of=live"); !c.isRefused && err != nil {
			t.Errorf("after %q and %q: %v\n%s", c.before, c.between, err, out)
		}
	}
}

// TestDrainNeedsAJournal checks that a drain is refused if undrain could not find it, and that a write without a
// journal reports that it cannot be undone.
func TestDrainNeedsAJournal(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := sessiontest.OpenIn(t, "sim:fattree:2,4", filepath.Join(file, "folder")) // which cannot be made
	for _, c := range []struct{ command, want string }{
		{"write on; drain link leaf-01 3 yes", "'drain link leaf-01 3 yes journal=FILE'"},
		{"drain link leaf-01 3 yes journal=no", "omit journal=no"},
		{"port disable leaf-01/3 yes force-unreachable journal=no", "rollback cannot undo it"},
	} {
		out, err := runIn(t.Context(), s, c.command)
		if err != nil {
			out = err.Error()
		}
		if !strings.Contains(out, c.want) || strings.Contains(out, "journal=no'") {
			t.Errorf("%s: no %q in\n%s", c.command, c.want, out)
		}
	}
	journal := "journal='" + filepath.Join(t.TempDir(), "a journal.db") + "'"
	out, err := runIn(t.Context(), s, "port enable leaf-01/3 yes "+journal+"; drain link leaf-01 3 yes port=disable")
	if n := strings.Count(out, journal+" undoes it"); err != nil || n != 3 {
		t.Errorf("%d hints with %s: %v\n%s", n, journal, err, out)
	}
	out, err = runIn(t.Context(), s, "undrain link leaf-01 3 yes") // it keeps the journal
	if n := strings.Count(out, journal+" undoes it"); err != nil || n != 2 {
		t.Errorf("%d hints with %s: %v\n%s", n, journal, err, out)
	}
}

// TestRollbackOfAnotherSimulation checks that rollback without an ID and undrain do not take the commit of another
// console, which simulated the subnet on its own.
func TestRollbackOfAnotherSimulation(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	dir := t.TempDir()
	s := sessiontest.OpenIn(t, "sim:fattree:2,4", dir)
	if out, err := runIn(t.Context(), s, "write on; drain link leaf-01 3 yes"); err != nil {
		t.Fatal(err, out)
	}
	other := sessiontest.OpenIn(t, "sim:fattree:2,4", dir)
	for command, want := range map[string]string{
		"write on; rollback yes":     "this console has written no commit",
		"undrain link leaf-01 3 yes": "is not drained",
	} {
		if out, err := runIn(t.Context(), other, command); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q\n%s", command, err, want, out)
		}
	}
	if out, err := runIn(t.Context(), s, "rollback yes; check reach of=live"); err != nil {
		t.Error(err, out)
	}
}
