// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"example.org/ibconsole/internal/testenv"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
	"example.org/ibconsole/mad/umad/umadtest"
	"example.org/ibconsole/shell/session"
)

// onDevices is the variable that makes TestSignalsOnDevices run, where there are
// umad devices.
const onDevices = "IBCONSOLE_TEST_ON_DEVICES"

// faces are the ways to run the program, with what each shows once it has read the
// subnet.
var faces = map[string]struct {
	args  []string
	shows string
}{
	"script": {[]string{"-c", "summary; watch 60 for=600"}, "pictures: live"},
	"shell":  {[]string{"shell"}, "pictures: live"},
	"tui":    {nil, "leaf-01"},
}

var signals = []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}

// interrupted runs the program on a terminal, sends it a signal once it shows that
// it has read the subnet, and looks at the terminal afterwards. The shell and the
// interface go on after SIGINT, and are then left by SIGTERM.
func interrupted(t *testing.T, source, face string, signal syscall.Signal) {
	t.Helper()
	master, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = master.Close(), tty.Close() }()
	if err := pty.Setsize(master, &pty.Winsize{Rows: 40, Cols: 120}); err != nil {
		t.Fatal(err)
	}
	before, err := unix.IoctlGetTermios(int(tty.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], append([]string{"-s", source}, faces[face].args...)...)
	cmd.Env = append(os.Environ(), asProgram+"=1", "TERM=xterm-256color", "CI=")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	shown := make(chan struct{})
	var output atomic.Pointer[string]
	go func() {
		var all strings.Builder
		b := make([]byte, 4096)
		for seen := false; ; {
			n, err := master.Read(b)
			all.Write(b[:n])
			text := all.String()
			output.Store(&text)
			if !seen && strings.Contains(text, faces[face].shows) {
				seen = true
				close(shown)
			}
			if err != nil && !errors.Is(err, io.EOF) {
				return
			}
		}
	}()
	select {
	case <-shown:
	case <-ctx.Done():
		t.Fatalf("does not show %q but %q", faces[face].shows, *output.Load())
	}
	if err := cmd.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	if face != "script" && signal == syscall.SIGINT {
		time.Sleep(50 * time.Millisecond) // it goes on: a second signal in the meantime ends it, too
		_ = cmd.Process.Signal(syscall.SIGTERM)
	}
	err = cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || ctx.Err() != nil {
		t.Errorf("ended with %v", err)
	} else if ws, ok := exit.Sys().(syscall.WaitStatus); ok && ws.Signaled() && ws.Signal() == syscall.SIGKILL {
		t.Errorf("ended with %v", err)
	}
	after, err := unix.IoctlGetTermios(int(tty.Fd()), unix.TCGETS)
	if err != nil || *after != *before {
		t.Errorf("the terminal is left as %+v, was %+v, %v", after, before, err)
	}
}

// Whatever signal ends whatever face: the terminal is as it was, and the place at
// ibsim is free again.
func TestSignalsGiveThePlaceBack(t *testing.T) {
	file := filepath.Join(t.TempDir(), "net")
	ibconsole(t, "-c", "gen fattree 2 4 "+file)
	sim := ibsimtest.Start(t, file)
	for face := range faces {
		for _, signal := range signals {
			t.Run(face+" "+signal.String(), func(t *testing.T) {
				interrupted(t, "ibsim:"+sim.Name, face, signal)
				if taken := strings.Count(sim.Console("Attached"), "Client "); taken != 0 {
					t.Errorf("%d places are taken", taken)
				}
			})
		}
	}
}

// room is how many agents more the stand-in for the devices has room for, of 32. It
// forgets those of a closed device only when told.
func room(t *testing.T) int {
	t.Helper()
	const registerAgent, unregisterAgent = 0xc01c1b01, 0x40041b02 // ib_user_mad_ioctl.h
	d, err := os.OpenFile("/dev/infiniband/umad0", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	ioctl := func(request uintptr, arg []byte) unix.Errno {
		_, _, errno := unix.Syscall(unix.SYS_IOCTL, d.Fd(), request, uintptr(unsafe.Pointer(&arg[0])))
		return errno
	}
	var ids [][]byte
	for {
		agent := make([]byte, 28)
		agent[21], agent[22] = 0x81, 1 // class and version
		if ioctl(registerAgent, agent) != 0 {
			break
		}
		ids = append(ids, agent[:4])
	}
	for _, id := range ids {
		if errno := ioctl(unregisterAgent, id); errno != 0 {
			t.Fatal(errno)
		}
	}
	return len(ids)
}

// TestSignalsReleaseTheAgents: whatever signal ends whatever face.
func TestSignalsReleaseTheAgents(t *testing.T) {
	file := filepath.Join(t.TempDir(), "net")
	ibconsole(t, "-c", "gen fattree 2 4 "+file)
	sim := ibsimtest.Start(t, file)
	run := umadtest.Devices(t, sim.Name)
	out := run("env", onDevices+"=1", umadtest.Build(t, ".", true), "-test.v", "-test.run", "^TestSignalsOnDevices$")
	if !strings.Contains(out, "--- PASS: TestSignalsOnDevices") {
		t.Error(out)
	}
}

func TestSignalsOnDevices(t *testing.T) {
	if os.Getenv(onDevices) == "" {
		t.Skip("runs where TestSignalsReleaseTheAgents makes devices")
	}
	before := room(t)
	if before < 4 {
		t.Fatalf("room for %d agents", before)
	}
	all := slices.Sorted(maps.Keys(faces))
	if !testenv.Full() {
		all = all[testenv.Rand(t).IntN(len(all)):][:1]
	}
	for _, face := range all {
		for _, signal := range signals {
			interrupted(t, "umad", face, signal)
		}
	}
	if after := room(t); after != before {
		t.Errorf("there was room for %d agents, and is for %d", before, after)
	}
}

// A panic ends the program, and the place at ibsim is free again.
func TestPanicGivesThePlaceBack(t *testing.T) {
	file := filepath.Join(t.TempDir(), "net")
	ibconsole(t, "-c", "gen fattree 2 4 "+file)
	sim := ibsimtest.Start(t, file)
	o := options{streams: streams{out: io.Discard, err: io.Discard}, source: "ibsim:" + sim.Name}
	func() {
		defer func() {
			if p := recover(); p != "boom" {
				t.Errorf("recovered %v", p)
			}
		}()
		o.connect(t.Context(), session.Options{}, func(context.Context, *session.Session) error {
			if taken := strings.Count(sim.Console("Attached"), "Client "); taken != 1 {
				t.Errorf("%d places are taken", taken)
			}
			panic("boom")
		})
	}()
	if taken := strings.Count(sim.Console("Attached"), "Client "); taken != 0 {
		t.Errorf("%d places are taken afterwards", taken)
	}
}
