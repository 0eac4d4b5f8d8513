// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// skippedExamples holds the beginnings of commands whose examples the test does not run, and why.
var skippedExamples = map[string]string{
	"show cables":                  "requires data of cables, which only an ibdiagnet folder has",
	"doctor verify":                "requires a subnet that other programs reach",
	"sa":                           "requires a subnet manager",
	"set sm":                       "requires a subnet manager",
	"counters":                     "requires a recording of hours",
	"check load measured":          "requires a recording of hours",
	"flaps":                        "requires a recording of hours",
	"forecast":                     "requires a recording of hours",
	"ibdiagnet":                    "requires folders of ibdiagnet",
	"hosts job1 leaf-01; counters": "requires a recording of hours",
	"fail guided":                  "asks at a terminal",
	"dump guided":                  "asks at a terminal",
	"load guided":                  "asks at a terminal",
}

// exampleFiles are the files of the user that examples read.
var exampleFiles = map[string]string{
	"morning.ibconsole": "problems\n",
	"partitions.conf":   "Default=0x7fff, ipoib: ALL=full;\n",
	"fabric.yaml":       "- {name: \"leaf-*\", tier: 0}\n",
	"jobs.txt":          "job1 node-[0001-0064]\n",
	"ib-node-name-map":  "0x200000 \"first leaf\"\n",
	"opensm-sa.dump": "MC Group 0xc000 : mgid=0xff12000000000000:0x1000\nmcm_port: " +
		"port_gid=0xfe80000000000000:0x0000000000100001\nmcm_port: port_gid=0xfe80000000000000:0x0000000000100005\n",
}

// commandHelp returns the commands and subcommands of the program with their examples in help.
func commandHelp(t *testing.T) map[string][]string {
	t.Helper()
	_, list, found := strings.Cut(typed(t, "help"), "\nLook at the subnet:\n")
	if !found {
		t.Fatalf("help has no list of commands:\n%s", list)
	}
	examples := map[string][]string{}
	var add func(words ...string)
	add = func(words ...string) {
		path := strings.Join(words, " ")
		help := typed(t, append([]string{"help"}, words...)...)
		examples[path] = nil
		section := ""
		for line := range strings.Lines(help) {
			text := strings.TrimSpace(line)
			below, isBelow := strings.CutPrefix(line, "  "+path+" ")
			switch {
			case !strings.HasPrefix(line, "  "):
				section = text
			case section == "subcommands:" && isBelow:
				add(append(slices.Clone(words), strings.Fields(below)[0])...)
			case section == "examples:":
				examples[path] = append(examples[path], text)
			}
		}
	}
	for line := range strings.Lines(list) {
		if strings.HasPrefix(line, "  ") { // not the heading of a group
			add(strings.Fields(line)[0])
		}
	}
	return examples
}

// TestExamples checks that the help of each command has at least two examples, or one if it asks questions, and runs
// the examples on the simulated subnet that the program opens by default.
func TestExamples(t *testing.T) {
	all := commandHelp(t)
	if len(all) < 150 {
		t.Errorf("help lists %d commands and subcommands", len(all))
	}
	skipped := slices.Collect(maps.Keys(skippedExamples))
	isSkipped := func(example string) bool {
		return slices.ContainsFunc(skipped, func(s string) bool { return strings.HasPrefix(example, s) })
	}
	ran := map[string]bool{}
	for command, examples := range all {
		if len(examples) < 2 && !strings.HasSuffix(command, " guided") || len(examples) == 0 {
			t.Errorf("the help of %s has %d examples", command, len(examples))
		}
		for _, example := range examples {
			if isSkipped(example) || ran[example] {
				continue
			}
			ran[example] = true
			t.Run(example, func(t *testing.T) {
				t.Parallel()
				typed(t, "-s", "sim:fattree:2,36", "-c", example)
			})
		}
	}
}

// typed returns what the program prints in a new folder. It fails the test if the program fails.
func typed(t *testing.T, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(cmd.Environ(), "XDG_STATE_HOME="+filepath.Join(cmd.Dir, ".state"))
	for name, text := range exampleFiles {
		if err := os.WriteFile(filepath.Join(cmd.Dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%q: %v\n%s", args, err, out)
	}
	return string(out)
}
