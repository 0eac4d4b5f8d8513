// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"testing"

	"example.org/ibconsole/shell/session"
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
// them write.
func TestMain(m *testing.M) {
	if err := os.Setenv(session.SourceVar, session.DefaultSimulation); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
