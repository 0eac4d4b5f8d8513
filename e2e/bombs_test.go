// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// readers are words that have each reader read FILE.
var readers = []string{
	"-s file:FILE -c show", "-s net:FILE -c show", "-s sim:FILE -c show", "--mkeys FILE -c show", "run FILE",
	"-c load\x00lfts\x00FILE", "-c load\x00fdbs\x00FILE", "-c load\x00mcfdbs\x00FILE", "-c load\x00sls\x00FILE", "-c load\x00sl2vl\x00FILE",
	"-c load\x00groups\x00FILE", "-c load\x00guid2lid\x00FILE", "-c load\x00lid-matrix\x00FILE", "-c load\x00routing\x00FILE",
	"-c load\x00topology\x00FILE", "-c load\x00paths\x00FILE", "-c names\x00FILE", "-c baseline\x00load\x00FILE",
	"-c engine\x00from=FILE", "-c engine\x00updn\x00root_guid_file=FILE", "-c engine\x00torus-2QoS\x00torus_config=FILE",
	"-c engine\x00minhop\x00partition_config_file=FILE", "-c trace\x00file=FILE", "-c check\x00load\x00pattern=hosts:FILE",
	"-c resilience\x00merge\x00FILE\x00FILE", "-c paths\x00info\x00FILE", "-c history\x00import\x00FILE",
}

// reading is the program that reads a file; it is killed after a minute.
func reading(t *testing.T, words, file string) (cmd *exec.Cmd, out *bytes.Buffer) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	var args []string
	for w := range strings.FieldsSeq(words) {
		args = append(args, strings.ReplaceAll(strings.ReplaceAll(w, "\x00", " "), "FILE", file))
	}
	out = new(bytes.Buffer)
	cmd = exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), "IBCONSOLE_SOURCE=sim:fattree:2,4", "XDG_STATE_HOME="+t.TempDir())
	cmd.Stdout, cmd.Stderr = out, out
	return cmd, out
}

// memory is the most that a program had, in MB. Linux counts what this process had when it started the program, too.
func memory(cmd *exec.Cmd) int64 { return cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss >> 10 }

// memoryLimit is what memory may say of a program that has at most that many MB.
func memoryLimit(t *testing.T, mb int64) int64 {
	t.Helper()
	var own syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &own); err != nil {
		t.Fatal(err)
	}
	return max(mb, own.Maxrss>>10)
}

// TestNoFile has every reader read a folder and a device that does not end.
func TestNoFile(t *testing.T) {
	for _, words := range readers {
		for _, file := range []string{"/dev/zero", t.TempDir()} {
			cmd, out := reading(t, words, file)
			err := cmd.Run()
			if cmd.ProcessState.ExitCode() != exitFailed || !strings.Contains(out.String(), file) || memory(cmd) > memoryLimit(t, 200) {
				t.Errorf("%q of %s: %v, %d MB, %s", words, file, err, memory(cmd), out)
			}
		}
	}
}

// TestStalledReader interrupts every reader that waits for a pipe to which nobody writes.
func TestStalledReader(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	// What comes first is read; then nothing does.
	held, err := os.OpenFile(pipe, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = held.Close() })
	for _, words := range readers {
		t.Run(words, func(t *testing.T) {
			t.Parallel()
			cmd, out := reading(t, words, pipe)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			var err error
			done := make(chan error, 1)
			go func() { done <- cmd.Wait() }()
			select {
			case err = <-done: // it refuses pipes
			case <-time.After(700 * time.Millisecond): // long enough to be at the file; if it is not, it ends all the same
				_ = cmd.Process.Signal(syscall.SIGINT)
				err = <-done
			}
			status := cmd.ProcessState.ExitCode()
			if status != exitFailed && status != exitSignal+int(syscall.SIGINT) {
				t.Errorf("%v, %s", err, out)
			}
		})
	}
}
