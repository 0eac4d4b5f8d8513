// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"errors"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"example.org/ibconsole/shell/session/source"
)

// TestScripts runs the scripts of testdata/script, each in a folder and with a history of its own. Their language is
// that of testscript with these commands:
//
//	ibconsole ARGS    the program succeeds; with ! in front, a command fails
//	fails ARGS        a command fails with one line of error
//	misused ARGS      the same for a usage error
//	exits N ARGS      the program ends with status N
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"),
		Setup: func(env *testscript.Env) error {
			env.Setenv(source.Var, source.DefaultSimulation)
			env.Setenv("XDG_STATE_HOME", filepath.Join(env.WorkDir, ".state"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"ibconsole": func(ts *testscript.TestScript, neg bool, args []string) {
				want := exitDone
				if neg {
					want = exitFailed
				}
				ends(ts, want, args)
			},
			"exits": func(ts *testscript.TestScript, _ bool, args []string) {
				status, err := strconv.Atoi(args[0])
				ts.Check(err)
				ends(ts, status, args[1:])
			},
			"fails":   func(ts *testscript.TestScript, _ bool, args []string) { complains(ts, exitFailed, args) },
			"misused": func(ts *testscript.TestScript, _ bool, args []string) { complains(ts, exitUsage, args) },
		},
	})
}

// ends runs the program, which must end with this exit status.
func ends(ts *testscript.TestScript, want int, args []string) {
	err := ts.Exec(program, args...)
	status := exitDone
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		status = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if status != want {
		ts.Fatalf("exit status %d, want %d", status, want)
	}
}

var complaint = regexp.MustCompile(`^ibconsole: [^\n]+\n$`)

// complains is ends with one line of error.
func complains(ts *testscript.TestScript, want int, args []string) {
	ends(ts, want, args)
	if said := ts.ReadFile("stderr"); !complaint.MatchString(said) {
		ts.Fatalf("not one line that starts with the program's name: %q", said)
	}
}
