// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestReadmeTour types what README.md shows after "$ " in its console blocks
// and compares what comes with what README.md shows below it. There "..." stands
// for anything on a line, and a line "..." for any number of lines.
func TestReadmeTour(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(program, filepath.Join(dir, "ibconsole")); err != nil {
		t.Fatal(err)
	}
	steps := 0
	for _, block := range regexp.MustCompile("(?s)```console\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		for _, step := range strings.Split("\n"+block[1], "\n$ ")[1:] {
			command, want, _ := strings.Cut(step, "\n")
			cmd := exec.CommandContext(t.Context(), "bash", "-c", command)
			cmd.Dir = dir
			got, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("$ %s: %v", command, err)
			}
			if want = strings.TrimSuffix(want, "\n"); !shownAs(want).MatchString(strings.TrimSuffix(string(got), "\n")) {
				t.Errorf("$ %s\nREADME.md shows:\n%s\nthe program says:\n%s", command, want, got)
			}
			steps++
		}
	}
	if steps == 0 {
		t.Error("README.md has no console block with a command")
	}
}

// shownAs makes a pattern of what README.md shows.
func shownAs(shown string) *regexp.Regexp {
	pattern := regexp.QuoteMeta(shown)
	pattern = regexp.MustCompile(`(?m)^\\\.\\\.\\\.$`).ReplaceAllString(pattern, `(?s:.*)`)
	pattern = strings.ReplaceAll(pattern, `\.\.\.`, `.*`)
	return regexp.MustCompile(`^` + pattern + `$`)
}
