// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
)

// stateHome gives the test a history of its own.
func stateHome(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("XDG_STATE_HOME", dir)
	return dir
}

// TestRollback commits twice and rolls back twice.
func TestRollback(t *testing.T) {
	stateHome(t)
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	ibconsole(t, "-s", "sim:fattree:2,8", "-c", strings.Join([]string{
		"dump lfts of=live " + at("0"),
		"write on; fail link leaf-01 5; route; commit yes; dump lfts of=live " + at("1"),
		"fail link leaf-02 5; route; commit yes; dump lfts of=live " + at("2"),
		"rollback yes; dump lfts of=live " + at("back1"),
		"rollback yes; dump lfts of=live " + at("back0"),
		"dump lfts of=2 " + at("recorded1"),
	}, "; "))
	for got, want := range map[string]string{"back1": "1", "back0": "0", "recorded1": "1"} {
		sameFile(t, at(want), at(got))
	}
	if out := ibconsole(t, "--json", "-s", "sim:fattree:2,8", "-c", "history"); strings.Count(out,
		`"outcome":"rolled back"`) != 2 {
		t.Errorf("history: %s", out)
	}
	if r := try("-s", "sim:fattree:2,12", "-c", "write on; rollback yes"); r.status != exitFailed ||
		!strings.Contains(r.err, "no commit") {
		t.Errorf("in another subnet: %d, %s", r.status, r.err)
	}
}

// TestJournalThatCannotBeKept checks that nothing is written that could not be undone, unless an option allows it.
func TestJournalThatCannotBeKept(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_STATE_HOME", file)
	const commit = "write on; fail link leaf-01 5; route; commit yes"
	r := try("-s", "sim:fattree:2,8", "-c", commit)
	if r.status != exitFailed || !strings.Contains(r.err, "journal=no") || strings.Contains(r.out, "written in") {
		t.Errorf("status %d\n%s%s", r.status, r.out, r.err)
	}
	if out := ibconsole(t, "-s", "sim:fattree:2,8", "-c", commit+" journal=no"); !strings.Contains(out, "written in") {
		t.Errorf("with journal=no: %s", out)
	}
}

// TestKilledCommits kills the program during commits, and resumes or rolls back: the switches must then have exactly
// the new or the old routes.
func TestKilledCommits(t *testing.T) {
	testenv.Tool(t, "ibsim")
	r := testenv.Rand(t)
	home := stateHome(t)
	net := filepath.Join(t.TempDir(), "net")
	ibconsole(t, "-s", "sim:fattree:2,24", "-c", "dump topology "+net)
	sim := ibsimtest.Start(t, net)
	source := "ibsim:" + sim.Name
	dir := t.TempDir()
	dump := func(script, name string) string {
		file := filepath.Join(dir, name)
		_ = os.Remove(file)
		ibconsole(t, "-s", source, "-c", script+"; dump lfts of=live "+file)
		return file
	}
	engines := []string{"minhop", "dor", "minhop port_shifting=TRUE"}
	write := func(engine string) string { return fmt.Sprintf("engine %s; route; write on; commit yes", engine) }
	old := dump(write(engines[0]), "old")
	interrupted := 0
	for i := range testenv.Count(t, 8, 200) {
		next := engines[1+i%2]
		staged := filepath.Join(dir, "staged")
		_ = os.Remove(staged)
		ibconsole(t, "-s", source, "-c", "engine "+next+"; route; dump lfts "+staged)
		wait := time.Duration(r.Int64N(int64(longestCommit)))
		endAfter(t, wait, []syscall.Signal{syscall.SIGKILL}, home, "-s", source, "--window", "1", "-c", write(next))
		// ibsim has ten places and does not notice that a program has died.
		detach(sim)
		want := old
		how := "no commit was under way"
		if strings.Contains(ibconsole(t, "-s", source, "-c", "history limit=6"), "interrupted") {
			interrupted++
			how = "write on; rollback yes"
			if r.IntN(2) == 0 {
				want, how = staged, "write on; commit resume yes"
			}
			ibconsole(t, "-s", source, "-c", how)
		} else if read(t, dump("sweep", "now")) != read(t, old) {
			want = staged
		}
		where := fmt.Sprintf("round %d: killed after %v: %s", i, wait, how)
		if read(t, dump("sweep", "now")) != read(t, want) {
			t.Fatalf("%s: neither the old nor the new routes", where)
		}
		dump(write(engines[0]), "reset")
		sameFile(t, old, filepath.Join(dir, "reset"))
	}
	if interrupted == 0 {
		t.Error("no kill occurred during a commit")
	}
	t.Logf("%d were interrupted", interrupted)
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// detach frees the places of programs that were killed.
func detach(sim *ibsimtest.Sim) {
	for _, m := range attached.FindAllStringSubmatch(sim.Console("Attached"), -1) {
		sim.Console("X " + m[1])
	}
}

var attached = regexp.MustCompile(`Client (\d+): pid`)

// longestCommit is about the duration of such a commit with one packet at a time, from its plan.
const longestCommit = 25 * time.Millisecond

// endAfter runs the program and sends it signals some time after it has printed what it is about to commit. It returns
// its exit status and its errors.
func endAfter(t *testing.T, wait time.Duration, signals []syscall.Signal, home string,
	args ...string) (*os.ProcessState, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+home)
	var said strings.Builder
	cmd.Stderr = &said
	answers, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(answers)
	for planned := false; !planned && lines.Scan(); {
		planned = strings.HasPrefix(lines.Text(), "LFT blocks")
	}
	go func() { _, _ = io.Copy(io.Discard, answers) }() // until the program ends
	time.Sleep(wait)
	for _, signal := range signals {
		_ = cmd.Process.Signal(signal)
	}
	_ = cmd.Wait()
	return cmd.ProcessState, said.String()
}

// TestRollbackSaysHow checks that a rollback without yes prints its plan, and how to write it.
func TestRollbackSaysHow(t *testing.T) {
	stateHome(t)
	r := try("-s", "sim:fattree:2,8", "-c", "write on; fail link leaf-01 5; route; commit yes; rollback")
	if r.status != 0 || !strings.Contains(r.out, "nothing was written; hint: run 'rollback yes'") ||
		strings.Count(r.out, "written in") != 1 {
		t.Errorf("status %d: %s%s", r.status, r.out, r.err)
	}
	for _, odd := range []string{
		"history limit=0", "history list limit=-3", "history prune days=-1", "history keep megabytes=-5",
		"history keep days=99999999",
	} {
		oneLine(t, try("-s", "sim:fattree:2,8", "-c", odd), exitUsage, "expected")
	}
}

// TestRollbackAfterAnother commits from a console of another host after ours. Our rollback must stop, report the
// changed entries, and overwrite them only with the option for that.
func TestRollbackAfterAnother(t *testing.T) {
	testenv.Tool(t, "ibsim")
	ours, theirs := t.TempDir(), t.TempDir()
	net := filepath.Join(t.TempDir(), "net")
	ibconsole(t, "-s", "sim:fattree:2,8", "-c", "dump topology "+net)
	source := "ibsim:" + ibsimtest.Start(t, net).Name
	at := func(name string) string { return filepath.Join(ours, name) }
	t.Setenv("XDG_STATE_HOME", ours)
	ibconsole(t, "-s", source, "-c", "engine minhop; route; write on; commit yes; dump lfts of=live "+at("first"))
	ibconsole(t, "-s", source, "-c", "engine minhop port_shifting=TRUE; route; write on; commit yes")
	t.Setenv("XDG_STATE_HOME", theirs)
	ibconsole(t, "-s", source, "-c", "engine minhop scatter_ports=3; route; write on; commit yes; dump lfts of=live "+
		at("theirs"))
	t.Setenv("XDG_STATE_HOME", ours)
	r := try("-s", source, "-c", "write on; rollback yes")
	if r.status != exitFailed || !strings.Contains(r.err, "'rollback yes force-overwrite'") ||
		!strings.Contains(r.err, "by unknown") ||
		!strings.Contains(r.out, "CHANGED SINCE") || strings.Contains(r.out, "written in") {
		t.Fatalf("status %d\n%s%s", r.status, r.out, r.err)
	}
	ibconsole(t, "-s", source, "-c", "dump lfts of=live "+at("still"))
	sameFile(t, at("theirs"), at("still"))
	out := ibconsole(t, "--json", "-s", source, "-c", "write on; rollback yes force-overwrite; dump lfts of=live "+
		at("back"))
	sameFile(t, at("first"), at("back"))
	var written struct {
		Count  int `json:"others_count"`
		Others []struct{ Node, GUID, What, Was, Is, Would string }
	}
	for line := range strings.Lines(out) {
		if err := json.Unmarshal([]byte(line), &written); err == nil && written.Count > 0 {
			break
		}
	}
	if o := written.Others; written.Count == 0 || len(o) != written.Count || !strings.HasPrefix(o[0].What, "LID ") ||
		o[0].Was == o[0].Is || o[0].Is == o[0].Would {
		t.Errorf("JSON has %+v", written)
	}
	if out := ibconsole(t, "-s", source, "-c", "history"); !strings.Contains(out, "others wrote ") {
		t.Errorf("the history has\n%s", out)
	}
}
