// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
	"example.org/ibconsole/mad/umad/umadtest"
)

// onDevices is the variable that makes TestSignalsOnDevices run, where there are umad devices.
const onDevices = "IBCONSOLE_TEST_ON_DEVICES"

// faces are the interfaces of the program, with a text that each shows once it has read the subnet.
var faces = map[string]struct {
	args  []string
	shows string
}{
	"script": {[]string{"-c", "summary; watch 60 for=600"}, "states: live"},
	"shell":  {[]string{"shell"}, "states: live"},
	"tui":    {nil, " switches, "},
}

var signals = []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}

// seated is the program on a terminal.
type seated struct {
	t      *testing.T
	cmd    *exec.Cmd
	tty    *os.File
	before unix.Termios
	said   chan string // all output so far, whenever there is more
	ctx    context.Context
}

// seat runs the program on a terminal.
func seat(t *testing.T, args ...string) *seated {
	t.Helper()
	master, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = master.Close(), tty.Close() })
	if err := pty.Setsize(master, &pty.Winsize{Rows: 40, Cols: 120}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	s := &seated{t: t, tty: tty, said: make(chan string, 1), ctx: ctx}
	s.before = s.mode()
	s.cmd = exec.CommandContext(ctx, program, args...)
	s.cmd.Env = append(os.Environ(), "TERM=xterm-256color", "CI=")
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = tty, tty, tty
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		var all strings.Builder
		b := make([]byte, 4096)
		for {
			n, err := master.Read(b)
			all.Write(b[:n])
			select {
			case <-s.said:
			default:
			}
			s.said <- all.String()
			if err != nil && !errors.Is(err, io.EOF) {
				return
			}
		}
	}()
	return s
}

// await waits until the output contains a text.
func (s *seated) await(text string) {
	s.t.Helper()
	for said := ""; !strings.Contains(said, text); {
		select {
		case said = <-s.said:
		case <-s.ctx.Done():
			s.t.Fatalf("does not show %q but %q", text, said)
		}
	}
}

func (s *seated) signal(signal syscall.Signal) {
	s.t.Helper()
	if err := s.cmd.Process.Signal(signal); err != nil {
		s.t.Fatal(err)
	}
}

// end waits for its end, which may be a normal one or by one of our signals, checks the terminal afterwards, and
// returns how it ended.
func (s *seated) end() syscall.WaitStatus {
	s.t.Helper()
	err := s.cmd.Wait()
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok || s.ctx.Err() != nil {
		s.t.Fatalf("ended with %v", err)
	}
	ended, _ := exit.Sys().(syscall.WaitStatus)
	if ended.Signaled() && ended.Signal() == syscall.SIGKILL {
		s.t.Errorf("ended with %v", err)
	}
	if after := s.mode(); after != s.before {
		s.t.Errorf("the terminal is left as %+v, was %+v", after, s.before)
	}
	return ended
}

func (s *seated) mode() unix.Termios {
	s.t.Helper()
	mode, err := unix.IoctlGetTermios(int(s.tty.Fd()), unix.TCGETS)
	if err != nil {
		s.t.Fatal(err)
	}
	return *mode
}

// interrupted runs the program on a terminal and sends it a signal once it shows that it has read the subnet. The shell
// continues after SIGINT, and is then ended with SIGTERM.
func interrupted(t *testing.T, source, face string, signal syscall.Signal) {
	t.Helper()
	s := seat(t, append([]string{"-s", source}, faces[face].args...)...)
	s.await(faces[face].shows)
	s.signal(signal)
	if face == "shell" && signal == syscall.SIGINT {
		time.Sleep(50 * time.Millisecond) // it continues: a second signal in the meantime would end it
		s.signal(syscall.SIGTERM)
	}
	s.end()
}

// TestIgnoredHangup checks that a script started with nohup continues when its terminal hangs up.
func TestIgnoredHangup(t *testing.T) {
	s := seat(t, "-s", "sim:fattree:2,4", "-c", "summary; watch 60 for=600")
	s.await("states: live")
	s.signal(syscall.SIGHUP)
	if ended := s.end(); ended.ExitStatus() != exitSignal+int(syscall.SIGHUP) {
		t.Errorf("not ignored, it ended with %v", ended)
	}
	signal.Ignore(syscall.SIGHUP)
	s = seat(t, "-s", "sim:fattree:2,4", "-c", "summary; watch 60 for=600")
	testenv.AcceptHangups()
	s.await("states: live")
	s.signal(syscall.SIGHUP)
	s.signal(syscall.SIGTERM) // with both pending, the kernel delivers SIGHUP first
	if ended := s.end(); ended.ExitStatus() != exitSignal+int(syscall.SIGTERM) {
		t.Errorf("ignored, it ended with %v", ended)
	}
}

// TestSecondSignal checks that a second signal, while the screen is closed and the place at ibsim is being freed, does
// not end the program before the place is free, even if a hanging ibsim takes its time.
func TestSecondSignal(t *testing.T) {
	file := filepath.Join(t.TempDir(), "net")
	ibconsole(t, "-c", "gen fattree 2 4 "+file)
	sim := ibsimtest.Start(t, file)
	s := seat(t, "-s", "ibsim:"+sim.Name)
	s.await(faces["tui"].shows)
	sim.Pause()
	s.signal(syscall.SIGINT)
	for s.mode() != s.before && s.ctx.Err() == nil { // until the screen has restored the terminal
		time.Sleep(time.Millisecond)
	}
	for range 20 {
		time.Sleep(10 * time.Millisecond) // the longer, the likelier the place is being freed
		s.signal(syscall.SIGTERM)
	}
	sim.Resume()
	if ended := s.end(); ended.ExitStatus() != exitSignal+int(syscall.SIGINT) {
		t.Errorf("ended with %v", ended)
	}
	if taken := strings.Count(sim.Console("Attached"), "Client "); taken != 0 {
		t.Errorf("%d places are taken", taken)
	}
}

// TestSignalsGiveThePlaceBack checks for all signals and interfaces that the terminal is restored and the place at
// ibsim is free.
func TestSignalsGiveThePlaceBack(t *testing.T) {
	file := filepath.Join(t.TempDir(), "net")
	ibconsole(t, "-c", "gen fattree 2 4 "+file)
	sim := ibsimtest.Start(t, file)
	for face := range faces {
		for _, signal := range signals {
			t.Run(face+" "+signal.String(), func(t *testing.T) {
				interrupted(t, "ibsim:"+sim.Name, face, signal)
				if taken := sim.Console("Attached"); strings.Contains(taken, "Client ") {
					t.Errorf("places are taken:\n%s", taken)
				}
			})
		}
	}
}

// freeAgents returns how many more agents the substitute for the devices accepts, of 32. It forgets the agents of a
// closed device only on request.
func freeAgents(t *testing.T) int {
	t.Helper()
	const registerAgent, unregisterAgent = 0xc01c1b01, 0x40041b02 // ib_user_mad_ioctl.h
	var d *os.File
	var err error
	// the substitute for the kernel notices a close late
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		d, err = os.OpenFile("/dev/infiniband/umad0", os.O_RDWR, 0)
		if busy := errors.Is(err, unix.EINVAL) || errors.Is(err, unix.EBUSY); !busy || time.Now().After(deadline) {
			break
		}
	}
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

// TestSignalsReleaseTheAgents checks for all signals and interfaces that the agents are released.
func TestSignalsReleaseTheAgents(t *testing.T) {
	file := filepath.Join(t.TempDir(), "net")
	ibconsole(t, "-c", "gen fattree 2 4 "+file)
	sim := ibsimtest.Start(t, file)
	run := umadtest.Devices(t, sim.Name)
	out := run("env", onDevices+"=1", programVar+"="+program, umadtest.Build(t, ".", true), "-test.v", "-test.run",
		"^TestSignalsOnDevices$")
	if !strings.Contains(out, "--- PASS: TestSignalsOnDevices") {
		t.Error(out)
	}
}

func TestSignalsOnDevices(t *testing.T) {
	if os.Getenv(onDevices) == "" {
		t.Skip("runs where TestSignalsReleaseTheAgents makes devices")
	}
	before := freeAgents(t)
	if before < 4 {
		t.Fatalf("%d free agents", before)
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
	if after := freeAgents(t); after != before {
		t.Errorf("%d agents were free before, %d afterwards", before, after)
	}
}

// TestClosedPipeGivesThePlaceBack checks that the program ends without a message when the reader of its output ends
// early, and that its place at ibsim is free.
func TestClosedPipeGivesThePlaceBack(t *testing.T) {
	file := filepath.Join(t.TempDir(), "net")
	ibconsole(t, "-c", "gen fattree 2 4 "+file)
	sim := ibsimtest.Start(t, file)
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	_ = read.Close()
	cmd := exec.CommandContext(t.Context(), program, "-s", "ibsim:"+sim.Name, "-c",
		"summary; watch 60 for=600; summary")
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = write, &said
	_ = cmd.Run()
	_ = write.Close()
	if want := exitSignal + int(syscall.SIGPIPE); cmd.ProcessState.ExitCode() != want || said.Len() > 0 {
		t.Errorf("%v, %q; want exit status %d", cmd.ProcessState, said.String(), want)
	}
	if taken := strings.Count(sim.Console("Attached"), "Client "); taken != 0 {
		t.Errorf("%d places are taken", taken)
	}
}
