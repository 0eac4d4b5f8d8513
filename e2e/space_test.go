// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"example.org/ibconsole/history/records"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
)

// smallState returns a state directory on a file system of its own in memory. It skips the test if none can be mounted.
func smallState(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("no file system can be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	t.Setenv("XDG_STATE_HOME", dir)
	return dir
}

func remount(t *testing.T, dir string, flags uintptr, options string) {
	t.Helper()
	if err := unix.Mount("", dir, "", unix.MS_REMOUNT|flags, options); err != nil {
		t.Fatal(err)
	}
}

// TestReadOnlyState checks that with a read-only history everything works except commits, and these work with another
// journal.
func TestReadOnlyState(t *testing.T) {
	dir := smallState(t, "8m")
	const source, commit = "sim:fattree:2,8", "write on; fail link leaf-01 5; route; commit yes"
	ibconsole(t, "-s", source, "-c", commit)
	remount(t, dir, unix.MS_RDONLY, "")
	r := try("-s", source, "-c", "route; check reach; history")
	if r.status != exitDone || !strings.Contains(r.out, "commit, done") ||
		!strings.Contains(r.out, "is read-only: ") {
		t.Errorf("status %d\n%s%s", r.status, r.out, r.err)
	}
	live := filepath.Join(t.TempDir(), "live")
	r = try("-s", source, "-c", commit)
	if r.status != exitFailed || strings.Contains(r.out, "written in") || !strings.Contains(r.err, "journal=FILE") {
		t.Errorf("commit: status %d\n%s%s", r.status, r.out, r.err)
	}
	file := filepath.Join(t.TempDir(), "with a space", "journal")
	if err := os.Mkdir(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	ibconsole(t, "-s", source, "-c", "dump lfts of=live "+live+".old; "+commit+" journal='"+file+
		"'; rollback yes; dump lfts of=live "+live)
	sameFile(t, live+".old", live)
	remount(t, dir, 0, "")
	if out := ibconsole(t, "-s", source, "-c", "history import '"+file+"'; history"); !strings.Contains(out,
		"rolled back") {
		t.Errorf("a commit that was journalled elsewhere is not in the history: %s", out)
	}
}

// TestReadOnlyRecord checks that the commands that read the record work in a read-only folder, and that commands that
// write to it name the cause.
func TestReadOnlyRecord(t *testing.T) {
	dir := smallState(t, "32m")
	const source = "sim:fattree:2,4"
	ibconsole(t, "-s", source, "-c", "write on; fail link leaf-01 3; route; commit yes; "+
		"record start every=0.2 sweep=0.2 traffic=0.2; watch 0.2 for=2")
	remount(t, dir, unix.MS_RDONLY, "")
	for _, command := range []string{
		"problems since=1h", "problems of=1s", "flaps", "record status", "record alerts", "record keep", "ack",
		"history", "changes since=1h", "hosts a leaf-01 leaf-02; jobs on leaf-01 3", "counters worst",
		"counters top since=1h", "counters history leaf-01/3", "report morning",
	} {
		r := try("-s", source, "-c", command)
		if r.status != exitDone || strings.Contains(r.out+r.err, "unable to open") ||
			strings.Contains(r.out+r.err, "history could not be read") {
			t.Errorf("%s: status %d\n%s%s", command, r.status, r.out, r.err)
		}
	}
	for _, command := range []string{"record start", "record keep megabytes=99"} {
		r := try("-s", source, "-c", command)
		if r.status != exitFailed || !strings.Contains(r.err, "the record in ") ||
			!strings.Contains(r.err, " is read-only: ") {
			t.Errorf("%s: status %d\n%s%s", command, r.status, r.out, r.err)
		}
	}
}

// TestCommitsWithTheDiskFull commits with little or no space for the journal. A refused commit must have written
// nothing, and an interrupted one can be finished when there is space again.
func TestCommitsWithTheDiskFull(t *testing.T) {
	testenv.Tool(t, "ibsim")
	dir := smallState(t, "8m")
	r := testenv.Rand(t)
	net := filepath.Join(t.TempDir(), "net")
	ibconsole(t, "-s", "sim:fattree:2,16", "-c", "dump topology "+net)
	source := "ibsim:" + ibsimtest.Start(t, net).Name
	out := t.TempDir()
	at := func(name string) string { return filepath.Join(out, name) }
	ibconsole(t, "-s", source, "-c", "engine minhop; route; write on; commit yes; dump lfts "+at("minhop"))
	ibconsole(t, "-s", source, "-c", "engine dor port_shifting=TRUE; route; dump lfts "+at("dor"))
	now, next := "minhop", "dor"
	refused := 0
	for i := range testenv.Count(t, 10, 200) {
		fill(t, dir, r)
		engine := map[string]string{"minhop": "minhop", "dor": "dor port_shifting=TRUE"}[next]
		res := try("-s", source, "-c", "engine "+engine+"; route; write on; commit yes")
		if res.status == exitDone {
			now, next = next, now
		} else {
			refused++
		}
		if err := os.Remove(filepath.Join(dir, "filler")); err != nil {
			t.Fatal(err)
		}
		want := now
		// its end could not be recorded
		if strings.Contains(ibconsole(t, "-s", source, "-c", "history"), "interrupted") {
			ibconsole(t, "-s", source, "-c", "write on; commit resume yes")
			if want = next; res.status == exitDone {
				want = now
			}
			now, next = want, map[string]string{"minhop": "dor", "dor": "minhop"}[want]
		}
		_ = os.Remove(at("live"))
		ibconsole(t, "-s", source, "-c", "dump lfts of=live "+at("live"))
		if read(t, at("live")) != read(t, at(want)) {
			t.Fatalf("round %d: the switches do not have the tables of %s; the commit printed: %s", i, want, res.err)
		}
	}
	if refused == 0 {
		t.Error("the disk was never too full for a commit")
	}
	t.Logf("%d refused", refused)
}

// TestRecorderWithTheDiskFull fills the disk while the program records. It reports that, continues, and records again
// when there is space. Everything that was stored before stays.
func TestRecorderWithTheDiskFull(t *testing.T) {
	rnd := testenv.Rand(t)
	for round := range testenv.Count(t, 1, 50) {
		dir := smallState(t, "8m")
		said := filepath.Join(t.TempDir(), "said")
		out, err := os.Create(said)
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(program, "-s", busy, "record", "every=0.1", "traffic=0.2", "sweep=0.1")
		cmd.Stdout, cmd.Stderr = out, out
		if err := errors.Join(cmd.Start(), out.Close()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill() })
		stored := recordedUntil(t, busy, time.Time{})
		stored = recordedUntil(t, busy, stored.Until)
		time.Sleep(time.Duration(rnd.IntN(500)) * time.Millisecond)
		before := storedCounts(t, dir, stored)
		fill(t, dir, rnd)
		eventually(t, "the recorder reports the full disk", func() bool {
			return strings.Contains(read(t, said), "database or disk is full")
		})
		time.Sleep(time.Duration(rnd.IntN(1000)) * time.Millisecond)
		if now := statusOfRecords(t, busy); !now.Elsewhere {
			t.Fatalf("round %d: the recorder ended: %s", round, read(t, said))
		}
		if err := os.Remove(filepath.Join(dir, "filler")); err != nil {
			t.Fatal(err)
		}
		recordedUntil(t, busy, time.Now())
		eventually(t, "the alert ends", func() bool {
			return strings.Contains(read(t, said), "alert ended: the recorder cannot store")
		})
		if err := errors.Join(cmd.Process.Signal(syscall.SIGTERM), cmd.Wait()); err != nil {
			t.Errorf("round %d: after SIGTERM: %v: %s", round, err, read(t, said))
		}
		if err := integrity(t.Context(), filepath.Join(dir, "ibconsole", records.FileName)); err != nil {
			t.Errorf("round %d: %v", round, err)
		}
		if after := storedCounts(t, dir, stored); !slices.Equal(before, after) {
			t.Errorf("round %d: recorded were %v, and now are %v", round, before, after)
		}
		t.Logf("round %d: %s", round, read(t, said))
	}
}

// storedCounts returns the recorded traffic of all ports in a period.
func storedCounts(t *testing.T, dir string, of recordStatus) (all []string) {
	t.Helper()
	s, err := records.Open(t.Context(), filepath.Join(dir, "ibconsole", records.FileName))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	totals, err := s.Totals(t.Context(), busy, records.Traffic, of.Since, of.Until)
	if err != nil || len(totals) == 0 {
		t.Fatalf("recorded: %v, %v", totals, err)
	}
	for i := range totals {
		all = append(all, fmt.Sprint(totals[i].Key, totals[i].Counts))
	}
	return all
}

// fill leaves less than the given space, often none.
func fill(t *testing.T, dir string, r *rand.Rand) {
	t.Helper()
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		t.Fatal(err)
	}
	left := int64(0)
	if r.IntN(3) > 0 {
		left = r.Int64N(64) * st.Bsize
	}
	f, err := os.Create(filepath.Join(dir, "filler"))
	if err != nil {
		t.Fatal(err)
	}
	// Another program may write at the same time.
	if _, err := f.Write(make([]byte, max(0, int64(st.Bavail)*st.Bsize-left))); err != nil &&
		!errors.Is(err, unix.ENOSPC) {
		t.Fatal(fmt.Errorf("fill the disk: %w", err))
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
