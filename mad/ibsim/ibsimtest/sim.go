// SPDX-License-Identifier: Apache-2.0

// Package ibsimtest runs ibsim for tests, and programs of Debian's packages infiniband-diags and opensm on the
// simulated subnet.
package ibsimtest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/ibsim"
)

const (
	startLimit   = 2 * time.Minute // to read its file
	consoleLimit = 2 * time.Minute // for a console command
	commandLimit = 5 * time.Minute // for a program on an ibsim, see [CommandLimit]

	prompt = "sim> "
)

// Sim is a running ibsim. It ends when the test that started it ends.
type Sim struct {
	Name string // its IBSIM_SOCKNAME
	Port uint16 // UDP port if started with [Remote], otherwise 0

	t      testing.TB
	limit  time.Duration // of a program on it
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	output output // standard output: the console
	errors output
	using  sync.Mutex // guards the console
	exited chan struct{}
	stop   sync.Once
}

// Option changes how an ibsim is started.
type Option func(*Sim)

// Remote makes ibsim listen at UDP ports instead of local sockets.
func Remote() Option {
	return func(s *Sim) { s.Port = uint16(20000 + 16*rand.IntN(2000)) }
}

// Named gives the ibsim a certain name, such as that of an ibsim that has ended.
func Named(name string) Option { return func(s *Sim) { s.Name = name } }

// CommandLimit sets the maximum time that a program on the simulated subnet may take (default five minutes).
func CommandLimit(limit time.Duration) Option { return func(s *Sim) { s.limit = limit } }

// Start starts an ibsim on a file and waits until ibsim has read the file. The file may have up to 60,000 nodes and
// 49,151 LIDs. If ibsim is not installed, the test is skipped, or fails if CI=true. The test fails if ibsim rejects the
// file.
func Start(t testing.TB, netFile string, opts ...Option) *Sim {
	t.Helper()
	program := testenv.Tool(t, "ibsim")
	s := &Sim{
		Name:   fmt.Sprintf("ibconsole-%d-%08x", os.Getpid(), rand.Uint32()),
		t:      t,
		limit:  commandLimit,
		output: output{grew: make(chan struct{}, 1)},
		errors: output{grew: make(chan struct{}, 1)},
		exited: make(chan struct{}),
	}
	for _, opt := range opts {
		opt(s)
	}
	args := []string{"-s", "-N", "60000", "-S", "6000", "-P", "600000", "-L", "49151"}
	if s.Port != 0 {
		args = append(args, "-r", "-l", strconv.Itoa(int(s.Port)))
	}
	s.cmd = exec.Command(program, append(args, netFile)...)
	s.cmd.Env = append(os.Environ(), "IBSIM_SOCKNAME="+s.Name)
	s.cmd.Stdout, s.cmd.Stderr = &s.output, &s.errors
	var err error
	if s.stdin, err = s.cmd.StdinPipe(); err != nil {
		t.Fatalf("start ibsim: %v", err)
	}
	if err := s.start(); err != nil {
		t.Fatalf("start ibsim: %v", err)
	}
	t.Cleanup(s.Stop)
	if _, err := s.untilPrompt(0, startLimit); err != nil {
		t.Fatalf("ibsim %s: %v; output:\n%s%s", netFile, err, s.output.from(0), s.errors.from(0))
	}
	s.Console("help") // the first prompt comes before the sockets
	return s
}

// Client returns a client at the port of a node, or at the first port if the argument node is "". The client is closed
// at the end of the test.
func Client(t testing.TB, s *Sim, node string) *mad.Client {
	t.Helper()
	transport, err := ibsim.Dial(t.Context(), ibsim.Options{Name: s.Name, Node: node})
	if err != nil {
		t.Fatal(err)
	}
	client, err := mad.NewClient(transport, mad.ClientOptions{Window: 32})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// start starts the process. The process ends when this process ends for any reason. Otherwise ibsim would find the end
// of its standard input and then use a whole processor.
func (s *Sim) start() error {
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	started := make(chan error)
	go func() {
		defer close(s.exited)
		runtime.LockOSThread() // Pdeathsig is sent when the thread ends
		defer runtime.UnlockOSThread()
		err := s.cmd.Start()
		started <- err
		if err == nil {
			_ = s.cmd.Wait()
		}
	}()
	return <-started
}

// Pause stops ibsim, as if it hung. Resume continues it.
func (s *Sim) Pause() { s.signal(syscall.SIGSTOP) }

// Resume continues the ibsim after Pause.
func (s *Sim) Resume() { s.signal(syscall.SIGCONT) }

func (s *Sim) signal(sig os.Signal) {
	s.t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.t.Fatalf("ibsim: %v: %v", sig, err)
	}
}

// Stop ends ibsim. The end of the test does the same.
func (s *Sim) Stop() {
	s.stop.Do(func() {
		_ = s.cmd.Process.Kill()
		<-s.exited
		_ = s.stdin.Close()
	})
}

// Console runs an ibsim command, such as `Unlink "S1"[3]`, and returns its output. The test fails if ibsim does not
// print a new prompt.
func (s *Sim) Console(command string) string {
	s.t.Helper()
	s.using.Lock()
	defer s.using.Unlock()
	start := s.output.len()
	if _, err := io.WriteString(s.stdin, command+"\n"); err != nil {
		s.t.Fatalf("ibsim console: %q: %v", command, err)
	}
	text, err := s.untilPrompt(start, consoleLimit)
	if err != nil {
		s.t.Fatalf("ibsim console: %q: %v; output:\n%s", command, err, text)
	}
	return strings.TrimSuffix(text, prompt)
}

// ConsolePipe returns the name of a file to which programs run by root can write console commands.
func (s *Sim) ConsolePipe() string { return fmt.Sprintf("/proc/%d/fd/0", s.cmd.Process.Pid) }

// untilPrompt waits until the output from position start on ends with the prompt. It returns this output.
func (s *Sim) untilPrompt(start int, limit time.Duration) (string, error) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for {
		text := s.output.from(start)
		if strings.HasSuffix(text, prompt) {
			return text, nil
		}
		select {
		case <-s.output.grew:
		case <-s.exited:
			return s.output.from(start), fmt.Errorf("ended: %v", s.cmd.ProcessState)
		case <-timer.C:
			return text, fmt.Errorf("no prompt within %v", limit)
		}
	}
}

// Command returns a Debian program that is to run on the simulated subnet. The program has its own directory and the
// time limit of [CommandLimit]. OpenSM reads and writes files of this machine only if its options name them, see
// [Config].
func (s *Sim) Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	s.t.Helper()
	program := testenv.Tool(s.t, name)
	ctx, cancel := context.WithTimeout(ctx, s.limit)
	s.t.Cleanup(cancel)
	dir := s.t.TempDir() // umad2sim makes its sysfs in the working directory
	if name == "opensm" {
		args = withConfig(s.t, dir, args)
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.WaitDelay = 5 * time.Second
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "IBSIM_SOCKNAME="+s.Name, "LD_PRELOAD="+umad2sim(s.t), "OSM_TMP_DIR="+dir,
		"OSM_CACHE_DIR="+dir)
	if s.Port != 0 {
		cmd.Env = append(cmd.Env, "IBSIM_SERVER_NAME=127.0.0.1", fmt.Sprintf("IBSIM_SERVER_PORT=%d", s.Port))
	}
	return cmd
}

// Output runs a program as [Sim.Command] does and returns its output. The test fails if the program fails.
func (s *Sim) Output(name string, args ...string) string {
	s.t.Helper()
	var stderr bytes.Buffer
	cmd := s.Command(context.Background(), name, args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		s.t.Fatalf("%s: %v\n%s%s", strings.Join(cmd.Args, " "), err, out, &stderr)
	}
	return string(out)
}

func umad2sim(t testing.TB) string {
	t.Helper()
	found, err := filepath.Glob("/usr/lib/*/umad2sim/libumad2sim.so")
	if err == nil && len(found) > 0 {
		return found[0]
	}
	if os.Getenv("CI") == "true" {
		t.Fatal("umad2sim is not installed (CI=true, so this is a failure)")
	}
	t.Skip("umad2sim is not installed (Debian: libumad2sim0)")
	return ""
}

// output collects the output of a program.
type output struct {
	mu   sync.Mutex
	text []byte
	grew chan struct{} // receives an element when the output has grown
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	o.text = append(o.text, b...)
	o.mu.Unlock()
	select {
	case o.grew <- struct{}{}:
	default:
	}
	return len(b), nil
}

func (o *output) len() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.text)
}

func (o *output) from(start int) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return string(o.text[start:])
}
