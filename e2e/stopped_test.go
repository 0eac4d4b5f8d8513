// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
)

// TestSignalledCommits ends the program by signals during commits. The next one must report this and resume or roll
// back. An independent reading and dump_fts must then find exactly the tables of an undisturbed commit of the new or
// the old routes.
func TestSignalledCommits(t *testing.T) {
	testenv.Tool(t, "dump_fts")
	testenv.Tool(t, "ibsim")
	r := testenv.Rand(t)
	home := stateHome(t)
	dir := t.TempDir()
	net := filepath.Join(dir, "net")
	ibconsole(t, "-s", "sim:fattree:2,24", "-c", "dump topology "+net)
	sim := ibsimtest.Start(t, net)
	source := "ibsim:" + sim.Name
	held := func() string {
		file := filepath.Join(dir, "now")
		if err := os.RemoveAll(file); err != nil {
			t.Fatal(err)
		}
		t.Setenv("XDG_STATE_HOME", t.TempDir())
		defer t.Setenv("XDG_STATE_HOME", home)
		ibconsole(t, "-s", source, "-c", "dump lfts of=live "+file)
		return read(t, file) + sim.Output("dump_fts")
	}
	write := func(engine string) string { return fmt.Sprintf("engine %s; route; write on; commit yes", engine) }
	engines := []string{"minhop", "dor", "minhop port_shifting=TRUE"}
	tables := map[string]string{}
	for _, e := range engines {
		ibconsole(t, "-s", source, "-c", write(e))
		tables[e] = held()
	}
	now := engines[2]
	ends := [][]syscall.Signal{{syscall.SIGTERM, syscall.SIGTERM}, {syscall.SIGKILL}}
	for _, s := range signals {
		if signal.Ignored(s) {
			t.Logf("%v is ignored by the parent of this test, so it ends nothing and is left out", s)
			continue
		}
		ends = append(ends, []syscall.Signal{s})
	}
	stopped, complete, none, resumed := map[string]int{}, 0, 0, 0
	longest := longestSignalled // the present duration of a commit, from the ones that were missed
	for i, want := 0, testenv.Count(t, 4, 300); i < want; {
		sent := ends[i%len(ends)]
		quiet := len(sent) > 1 || sent[0] == syscall.SIGKILL // it cannot print how to continue
		next := engines[r.IntN(len(engines))]
		if next == now {
			continue
		}
		wait := time.Duration(r.Int64N(int64(longest)))
		ended, said := endAfter(t, wait, sent, home, "-s", source, "--window", "1", "-c", write(next))
		where := fmt.Sprintf("%v after %v, from %s to %s: %v, %s", sent, wait, now, next, ended, said)
		if quiet {
			detach(sim)
		}
		out := ibconsole(t, "-s", source, "-c", "summary; problems")
		if !strings.Contains(out, "was interrupted") {
			switch h := held(); h {
			case tables[now]:
				none++
				longest = min(longest*5/4, 4*longestSignalled)
			case tables[next]:
				complete++
				longest = max(longest*4/5, longestSignalled/16)
				now = next
			default:
				t.Fatalf("%s: no message that the switches have a mixture", where)
			}
			continue
		}
		i++
		stopped[fmt.Sprint(sent)]++
		if !quiet && (ended.ExitCode() != exitSignal+int(sent[0]) ||
			!strings.Contains(said, "finish it with commit resume yes, or undo it with rollback yes")) {
			t.Errorf("%s", where)
		}
		_, listed, _ := strings.Cut(out, "\n  states: ")
		_, worst, _ := strings.Cut(listed, "\nerror ")
		if !strings.HasPrefix(strings.Split(out, "\n")[1], "  INTERRUPTED: commit ") ||
			!strings.HasPrefix(strings.TrimSpace(worst), "interrupted commit") {
			t.Fatalf("%s: the next console prints\n%s", where, out)
		}
		how := "rollback yes"
		if r.IntN(2) == 0 {
			how, now = "commit resume yes", next
			resumed++
		}
		if res := try("-s", source, "-c", "write on; "+how); res.status != exitDone ||
			!strings.Contains(res.err, "was interrupted") {
			t.Fatalf("%s: %s: %d, %s", where, how, res.status, res.err)
		}
		if held() != tables[now] {
			t.Fatalf("%s: %s: not the tables of %s", where, how, now)
		}
		if out := ibconsole(t, "-s", source, "-c", "summary"); strings.Contains(out, "interrupted") {
			t.Fatalf("%s: %s: it still prints\n%s", where, how, out)
		}
	}
	t.Logf("stopped by %v; %d resumed, the others rolled back; %d were complete and %d had not begun", stopped, resumed,
		complete, none)
}

// longestSignalled is about the duration of a commit with one packet at a time.
const longestSignalled = 35 * time.Millisecond
