// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"example.org/ibconsole/history"
	"example.org/ibconsole/internal/test/testenv"
)

// faultedCalls are the system calls that write files, each with the errors with which it can fail.
var faultedCalls = map[string][]string{
	"open": {"EIO", "ENOSPC", "EINTR"}, "openat": {"EIO", "ENOSPC", "EINTR"}, "write": {"EIO", "ENOSPC", "EINTR"},
	"pwrite64": {"EIO", "ENOSPC", "EINTR"},
	"fsync":    {"EIO", "ENOSPC", "EINTR"}, "fdatasync": {"EIO", "ENOSPC", "EINTR"},
	"renameat":  {"EIO", "ENOSPC", "EINTR"},
	"ftruncate": {"EIO", "ENOSPC", "EINTR"}, "fallocate": {"EIO", "ENOSPC"}, "unlink": {"EIO", "ENOSPC"},
	"unlinkat": {"EIO", "EINTR"},
	"fchmod":   {"EIO", "EINTR"}, "flock": {"EINTR", "ENOLCK", "EIO"}, "fcntl": {"EINTR", "ENOLCK", "EIO"},
	"close":   {"EIO", "ENOSPC", "EINTR"},
	"mkdirat": {"EIO", "ENOSPC"}, "mmap": {"ENOMEM", "EIO"},
}

// writing is the program's action while its system calls fail.
type writing struct {
	name, commands string
	// file is a file that it writes, said its message afterwards, and old is set if the file exists already.
	file, said string
	old        bool
	// fresh starts it without a history.
	fresh bool
}

var writings = []writing{
	{name: "commit", commands: faultyCommit},
	{name: "first commit", commands: faultyCommit, fresh: true},
	{name: "commit elsewhere", commands: faultyCommit + " journal=FILE", file: "journal"},
	{name: "keep", commands: "history keep days=10"},
	{name: "prune", commands: "history prune days=1"},
	{name: "import", commands: "history import exported", said: "entries imported"},
	{name: "export", commands: "history export FILE", file: "new.db", said: "entries exported"},
	{name: "dump", commands: "dump lfts FILE", file: "lfts", said: "written to"},
	{name: "dump over another", commands: "dump lfts FILE", file: "lfts", said: "written to", old: true},
	{name: "baseline", commands: "baseline save FILE", file: "baseline", said: "baseline of", old: true},
	{name: "paths", commands: "paths build FILE", file: "paths", said: "path records of", old: true},
}

const (
	faultySource = "sim:fattree:2,4"
	faultyRoute  = "fail link leaf-01 3; route; "
	faultyCommit = "write on; " + faultyRoute + "commit yes"
)

// faulty is a folder with a state directory, an exported history, and the expected content of files.
type faulty struct {
	t      *testing.T
	strace string
	from   string // the state at the start of each run
	before []byte // the tables of the switches
	after  []byte // those after the commit
	whole  map[string][]byte
	most   map[string]map[string]int // of each writing, how often a thread does each call
	wrong  error                     // what is wrong with a run
	mute   bool                      // that said something which its standard error did not take
}

// run copies the initial state and runs the program there with one fault, or none for "".
func (f *faulty) run(w *writing, fault string) (dir string, res result, injected bool) {
	f.t.Helper()
	dir = f.t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(f.from)); err != nil {
		f.t.Fatal(err)
	}
	if w.fresh {
		if err := os.RemoveAll(filepath.Join(dir, "state")); err != nil {
			f.t.Fatal(err)
		}
	}
	if w.old {
		if err := os.WriteFile(filepath.Join(dir, w.file), []byte("what was there"), 0o600); err != nil {
			f.t.Fatal(err)
		}
	}
	log := filepath.Join(dir, "calls")
	args := []string{"-f", "-qq", "-o", log, "-e", "trace=" + strings.Join(slices.Sorted(maps.Keys(faultedCalls)), ",")}
	if fault != "" {
		args = append(args, "-e", "inject="+fault)
	}
	if strings.HasPrefix(fault, "mmap") { // not for the program's own memory
		args = append(args, "-P", filepath.Join(dir, "state", "ibconsole", history.FileName+"-shm"))
	}
	commands := strings.ReplaceAll(w.commands, "FILE", filepath.Join(dir, w.file))
	args = append(args, program, "-s", faultySource, "-c",
		strings.ReplaceAll(commands, "exported", filepath.Join(dir, "exported")))
	cmd := exec.CommandContext(f.t.Context(), f.strace, args...)
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(dir, "state"))
	var out, said strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &said
	_ = cmd.Run()
	calls, err := os.ReadFile(log)
	if err != nil {
		f.t.Fatal(err, said.String())
	}
	if fault == "" {
		f.most[w.name] = busiest(string(calls))
	}
	f.mute = said.Len() == 0 && strings.Contains(string(calls), " write(2, ")
	injected = strings.Contains(string(calls), "(INJECTED)") || cmd.ProcessState.ExitCode() < 0
	return dir, result{cmd.ProcessState.ExitCode(), out.String(), said.String()}, injected
}

var called = regexp.MustCompile(`(?m)^(\d+) +(\w+)\(`)

// busiest returns the number of times that the busiest thread made each call.
func busiest(log string) map[string]int {
	count, most := map[string]int{}, map[string]int{}
	for _, m := range called.FindAllStringSubmatch(log, -1) {
		count[m[0]]++
		most[m[2]] = max(most[m[2]], count[m[0]])
	}
	return most
}

// try runs the program on the state that a run left.
func (f *faulty) try(dir, commands string) result {
	f.t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	return try("-s", faultySource, "-c", commands)
}

// TestFaultyCalls makes a system call of the program fail, or kills the program there, while it writes its history or a
// file. All that it reported as recorded must be recorded, failures must be reported with the file, and the history
// must be intact: a commit is complete, or resume and rollback finish it. The expected tables and files are those of
// runs without a fault.
func TestFaultyCalls(t *testing.T) {
	f := newFaulty(t)
	r := testenv.Rand(t)
	tried, all := map[string]int{}, testenv.Count(t, 40, 4000)
	ended, open, missed := map[int]int{}, 0, 0
	for i := 0; i < all; {
		w := &writings[i%len(writings)]
		fault := f.draw(r, w)
		dir, res, injected := f.run(w, fault)
		if !injected { // the thread did not reach the call this time
			missed++
			continue
		}
		i++
		tried[strings.Split(fault, ":")[0]]++
		ended[res.status]++
		if f.judge(r, w, dir, res) {
			open++
		}
		if f.wrong != nil {
			t.Errorf("run %d: %s with %s: status %d: %v\n%s%s", i, w.name, fault, res.status, f.wrong, res.out, res.err)
			f.wrong = nil
		}
		_ = os.RemoveAll(dir)
	}
	t.Logf("%d faults in %v; exit statuses %v; %d commits were resumed or rolled back; %d more did not come to "+
		"their fault", all, tried, ended, open, missed)
}

// systemCalls returns strace, if the system allows it to trace programs.
func systemCalls(t *testing.T) string {
	t.Helper()
	strace := testenv.Tool(t, "strace")
	if out, err := exec.CommandContext(t.Context(), strace, "-f", "-o", os.DevNull, "true").CombinedOutput(); err !=
		nil {
		t.Skipf("no program can be traced here: %v\n%s", err, out)
	}
	return strace
}

// newFaulty makes the initial state of runs, and runs each writing without a fault.
func newFaulty(t *testing.T) *faulty {
	f := &faulty{
		t: t, strace: systemCalls(t), from: t.TempDir(), whole: map[string][]byte{}, most: map[string]map[string]int{},
	}
	tables := t.TempDir()
	old, after := filepath.Join(tables, "old"), filepath.Join(tables, "new")
	if r := f.try(f.from, "dump lfts of=live "+old+"; "+faultyCommit+"; dump lfts of=live "+after+
		"; rollback yes; history export "+filepath.Join(f.from, "exported")); r.status != exitDone {
		t.Fatal(r.err)
	}
	f.before, f.after = []byte(read(t, old)), []byte(read(t, after))
	if err := os.RemoveAll(filepath.Join(f.from, "state")); err != nil {
		t.Fatal(err)
	}
	if r := f.try(f.from, faultyCommit+"; rollback yes"); r.status != exitDone {
		t.Fatal(r.err)
	}
	for i := range writings {
		w := &writings[i]
		dir, res, _ := f.run(w, "")
		if res.status != exitDone || !strings.Contains(res.out, w.said) {
			t.Fatalf("%s without a fault: %d\n%s%s", w.name, res.status, res.out, res.err)
		}
		if w.file != "" {
			f.whole[w.name] = []byte(read(t, filepath.Join(dir, w.file)))
		}
		if f.judge(nil, w, dir, res); f.wrong != nil {
			t.Fatalf("%s without a fault: %v", w.name, f.wrong)
		}
	}
	return f
}

// draw chooses a call that the writing makes, and its fault.
func (f *faulty) draw(r *rand.Rand, w *writing) string {
	most := f.most[w.name]
	calls := slices.Sorted(maps.Keys(most))
	call := calls[r.IntN(len(calls))]
	how := "signal=KILL"
	if errs := faultedCalls[call]; r.IntN(4) > 0 {
		how = "error=" + errs[r.IntN(len(errs))]
	}
	n := 1 + r.IntN(most[call])
	if call == "mmap" {
		n = 1 + r.IntN(2)
	}
	return call + ":" + how + ":when=" + strconv.Itoa(n)
}
