// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/shell/session/source"
)

// The program's exit statuses.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
	// exitSignal is added to the number of the signal that ended the program.
	exitSignal = 128
)

// program is the ibconsole under test: the one in programVar, or one that TestMain builds. It is static unless the
// tests run with the race detector.
var program string

const programVar = "IBCONSOLE_TEST_PROGRAM"

// noRoot is the root of an empty file system in which no user can create anything.
const noRoot = "/proc/no-root"

// TestMain builds the program with a missing folder in place of the machine's root: it reads no system configuration
// and writes to no log of this machine. It keeps the tests from the InfiniBand ports of this machine, because some of
// them write.
func TestMain(m *testing.M) {
	testenv.AcceptHangups()
	dir, err := os.MkdirTemp("", "ibconsole-e2e")
	if err != nil {
		panic(err)
	}
	if program = os.Getenv(programVar); program == "" {
		program = filepath.Join(dir, "ibconsole")
		if err := build(program, noRoot); err != nil {
			panic(err)
		}
	}
	for name, value := range map[string]string{
		source.Var: source.DefaultSimulation, "XDG_STATE_HOME": filepath.Join(dir, "state"),
	} {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	status := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(status)
}

func build(file, root string) error {
	cmd := exec.Command("go", "build", "-ldflags", "-X example.org/ibconsole/internal/app/site.root="+root, "-o", file)
	if race() {
		cmd.Args = append(cmd.Args, "-race")
	} else {
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	}
	cmd.Args = append(cmd.Args, "example.org/ibconsole")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%q: %w\n%s", cmd.Args, err, out)
	}
	return nil
}

// race reports whether the tests run with the race detector.
func race() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// result is the result of a run of the program.
type result struct {
	status   int
	out, err string
}

// try runs the program with these arguments, without a terminal.
func try(args ...string) result {
	limit := 10 * time.Minute
	if testenv.Full() {
		limit = time.Hour
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	var out, said bytes.Buffer
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdout, cmd.Stderr = &out, &said
	err := cmd.Run()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited || ctx.Err() != nil {
		panic(fmt.Errorf("%q: %w\n%s", args, errors.Join(err, ctx.Err()), said.String()))
	}
	return result{cmd.ProcessState.ExitCode(), out.String(), said.String()}
}

// ibconsole runs the program, which must succeed, and returns its standard output.
func ibconsole(t *testing.T, args ...string) string {
	t.Helper()
	r := try(args...)
	if r.status != exitDone {
		t.Fatalf("ibconsole %q: exit status %d\n%s", args, r.status, r.err)
	}
	return r.out
}
