// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	_ "example.org/ibconsole/internal/base/noprobe" // or every child stalls for want of an answer
	"example.org/ibconsole/internal/base/signals"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/internal/test/tmuxtest"
	"example.org/ibconsole/shell"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/source"
)

// envChild makes the test binary a program with a screen; its value selects which.
const envChild = "TUI_TEST_CHILD"

func TestMain(m *testing.M) {
	if kind := os.Getenv(envChild); kind != "" {
		child(kind)
		return
	}
	testenv.AcceptHangups()
	os.Exit(m.Run())
}

func child(kind string) {
	ctx := context.Background()
	src := source.Source{Kind: source.Sim, Arg: "fattree:2,12"}
	if kind == "unopened" {
		src.Arg = "fattree:0"
	}
	sessionOpt := session.Options{Later: kind == "unopened"}
	if kind == "recorded" || kind == "congested" {
		sessionOpt.StateDir = "state"
	}
	if kind == "congested" {
		src.Arg += slowReceiver
	}
	s, err := session.Open(ctx, src, sessionOpt)
	if err == nil && kind == "recorded" {
		err = writePast(ctx, sessionOpt.StateDir, s.Subnet())
	}
	if err == nil && kind == "congested" {
		err = writeCongestion(ctx, sessionOpt.StateDir, s)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	opt := Options{Subnets: shell.NewSubnets([]string{""}, []*session.Session{s}), Start: true, RunShell: childShell,
		Save: childSave}
	if file := os.Getenv(envPane); file != "" {
		opt.Config.Pane, opt.LastPane, opt.SeenKeys = lastPane, file, file
	}
	switch back := (&shellBackend{Shell: opt.Subnets.All()[0].Shell, watcher: s.Watch()}); kind {
	case "boom":
		err = run(ctx, opt, boom{back})
	case "stuck":
		ctx, stop := signals.Context()
		defer stop()
		err = run(ctx, opt, stuck{back})
	default:
		back.watcher.Stop()
		err = Run(ctx, opt)
	}
	if sig, ok := errors.AsType[*signals.Error](err); ok {
		fmt.Printf("SIGNAL %d\n", sig.Signal)
		return
	}
	fmt.Printf("ENDED %v\n", err)
}

const envPane = "IBCONSOLE_TEST_PANE" // the file of the last pane

func childSave(name string) (io.WriteCloser, error) {
	return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
}

// childShell replaces the line editor: it prints a line and reads a line in the mode of the terminal.
func childShell(ctx context.Context) error {
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer func() {
		signal.Stop(interrupts)
		close(interrupts)
	}()
	go func() {
		if _, ok := <-interrupts; ok {
			fmt.Println("INTERRUPTED")
		}
	}()
	fmt.Println("IN THE SHELL")
	read := make(chan error, 1)
	go func() {
		var b [16]byte
		_, err := os.Stdin.Read(b[:])
		read <- err
	}()
	select {
	case err := <-read:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// boom panics in commands, and in Update when a word is completed.
type boom struct{ *shellBackend }

func (boom) Run(context.Context, string, *shell.Output) error { panic("command") }
func (boom) Complete(line string, _ int) (int, []lang.Candidate) {
	if line == "z" {
		panic("completion")
	}
	return 0, nil
}

// stuck never returns from Update when a word is completed, and creates a file before.
type stuck struct{ *shellBackend }

const envStuck = "IBCONSOLE_TEST_STUCK" // the file

func (stuck) Complete(string, int) (int, []lang.Candidate) {
	_ = os.WriteFile(os.Getenv(envStuck), nil, 0o600)
	select {}
}

// terminal is a pseudo-terminal that answers no queries, with a child on it.
type terminal struct {
	t         *testing.T
	cmd       *exec.Cmd
	pty, tty  *os.File
	before    unix.Termios
	reading   sync.Mutex // held while reading is paused
	mu        sync.Mutex
	out       []byte
	more      chan struct{}
	exited    chan struct{}
	waitState error
}

func startChild(t *testing.T, kind string, env ...string) *terminal {
	t.Helper()
	p, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	c := &terminal{t: t, pty: nonblocking(t, p), tty: tty, more: make(chan struct{}, 1), exited: make(chan struct{})}
	c.resize(80, 24)
	c.before = c.mode()
	c.cmd = exec.Command(os.Args[0])
	c.cmd.Env = append(withoutCI(os.Environ()), "TERM=xterm-256color", "LANG=C.UTF-8", "LC_ALL=C.UTF-8",
		envChild+"="+kind)
	c.cmd.Env = append(c.cmd.Env, env...)
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = tty, tty, tty
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go c.read()
	go func() {
		c.waitState = c.cmd.Wait()
		close(c.exited)
	}()
	t.Cleanup(func() {
		_ = c.cmd.Process.Kill()
		<-c.exited
		_ = c.pty.Close()
		_ = tty.Close()
	})
	return c
}

// nonblocking returns a file that can be closed while it is being read.
func nonblocking(t *testing.T, f *os.File) *os.File {
	t.Helper()
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err == nil {
		err = unix.SetNonblock(fd, true)
	}
	if err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	return os.NewFile(uintptr(fd), "pty")
}

// withoutCI removes variables that keep the terminal libraries from querying the terminal.
func withoutCI(env []string) []string {
	var out []string
	for _, v := range env {
		if !strings.HasPrefix(v, "CI=") && !strings.HasPrefix(v, "NO_COLOR=") {
			out = append(out, v)
		}
	}
	return out
}

func (c *terminal) read() {
	b := make([]byte, 4096)
	for {
		c.reading.Lock()
		c.reading.Unlock() //nolint:staticcheck // only to wait
		n, err := c.pty.Read(b)
		c.mu.Lock()
		c.out = append(c.out, b[:n]...)
		c.mu.Unlock()
		select {
		case c.more <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

// pause stops or continues reading the output of the child.
func (c *terminal) pause(yes bool) {
	if yes {
		c.reading.Lock()
		return
	}
	c.reading.Unlock()
}

func (c *terminal) mode() unix.Termios {
	c.t.Helper()
	m, err := unix.IoctlGetTermios(int(c.tty.Fd()), unix.TCGETS)
	if err != nil {
		c.t.Fatal(err)
	}
	return *m
}

func (c *terminal) resize(w, h int) {
	size := unix.Winsize{Row: uint16(h), Col: uint16(w)}
	if err := unix.IoctlSetWinsize(int(c.tty.Fd()), unix.TIOCSWINSZ, &size); err != nil {
		c.t.Fatal(err)
	}
}

// output returns the output since a mark, with and without escape sequences.
func (c *terminal) output(from int) (raw []byte, text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	raw = bytes.Clone(c.out[min(from, len(c.out)):])
	return raw, ansi.Strip(string(raw))
}

func (c *terminal) mark() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.out)
}

// await waits for a text after a mark.
func (c *terminal) await(from int, text string) {
	c.t.Helper()
	limit := time.After(2 * time.Minute)
	for {
		_, got := c.output(from)
		if strings.Contains(got, text) {
			return
		}
		select {
		case <-c.more:
		case <-limit:
			c.t.Fatalf("%q never came; the output is:\n%s", text, got)
		}
	}
}

// types types keys and waits for a text after them.
func (c *terminal) types(keys, text string) {
	c.t.Helper()
	from := c.mark()
	if _, err := c.pty.WriteString(keys); err != nil {
		c.t.Fatal(err)
	}
	c.await(from, text)
}

// end waits for the child and checks that the terminal is as before.
func (c *terminal) end(last string) {
	c.t.Helper()
	select {
	case <-c.exited:
	case <-time.After(2 * time.Minute):
		c.t.Fatal("the child does not end")
	}
	c.await(0, last)
	if after := c.mode(); after != c.before {
		c.t.Errorf("termios %+v, was %+v", after, c.before)
	}
	limit := time.After(tmuxtest.Patience)
	for owed := c.owed(); owed != ""; owed = c.owed() {
		select {
		case <-c.more: // its last output may not have arrived
		case <-limit:
			c.t.Fatalf("%q is not reset", owed)
		}
	}
}

// owed returns a mode that was set and not reset, "" for none.
func (c *terminal) owed() string {
	raw, _ := c.output(0)
	for _, mode := range []string{"?1049", "?25", "?2004"} {
		on, off := "\x1b["+mode+"h", "\x1b["+mode+"l"
		if mode == "?25" { // the cursor is hidden
			on, off = off, on
		}
		if bytes.LastIndex(raw, []byte(off)) < bytes.LastIndex(raw, []byte(on)) {
			return on
		}
	}
	return ""
}

func TestTerminalStory(t *testing.T) {
	c := startChild(t, "sim")
	c.await(0, "18 switches, 72 hosts")
	c.types("/0050", "p2   node-0050 HCA-1")
	c.types("\rt", "mark the destination with T")
	c.types("/0001", "node-0001 HCA-1")
	c.types("\rT", "delivered over 3 switches")
	c.resize(120, 36)
	c.await(0, "8 Log")
	c.types(":shell\r", "IN THE SHELL")
	if got := c.mode(); got != c.before {
		t.Errorf("the shell finds another mode: %+v", got)
	}
	c.types("x\r", "back from the shell")
	c.types("r", "STAGED minhop")
	raw, _ := c.output(0)
	if q := queries.Find(raw); q != nil {
		t.Errorf("the terminal is asked %q", q)
	}
	c.types("q", "ENDED <nil>")
	c.end("ENDED <nil>")
}

// queries matches control sequences that a terminal answers (ECMA-48 8.3.24 and 8.3.35, xterm's control sequences):
// device attributes, status reports, mode and colour requests, the size in cells.
var queries = regexp.MustCompile(
	`\x1b\[[>=?]?[0-9;]*[cn]|\x1b\[\??[0-9;]*\$p|\x1b\][0-9;]*\?|\x1b\[[0-9;]*t|\x1bP|\x1bZ|\x05`)

func TestTerminalAfterSignals(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		t.Run(s.String(), func(t *testing.T) {
			c := startChild(t, "sim")
			c.await(0, "18 switches, 72 hosts")
			if c.mode() == c.before {
				t.Fatal("the terminal is not raw, so nothing is tested")
			}
			if err := c.cmd.Process.Signal(s); err != nil {
				t.Fatal(err)
			}
			c.end(fmt.Sprintf("SIGNAL %d", s))
		})
		t.Run(s.String()+" in the shell", func(t *testing.T) {
			c := startChild(t, "sim")
			c.await(0, "18 switches, 72 hosts")
			c.types(":shell\r", "IN THE SHELL")
			if err := c.cmd.Process.Signal(s); err != nil {
				t.Fatal(err)
			}
			if s == syscall.SIGINT { // the shell's own
				c.await(0, "INTERRUPTED")
				c.types("x\r", "back from the shell")
				c.types("q", "ENDED <nil>")
				c.end("ENDED <nil>")
				return
			}
			c.end(fmt.Sprintf("SIGNAL %d", s))
		})
	}
}

func TestTerminalAfterPanics(t *testing.T) {
	c := startChild(t, "boom")
	c.await(0, "18 switches, 72 hosts")
	c.types(":summary\r", "internal error: command")
	c.types("q", "internal error: command")
	c.end("pty_test.go")

	c = startChild(t, "boom")
	c.await(0, "18 switches, 72 hosts")
	c.types(":z", "completion")
	c.end("ENDED")
}

func TestTerminalAfterInterrupt(t *testing.T) {
	c := startChild(t, "sim")
	c.await(0, "18 switches, 72 hosts")
	c.types("\x03", "ENDED <nil>")
	c.end("ENDED <nil>")
}

// TestUnusableStateFile checks that the screen reports a pipe in the place of a state file, and does not wait for it.
func TestUnusableStateFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pane")
	if err := unix.Mkfifo(file, 0o600); err != nil {
		t.Fatal(err)
	}
	c := startChild(t, "sim", envPane+"="+file)
	c.await(0, "18 switches, 72 hosts")
	c.types("8", "new keys: /")
	c.types("q", "warning: last pane: "+file+": not a regular file")
	c.end("ENDED <nil>")
}

// TestUnopened checks that the program ends if there is no subnet, with the terminal as before.
func TestUnopened(t *testing.T) {
	c := startChild(t, "unopened")
	c.end("ENDED open sim:fattree:0: ")
}

// TestHangUp checks that the child ends when its terminal is closed.
func TestHangUp(t *testing.T) {
	c := startChild(t, "sim")
	c.await(0, "18 switches, 72 hosts")
	_ = c.tty.Close()
	_ = c.pty.Close()
	select {
	case <-c.exited:
	case <-time.After(2 * time.Minute):
		t.Fatal("the child does not end without a terminal")
	}
}

func TestRefusedTerminals(t *testing.T) {
	for _, term := range []string{"TERM=dumb", "TERM="} {
		c := startChild(t, "sim", term)
		c.end(term + " cannot move its cursor; use the shell")
	}
	in, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if _, err := checkTerminal(&Options{In: in, Out: in}, os.Getenv); !errors.Is(err, ErrTerminal) {
		t.Errorf("a file: %v", err)
	}
}

// TestNoTerminfo shows the screen on a terminal that no data base describes.
func TestNoTerminfo(t *testing.T) {
	c := startChild(t, "sim", "TERM=no-such-terminal", "TERMINFO=/nonexistent", "TERMINFO_DIRS=/nonexistent",
		"HOME=/nonexistent")
	c.await(0, "18 switches, 72 hosts")
	c.types("q", "ENDED")
	c.end("ENDED <nil>")
}

func TestNoColorOnTerminal(t *testing.T) {
	c := startChild(t, "sim", "NO_COLOR=1")
	c.await(0, "[SIMULATED] [LIVE]")
	c.await(0, "18 switches, 72 hosts")
	raw, _ := c.output(0)
	if m := regexp.MustCompile(`\x1b\[[0-9;]*[349][0-9][;m]`).Find(raw); m != nil {
		t.Errorf("colour %q", m)
	}
	c.types("q", "ENDED")
	c.end("ENDED <nil>")
}

// screenOf is this test binary as a program in a terminal that tmux emulates.
type screenOf struct {
	*tmuxtest.Screen
	t *testing.T
}

// onTmux starts this test binary in a terminal of w by h cells.
func onTmux(t *testing.T, w, h int, kind string, env ...string) *screenOf {
	t.Helper()
	vars := append([]string{"-u", "CI", "-u", "NO_COLOR", "-u", "COLORTERM", "LANG=C.UTF-8", "LC_ALL=C.UTF-8",
		envChild + "=" + kind}, env...)
	return &screenOf{Screen: tmuxtest.Start(t, w, h, "exec env "+strings.Join(append(vars, os.Args[0]), " ")), t: t}
}

// TestSecondSignalLeavesTheTerminal ends a stuck program with two signals: the terminal is then not raw and shows its
// cursor and its previous screen, without the mouse.
func TestSecondSignalLeavesTheTerminal(t *testing.T) {
	dir := t.TempDir()
	// of the process; exists once it is stuck
	number, there := filepath.Join(dir, "number"), filepath.Join(dir, "stuck")
	s := tmuxtest.Start(t, 100, 30,
		fmt.Sprintf("env -u CI LANG=C.UTF-8 LC_ALL=C.UTF-8 %s=stuck %s=%s sh -c 'echo $$ >%s; exec %s'; echo ENDED "+
			"$?; stty -a; cat", envChild, envStuck, there, number, os.Args[0]))
	const modes = "display-message -p '#{alternate_on} #{cursor_flag} #{mouse_any_flag}'"
	s.Awaits("leaf-01")
	if got := strings.TrimSpace(s.Tmux(modes)); got != "1 0 1" {
		t.Fatalf("on the screen the terminal has %s", got)
	}
	s.Types(":", "show", "Tab")
	for deadline := time.Now().Add(tmuxtest.Patience); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(there); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the program is not stuck")
		}
	}
	pid, err := os.ReadFile(number)
	if err != nil {
		t.Fatal(err)
	}
	s.Tmux("run-shell 'kill " + strings.TrimSpace(string(pid)) + "; sleep 0.1; kill " + strings.TrimSpace(string(pid)) +
		"'")
	s.Awaits("ENDED 143", " icanon", " echo", "!-icanon", "!-echo ")
	if got := strings.TrimSpace(s.Tmux(modes)); got != "0 1 0" {
		t.Errorf("the terminal has %s, expected no alternate screen, a cursor and no mouse", got)
	}
}
