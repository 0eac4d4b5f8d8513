// SPDX-License-Identifier: Apache-2.0

package repl

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

func historyAt(t *testing.T, path string) *history {
	t.Helper()
	h, err := openHistory(path)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func addAll(t *testing.T, h *history, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if err := h.add(line); err != nil {
			t.Error(err)
		}
	}
}

func TestHistoryKeeps(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b", "history")
	h := historyAt(t, path)
	addAll(t, h, "one", " blank first", "", "  ", "two", "two", "tab\there", "bad\xff",
		strings.Repeat("x", historyLine+1), "one", "é")
	want := []string{"one", "two", "one", "é"}
	if got := h.recent(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := historyAt(t, path).recent(); !slices.Equal(got, want) {
		t.Errorf("read %q, want %q", got, want)
	}
}

func TestHistoryIsPrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history")
	if err := os.WriteFile(path, []byte("old\n\x1b[31m\n\n secret\nnew"), 0o644); err != nil {
		t.Fatal(err)
	}
	h := historyAt(t, path)
	if got := h.recent(); !slices.Equal(got, []string{"old", "new"}) {
		t.Errorf("got %q", got)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got %v, %v", info, err)
	}
}

func TestHistoryIsLimited(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history")
	line := func(i int) string { return fmt.Sprintf("line %d %s", i, strings.Repeat("x", 600)) }
	var text strings.Builder
	const lines = 3 * historySize
	for i := range lines {
		fmt.Fprintln(&text, line(i))
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	h := historyAt(t, path)
	got := h.recent()
	if len(got) != historySize || got[0] != line(lines-historySize) || got[historySize-1] != line(lines-1) {
		t.Errorf("got %d lines", len(got))
	}
	info, err := os.Stat(path)
	if err != nil || info.Size() > historyBytes {
		t.Errorf("the file: %v, %v", info, err)
	}
	for i := range 3 * historySize {
		if !h.remember(line(i)) {
			t.Fatal("not remembered")
		}
	}
	if got := h.recent(); len(got) != historySize || len(h.lines) > 2*historySize {
		t.Errorf("remembers %d, offers %d", len(h.lines), len(got))
	}
}

func TestHistoryOfSeveralConsoles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history")
	const consoles, lines = 8, 100
	var wait sync.WaitGroup
	for c := range consoles {
		wait.Go(func() {
			h := historyAt(t, path)
			for i := range lines {
				addAll(t, h, fmt.Sprintf("console %d line %d", c, i))
			}
		})
	}
	wait.Wait()
	seen := map[string]bool{}
	for _, line := range historyAt(t, path).recent() {
		seen[line] = true
	}
	if len(seen) != consoles*lines {
		t.Errorf("%d lines are left of %d", len(seen), consoles*lines)
	}
}

func TestHistoryFails(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, filepath.Join(file, "history")} {
		h, err := openHistory(path)
		if err == nil {
			t.Errorf("%s: no error", path)
		}
		addAll(t, h, "still remembered")
		if got := h.recent(); !slices.Equal(got, []string{"still remembered"}) {
			t.Errorf("%s: got %q", path, got)
		}
	}
	h := historyAt(t, filepath.Join(dir, "sub", "history"))
	if err := os.RemoveAll(filepath.Join(dir, "sub")); err != nil {
		t.Fatal(err)
	}
	if err := h.add("one"); err == nil {
		t.Error("no error where the directory has gone")
	}
	if err := h.add("two"); err != nil {
		t.Errorf("reported again: %v", err)
	}
}

// A line with a secret can be recalled, and is in no file.
func TestHistoryKeepsSecretsOutOfTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history")
	h := historyAt(t, path)
	h.private = func(line string) bool { return strings.Contains(line, "secret") }
	addAll(t, h, "one", "the secret", "two")
	if got := h.recent(); len(got) != 3 {
		t.Errorf("recalls %q", got)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "one\ntwo\n" {
		t.Errorf("the file has %q, %v", text, err)
	}
}
