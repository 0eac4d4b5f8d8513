// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"example.org/ibconsole/internal/test/testenv"
)

// readers lists the arguments with which each reader reads FILE.
var readers = []string{
	"-s file:FILE -c show", "-s net:FILE -c show", "-s sim:FILE -c show", "--mkeys FILE -c show", "run FILE",
	"-c load\x00lfts\x00FILE", "-c load\x00fdbs\x00FILE", "-c load\x00mcfdbs\x00FILE", "-c load\x00sls\x00FILE",
	"-c load\x00sl2vl\x00FILE",
	"-c load\x00groups\x00FILE", "-c load\x00guid2lid\x00FILE", "-c load\x00lid-matrix\x00FILE",
	"-c load\x00routing\x00FILE",
	"-c load\x00topology\x00FILE", "-c load\x00paths\x00FILE", "-c names\x00FILE", "-c baseline\x00load\x00FILE",
	"-c engine\x00from=FILE", "-c engine\x00updn\x00root_guid_file=FILE",
	"-c engine\x00torus-2QoS\x00torus_config=FILE",
	"-c engine\x00minhop\x00partition_config_file=FILE", "-c trace\x00file=FILE",
	"-c check\x00load\x00pattern=hosts:FILE",
	"-c resilience\x00merge\x00FILE\x00FILE", "-c paths\x00info\x00FILE", "-c history\x00import\x00FILE",
}

// reading is a program that reads a file. It is killed after a minute.
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

// memory returns the peak memory of a program in MB. Linux includes the memory that this process had when it started
// the program.
func memory(cmd *exec.Cmd) int64 { return cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss >> 10 }

// memoryLimit returns the limit of memory for a program that may use that many MB.
func memoryLimit(t *testing.T, mb int64) int64 {
	t.Helper()
	var own syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &own); err != nil {
		t.Fatal(err)
	}
	return max(mb, own.Maxrss>>10)
}

// TestNoFile makes every reader read a folder and an endless device.
func TestNoFile(t *testing.T) {
	for _, words := range readers {
		for _, file := range []string{"/dev/zero", t.TempDir()} {
			cmd, out := reading(t, words, file)
			err := cmd.Run()
			if cmd.ProcessState.ExitCode() != exitFailed || !strings.Contains(out.String(), file) ||
				memory(cmd) > memoryLimit(t, 200) {
				t.Errorf("%q of %s: %v, %d MB, %s", words, file, err, memory(cmd), out)
			}
		}
	}
}

// TestStalledReader interrupts every reader while it waits for a pipe without a writer.
func TestStalledReader(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	// It can read the first bytes only.
	held, err := os.OpenFile(pipe, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	type run struct {
		words string
		cmd   *exec.Cmd
		out   *bytes.Buffer
		done  chan error
	}
	var all []run
	for _, words := range readers {
		cmd, out := reading(t, words, pipe)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		r := run{words, cmd, out, make(chan error, 1)}
		go func() { r.done <- cmd.Wait() }()
		all = append(all, r)
	}
	time.Sleep(time.Second) // long enough to reach the file; readers that have not reached it end as well
	for _, r := range all {
		_ = r.cmd.Process.Signal(syscall.SIGINT)
	}
	for _, r := range all {
		err := <-r.done // it is killed after a minute
		if status := r.cmd.ProcessState.ExitCode(); status != exitFailed && status != exitSignal+int(syscall.SIGINT) {
			t.Errorf("%q: %v, %s", r.words, err, r.out)
		}
	}
}

// answer is the message after an interrupt, or about a file that is rejected before it is read.
var answer = regexp.MustCompile("ended by the signal interrupt|context canceled|not a regular file|" +
	"other users may read the file")

// TestStalledFileSystem interrupts every reader of a file on a file system that does not respond to reads, or to any
// request. The program must report it and end. Linux releases it when the server of the file system ends.
func TestStalledFileSystem(t *testing.T) {
	for _, tool := range []string{"fusermount3", "pkg-config", "gcc"} {
		testenv.Tool(t, tool)
	}
	if _, err := os.Stat("/dev/fuse"); err != nil || os.Geteuid() != 0 {
		t.Skipf("a user-space file system needs /dev/fuse and root: %v", err)
	}
	program := filepath.Join(t.TempDir(), "stalledfs")
	build := exec.CommandContext(t.Context(), "sh", "-c",
		`gcc -o "$1" testdata/stalledfs/stalledfs.c $(pkg-config fuse3 --cflags --libs)`, "sh", program)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range []string{"stalled", "mute"} {
		for _, i := range testenv.Rand(t).Perm(len(readers))[:testenv.Count(t, 3, len(readers))] {
			words := readers[i]
			t.Run(name+" "+words, func(t *testing.T) {
				t.Parallel()
				at, end := mounted(t, program)
				cmd, _ := reading(t, words, filepath.Join(at, name))
				said := filepath.Join(t.TempDir(), "said")
				out, err := os.Create(said)
				if err != nil {
					t.Fatal(err)
				}
				cmd.Stdout, cmd.Stderr = out, out
				if err := errors.Join(cmd.Start(), out.Close()); err != nil {
					t.Fatal(err)
				}
				ended := make(chan struct{})
				go func() { defer close(ended); _ = cmd.Wait() }()
				// long enough to reach the file; a program that does not handle signals yet just ends
				time.Sleep(700 * time.Millisecond)
				_ = cmd.Process.Signal(syscall.SIGINT)
				for wait := time.After(20 * time.Second); read(t, said) == ""; { // a busy machine
					select {
					case <-ended:
						return
					case <-wait:
						t.Fatal("no message after an interrupt")
					case <-time.After(10 * time.Millisecond):
					}
				}
				if word := read(t, said); !answer.MatchString(word) {
					t.Errorf("the message after an interrupt is %q", word)
				}
				end()
				<-ended
			})
		}
	}
}

// mounted returns a folder with a file system that does not respond until its server ends.
func mounted(t *testing.T, program string) (dir string, end func()) {
	t.Helper()
	dir = t.TempDir()
	server := exec.Command(program, "-f", dir)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	end = sync.OnceFunc(func() { _ = server.Process.Kill(); _ = server.Wait() })
	t.Cleanup(func() {
		end()
		if out, err := exec.Command("fusermount3", "-u", "-z", dir).CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	})
	for wait := time.Now().Add(20 * time.Second); !strings.Contains(read(t, "/proc/self/mountinfo"),
		dir); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(wait) {
			t.Skip("mounting is not allowed here")
		}
	}
	return dir, end
}
