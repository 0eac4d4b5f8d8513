// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// skippedExamples holds the beginnings of examples that the test does not run, and why.
var skippedExamples = map[string]string{
	"names ":        "requires a file of the user",
	"run ":          "requires a file of the user",
	"hints ":        "requires a file of the user",
	"counters ":     "requires a recording of hours",
	"watch ":        "takes a minute",
	"sa ":           "requires a subnet manager",
	"set ":          "requires a subnet manager",
	"suggest torus": "requires a torus",
}

// TestExamples runs the examples in the help of each command.
func TestExamples(t *testing.T) {
	_, list, found := strings.Cut(typed(t, "help"), "\nLook at the subnet:\n")
	if !found {
		t.Fatalf("help has no list of commands:\n%s", list)
	}
	count := 0
	for line := range strings.Lines(list) {
		name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if !strings.HasPrefix(line, "  ") {
			continue // the heading of a group
		}
		count++
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, examples, found := strings.Cut(typed(t, "help", name), "\nexamples:\n")
			if !found {
				t.Error("help has no example")
			}
			for example := range strings.Lines(examples) {
				example = strings.TrimSpace(example)
				isPrefix := func(prefix string) bool { return strings.HasPrefix(example, prefix) }
				if !slices.ContainsFunc(slices.Collect(maps.Keys(skippedExamples)), isPrefix) {
					typed(t, "-s", "sim:fattree:2,36", "-c", example)
				}
			}
		})
	}
	if count < 50 {
		t.Errorf("help lists %d commands", count)
	}
}

// typed returns what the program prints in a new folder. It fails the test if the program fails.
func typed(t *testing.T, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(cmd.Environ(), "XDG_STATE_HOME="+cmd.Dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%q: %v\n%s", args, err, out)
	}
	return string(out)
}
