// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"example.org/ibconsole/history"
	"example.org/ibconsole/internal/test/testenv"
)

// TestTornWrites simulates a power failure at any system call of a session: its writes are replayed, torn and out of
// order within what fsync allows. Everything reported as recorded by then must be there, and histories and files must
// be intact.
func TestTornWrites(t *testing.T) {
	strace := systemCalls(t)
	dir, log := t.TempDir(), filepath.Join(t.TempDir(), "log")
	state := filepath.Join(dir, "state", "ibconsole")
	if err := os.MkdirAll(state, 0o700); err != nil {
		t.Fatal(err)
	}
	file, exported := filepath.Join(dir, "lfts"), filepath.Join(dir, "exported")
	cmd := exec.CommandContext(t.Context(), strace, "-f", "-y", "-xx", "-qq", "-s", "16777216", "-o", log,
		"-e", "trace=open,openat,write,pwrite64,fsync,fdatasync,renameat,ftruncate,unlink,unlinkat", program, "-s",
		faultySource,
		"-c", faultyCommit+"; dump lfts "+file+"; rollback yes; dump lfts of=live "+file+"; history export "+exported+
			"; fail link leaf-02 3; route; commit yes; history prune days=1")
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(dir, "state"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatal(err, string(out))
	}
	calls, err := diskCalls(read(t, log), dir)
	if err != nil {
		t.Fatal(err)
	}
	whole := contentsOf(calls, file)
	r := testenv.Rand(t)
	all := testenv.Count(t, 100, 1000)
	for i := range all {
		n := 1 + r.IntN(len(calls))
		said := ""
		for _, c := range calls[:n] {
			if c.path == "" {
				said += string(c.data)
			}
		}
		to := t.TempDir()
		if err := put(diskAfter(r, calls[:n]), dir, to); err != nil {
			t.Fatal(err)
		}
		commits := len(journalled.FindAllString(said, -1))
		if err := tornHistory(t, filepath.Join(to, "state", "ibconsole", history.FileName), commits); err != nil {
			t.Fatalf("%d: power lost at call %d of %d: %v", i, n, len(calls), err)
		}
		lfts, err := os.ReadFile(filepath.Join(to, "lfts"))
		written := strings.Count(said, "written to "+file)
		if ok := err != nil && written == 0; !ok && (len(whole) < written || !anyOf(lfts, whole[max(0, written-1):])) {
			t.Fatalf("%d: power lost at call %d of %d: a file that is written %d times has %d bytes, %v", i, n,
				len(calls), written, len(lfts), err)
		}
		if strings.Contains(said, "exported to") {
			if j, err := historyIn(t, filepath.Join(to, "exported")); err != nil || len(j) != 2 {
				t.Fatalf("%d: power lost at call %d of %d: exported are %+v, %v", i, n, len(calls), j, err)
			}
		}
		_ = os.RemoveAll(to)
	}
	t.Logf("%d losses of power at %d calls", all, len(calls))
}

// tornHistory checks that a history has the given number of complete commits.
func tornHistory(t *testing.T, file string, commits int) error {
	t.Helper()
	journal, err := historyIn(t, file)
	done := 0
	for _, j := range journal {
		if j.Outcome == history.Done || j.Outcome == history.RolledBack {
			done++
		}
	}
	if done < commits {
		t.Errorf("%d commits of %d are kept: %+v", done, commits, journal)
	}
	return err
}

// contentsOf returns the complete contents of a file over time: those of the files that were renamed to it.
func contentsOf(calls []diskCall, path string) (all [][]byte) {
	for i, c := range calls {
		if c.name == "renameat" && c.to == path {
			var data []byte
			for _, w := range calls[:i] {
				if w.name == "write" && w.path == c.path {
					data = append(data, w.data...)
				}
			}
			all = append(all, data)
		}
	}
	return all
}

func anyOf(data []byte, all [][]byte) bool {
	for _, one := range all {
		if bytes.Equal(data, one) {
			return true
		}
	}
	return false
}
