// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// notTyped are the commands whose examples no test types, and why.
var notTyped = map[string]string{
	"names":    "wants a user's file",
	"run":      "wants a user's file",
	"hints":    "wants a user's file",
	"counters": "wants a recording of hours",
	"watch":    "takes a minute",
	"sa":       "wants a subnet manager",
	"set":      "wants a subnet manager",
}

// TestExamples types the example that help gives of each command.
func TestExamples(t *testing.T) {
	help := typed(t, "help")
	_, list, found := strings.Cut(help, "\ncommands:\n")
	if !found {
		t.Fatalf("help has no list of commands:\n%s", help)
	}
	for line := range strings.Lines(list) {
		name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name == "" || !strings.HasPrefix(line, "  ") {
			break
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, example, found := strings.Cut(typed(t, "help", name), "\nexample: ")
			switch {
			case !found:
				t.Error("help gives no example")
			case notTyped[name] == "":
				typed(t, "-s", "sim:fattree:2,36", "-c", example)
			}
		})
	}
}

// typed is what the program prints in a new folder, where it succeeds.
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
