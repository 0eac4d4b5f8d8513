// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"testing"

	"example.org/ibconsole/shell/session"

	"example.org/ibconsole/internal/testenv"
)

// result is what a run of the program left.
type result struct {
	status   int
	out, err string
}

// try runs the program with these arguments, without a terminal.
func try(args ...string) result {
	var out, err bytes.Buffer
	status := run(args, streams{out: &out, err: &err})
	return result{status, out.String(), err.String()}
}

// ibconsole runs the program, which must end well, and returns its standard output.
func ibconsole(t *testing.T, args ...string) string {
	t.Helper()
	r := try(args...)
	if r.status != exitDone {
		t.Fatalf("ibconsole %q: exit status %d\n%s", args, r.status, r.err)
	}
	return r.out
}

// TestMain keeps the tests from the InfiniBand ports of this machine: some of
// them write. And it keeps them from the user's history. With an environment
// that asks for it, it is the program itself, to be killed.
func TestMain(m *testing.M) {
	if os.Getenv(asProgram) == "1" {
		os.Exit(run(os.Args[1:], streams{in: os.Stdin, out: os.Stdout, err: os.Stderr}))
	}
	testenv.HeedHangups()
	state, err := os.MkdirTemp("", "ibconsole-state")
	if err != nil {
		panic(err)
	}
	for name, value := range map[string]string{session.SourceVar: session.DefaultSimulation, "XDG_STATE_HOME": state} {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	status := m.Run()
	_ = os.RemoveAll(state)
	os.Exit(status)
}

// asProgram is the variable that makes the test binary the program.
const asProgram = "IBCONSOLE_AS_PROGRAM"
