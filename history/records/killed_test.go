// SPDX-License-Identifier: Apache-2.0

package records_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/history/records"
	"example.org/ibconsole/internal/test/testenv"
)

// childVar is the file into which a test process stores rounds until it is killed.
const childVar = "IBCONSOLE_TEST_KEEPS"

// The rounds of these tests: every 20 seconds from the start of an hour, with errors that follow from round and port.
const (
	roundLength = 20 * time.Second
	roundPorts  = 1500
)

func firstRound() time.Time { return time.Unix(1_700_000_000/3600*3600, 0) }

func errorsOf(n, port int) uint64 { return uint64((n*7 + port*13) % 5) }

func numbered(n int) records.Round {
	r := records.Round{Subnet: "a", What: counters.Errors, Every: roundLength}
	for i := range roundPorts {
		x := sample(i, firstRound().Add(time.Duration(n+1)*roundLength), roundLength.Seconds())
		x.Increase[counters.SymbolErrors] = errorsOf(n, i)
		r.Samples = append(r.Samples, x)
	}
	return r
}

// rounds returns how many rounds a file has, and compares all of them with the expected ones.
func rounds(t *testing.T, s *records.Store) int {
	t.Helper()
	_, until, found, err := s.Span(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	if !found {
		return 0
	}
	n := int(until.Sub(firstRound()) / roundLength)
	all, err := s.Totals(t.Context(), "a", counters.Errors, time.Time{}, until)
	if err != nil {
		t.Fatal(err)
	}
	for i := range roundPorts {
		var want uint64
		for k := range n {
			want += errorsOf(k, i)
		}
		if want == 0 { // after one round, Totals lacks such ports
			continue
		}
		if len(all) == 0 || all[0].Key != key(i) || all[0].Counts[0].Increase != want {
			t.Fatalf("port %d of %d rounds has %d errors, the next ones are %+v", i, n, want, all[:min(len(all), 1)])
		}
		all = all[1:]
	}
	if len(all) > 0 {
		t.Fatalf("%d ports have errors in %d rounds, the first is %+v", len(all), n, all[0])
	}
	return n
}

// keepOn stores rounds from one number to another, rolls up, and writes the number of each stored round, until it
// fails.
func keepOn(ctx context.Context, s *records.Store, from, to int, kept io.Writer) error {
	for n := from; n < to; n++ {
		r := numbered(n)
		if err := s.Keep(ctx, r); err != nil {
			return err
		}
		fmt.Fprintln(kept, n)
		if now := r.Samples[0].Until; n%5 == 4 { // a day later the seconds of past hours are removed
			if err := errors.Join(s.RollUp(ctx, now), s.Trim(ctx, now.Add(24*time.Hour))); err != nil {
				return err
			}
		}
	}
	return nil
}

func TestStoreUntilKilled(t *testing.T) {
	file := os.Getenv(childVar)
	if file == "" {
		t.Skip("only TestKilled runs this")
	}
	s := open(t, file)
	if err := keepOn(t.Context(), s, rounds(t, s), 1<<30, os.Stdout); err != nil {
		t.Fatal(err)
	}
}

// TestKilled kills a process that stores rounds, many times at random moments. Each round that was reported as stored
// must exist, and each existing round must be complete.
func TestKilled(t *testing.T) {
	rnd := testenv.Rand(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), records.FileName)
	have := 0
	for range testenv.Count(t, 6, 200) {
		cmd := exec.Command(self, "-test.run", "^TestStoreUntilKilled$")
		cmd.Env = append(os.Environ(), childVar+"="+file)
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		stored := bufio.NewScanner(out)
		last := have - 1
		var timer *time.Timer
		for stored.Scan() {
			n, err := strconv.Atoi(stored.Text())
			if err != nil {
				t.Fatalf("the output is %q", stored.Text())
			}
			if last = n; timer == nil {
				timer = time.AfterFunc(time.Duration(rnd.Int64N(int64(100*time.Millisecond))), func() {
					_ = cmd.Process.Kill()
				})
			}
		}
		_ = cmd.Process.Kill() // if it has stored nothing
		err = cmd.Wait()
		if state := cmd.ProcessState.Sys().(syscall.WaitStatus); state.Signal() != syscall.SIGKILL {
			t.Fatalf("it was not killed: %v", err)
		}
		s, err := records.Open(t.Context(), file)
		if err != nil {
			t.Fatal(err)
		}
		have = rounds(t, s)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if have <= last {
			t.Fatalf("%d rounds, and round %d was reported as stored", have, last)
		}
	}
	t.Logf("%d rounds", have)
}

// TestDiskFull fills a disk several times. Each round that was reported as stored must exist, a failed one leaves
// nothing, and storing works again when there is space.
func TestDiskFull(t *testing.T) {
	rnd := testenv.Rand(t)
	for range testenv.Count(t, 2, 50) {
		dir := t.TempDir()
		if err := unix.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%dk", 1000+rnd.IntN(3000))); err != nil {
			t.Skipf("cannot mount a file system: %v", err)
		}
		t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
		s, err := records.Open(t.Context(), filepath.Join(dir, records.FileName))
		if err != nil {
			t.Fatal(err)
		}
		var stored bytes.Buffer
		failed := keepOn(t.Context(), s, 0, 100_000, &stored)
		kept := strings.Count(stored.String(), "\n")
		if failed == nil || kept == 0 {
			t.Fatalf("%d rounds, and then %v", kept, failed)
		}
		for range 2 { // as it is, and reopened with space
			if have := rounds(t, s); have != kept {
				t.Errorf("%d rounds, and %d were reported as stored; the error is %v", have, kept, failed)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if err := unix.Mount("", dir, "", unix.MS_REMOUNT, "size=16m"); err != nil {
				t.Fatal(err)
			}
			if s, err = records.Open(t.Context(), filepath.Join(dir, records.FileName)); err != nil {
				t.Fatal(err)
			}
		}
		if err := keepOn(t.Context(), s, kept, kept+10, io.Discard); err != nil || rounds(t, s) != kept+10 {
			t.Errorf("with space again: %v", err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
