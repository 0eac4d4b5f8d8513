// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestPipesInTheStateFolder replaces each file that the program keeps by a named pipe without a writer. Commands that
// need the file must fail, and none may wait.
func TestPipesInTheStateFolder(t *testing.T) {
	state := t.TempDir()
	run := func(script string) (said string, err error) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, program, "-s", "sim:fattree:2,4", "-c", script)
		cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+state)
		var all bytes.Buffer
		cmd.Stdout, cmd.Stderr = &all, &all
		err = cmd.Run()
		if _, exited := errors.AsType[*exec.ExitError](err); ctx.Err() != nil || err != nil && !exited {
			t.Fatalf("%s: %v, %v\n%s", script, err, ctx.Err(), all.String())
		}
		return all.String(), err
	}
	scripts := []string{
		"fail link leaf-01 3; route; restore all; engine updn; route; write on; commit yes", "history", "rollback yes",
		"baseline save; problems", "baseline show",
		"record start; record stop", "record status", "counters worst since=1h", "show events", "summary", "calibrate",
	}
	for _, s := range scripts {
		_, _ = run(s)
	}
	dir := filepath.Join(state, "ibconsole")
	kept, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{"history.db-wal": true, "history.db-shm": true, "history.db-journal": true,
		"records.db-wal": true, "records.db-shm": true}
	for _, f := range kept {
		names[f.Name()] = true
	}
	if len(names) < 8 || !names["history.db"] || !names["records.db"] {
		t.Errorf("only %v are kept", names)
	}
	for name := range names {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(os.MkdirAll(dir, 0o700), syscall.Mkfifo(filepath.Join(dir, name), 0o600)); err != nil {
			t.Fatal(err)
		}
		for _, s := range scripts {
			needed := s == "history" && strings.HasPrefix(name, "history.db") ||
				s == scripts[0] && strings.HasPrefix(name, "commit-")
			if said, err := run(s); needed && (err == nil || !strings.Contains(said, name+" is not a regular file")) {
				t.Errorf("%s is a pipe, %s: %v\n%s", name, s, err, said)
			}
		}
	}
}
