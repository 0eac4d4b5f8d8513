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

// childVar makes the test program one that keeps rounds in the file that it names, until it is killed.
const childVar = "IBCONSOLE_TEST_KEEPS"

// What rounds of these tests are: every 20 seconds from an hour's beginning on, some ports with errors that follow from
// both.
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

// rounds is how many rounds a file has, all of which are held against what they were.
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
	if err != nil || len(all) != roundPorts {
		t.Fatalf("%d ports, %v", len(all), err)
	}
	for i, x := range all {
		var want uint64
		for k := range n {
			want += errorsOf(k, i)
		}
		if got := x.Counts[0].Increase; x.Key != key(i) || got != want {
			t.Fatalf("%s has %d errors in %d rounds, want %d", x.Name, got, n, want)
		}
	}
	return n
}

// keepOn keeps rounds from some number on, rolls up and says what was kept, until it fails or there are so many.
func keepOn(ctx context.Context, s *records.Store, from, to int, kept io.Writer) error {
	for n := from; n < to; n++ {
		r := numbered(n)
		if err := s.Keep(ctx, r); err != nil {
			return err
		}
		fmt.Fprintln(kept, n)
		if now := r.Samples[0].Until; n%5 == 4 { // a day later the seconds of past hours go
			if err := errors.Join(s.RollUp(ctx, now), s.Trim(ctx, now.Add(24*time.Hour))); err != nil {
				return err
			}
		}
	}
	return nil
}

func TestKeepsUntilKilled(t *testing.T) {
	file := os.Getenv(childVar)
	if file == "" {
		t.Skip("it is what TestKilled runs")
	}
	s := open(t, file)
	if err := keepOn(t.Context(), s, rounds(t, s), 1<<30, os.Stdout); err != nil {
		t.Fatal(err)
	}
}

// TestKilled kills what keeps rounds again and again, at random times: each round that was said to be kept is there,
// and each that is there is whole.
func TestKilled(t *testing.T) {
	rnd := testenv.Rand(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), records.FileName)
	have := 0
	for range testenv.Count(t, 6, 200) {
		cmd := exec.Command(self, "-test.run", "^TestKeepsUntilKilled$")
		cmd.Env = append(os.Environ(), childVar+"="+file)
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		said := bufio.NewScanner(out)
		last := have - 1
		var timer *time.Timer
		for said.Scan() {
			n, err := strconv.Atoi(said.Text())
			if err != nil {
				t.Fatalf("it says %q", said.Text())
			}
			if last = n; timer == nil {
				timer = time.AfterFunc(time.Duration(rnd.Int64N(int64(100*time.Millisecond))), func() {
					_ = cmd.Process.Kill()
				})
			}
		}
		_ = cmd.Process.Kill() // where it has kept nothing
		err = cmd.Wait()
		if state := cmd.ProcessState.Sys().(syscall.WaitStatus); state.Signal() != syscall.SIGKILL {
			t.Fatalf("it ended by itself: %v", err)
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
			t.Fatalf("%d rounds, and round %d was said to be kept", have, last)
		}
	}
	t.Logf("%d rounds", have)
}

// TestDiskFull fills a disk again and again: what was said to be kept is there, what failed is not there in part, and
// all goes on when there is room.
func TestDiskFull(t *testing.T) {
	rnd := testenv.Rand(t)
	for range testenv.Count(t, 2, 50) {
		dir := t.TempDir()
		if err := unix.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%dk", 1000+rnd.IntN(3000))); err != nil {
			t.Skipf("no file system can be mounted here: %v", err)
		}
		t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
		s, err := records.Open(t.Context(), filepath.Join(dir, records.FileName))
		if err != nil {
			t.Fatal(err)
		}
		var said bytes.Buffer
		failed := keepOn(t.Context(), s, 0, 100_000, &said)
		kept := strings.Count(said.String(), "\n")
		if failed == nil || kept == 0 {
			t.Fatalf("%d rounds, and then %v", kept, failed)
		}
		for range 2 { // as it is, and opened anew with room
			if have := rounds(t, s); have != kept {
				t.Errorf("%d rounds, and %d were said to be kept; it ended with %v", have, kept, failed)
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
			t.Errorf("with room again: %v", err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
