// SPDX-License-Identifier: Apache-2.0

package repl

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// patience bounds what would otherwise wait for ever; no test depends on it.
const patience = 3 * time.Minute

// terminal is a program on a terminal that answers no queries.
type terminal struct {
	t      *testing.T
	master *os.File
	slave  *os.File // kept open, to see its mode after the program has gone
	before unix.Termios
	cmd    *exec.Cmd
	exited chan struct{}
	unread chan struct{}
	hungUp atomic.Bool

	mu     sync.Mutex
	output []byte
	seen   int // of output, by waitFor
	more   chan struct{}
}

type startOption func(*exec.Cmd, *pty.Winsize)

func withEnv(variables ...string) startOption {
	return func(c *exec.Cmd, _ *pty.Winsize) { c.Env = append(c.Env, variables...) }
}

func withSize(rows, columns uint16) startOption {
	return func(_ *exec.Cmd, s *pty.Winsize) { s.Rows, s.Cols = rows, columns }
}

func start(t *testing.T, options ...startOption) *terminal {
	t.Helper()
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), envChild+"=1", "TERM=xterm-256color", "GOTRACEBACK=single",
		"GORACE=atexit_sleep_ms=0")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	size := pty.Winsize{Rows: 24, Cols: 80}
	for _, o := range options {
		o(cmd, &size)
	}
	if err := pty.Setsize(master, &size); err != nil {
		t.Fatal(err)
	}
	p := &terminal{
		t: t, master: master, slave: slave, cmd: cmd, exited: make(chan struct{}), unread: make(chan struct{}),
		more: make(chan struct{}, 1),
	}
	p.before = p.mode()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go p.read()
	go func() {
		_ = cmd.Wait()
		close(p.exited)
	}()
	t.Cleanup(p.end)
	return p
}

func (p *terminal) read() {
	defer close(p.unread)
	buffer := make([]byte, 4096)
	for !p.hungUp.Load() {
		ready, err := awaitInput(int(p.master.Fd()), idleAfter)
		n := 0
		if ready {
			n, err = p.master.Read(buffer)
		}
		p.mu.Lock()
		p.output = append(p.output, buffer[:n]...)
		p.mu.Unlock()
		select {
		case p.more <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

// hangUp takes the terminal away.
func (p *terminal) hangUp() {
	p.hungUp.Store(true)
	<-p.unread
	_ = p.slave.Close()
	_ = p.master.Close()
}

func (p *terminal) end() {
	_ = p.cmd.Process.Kill()
	<-p.exited
	p.hangUp()
	if p.t.Failed() {
		p.t.Logf("the terminal has got:\n%q", p.output)
	}
}

func (p *terminal) mode() unix.Termios {
	p.t.Helper()
	mode, err := unix.IoctlGetTermios(int(p.slave.Fd()), unix.TCGETS)
	if err != nil {
		p.t.Fatal(err)
	}
	return *mode
}

func (p *terminal) send(keys string) {
	p.t.Helper()
	if _, err := p.master.WriteString(keys); err != nil {
		p.t.Fatal(err)
	}
}

func (p *terminal) signal(s syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// waitFor waits for texts after what has been waited for, one after the other.
func (p *terminal) waitFor(texts ...string) {
	p.t.Helper()
	deadline := time.After(patience)
	for _, text := range texts {
		for !p.find(text) {
			select {
			case <-p.more:
			case <-deadline:
				p.t.Fatalf("%q has not come", text)
			}
		}
	}
}

func (p *terminal) find(text string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := bytes.Index(p.output[p.seen:], []byte(text))
	if i < 0 {
		return false
	}
	p.seen += i + len(text)
	return true
}

func (p *terminal) got(text string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Contains(string(p.output), text)
}

// waitForExit waits for the end of the program and compares the terminal's mode.
func (p *terminal) waitForExit() syscall.WaitStatus {
	p.t.Helper()
	select {
	case <-p.exited:
	case <-time.After(patience):
		p.t.Fatal("the program has not ended")
	}
	if mode := p.mode(); mode != p.before {
		p.t.Errorf("the mode of the terminal is %+v, and was %+v", mode, p.before)
	}
	if _, err := p.slave.WriteString("<the end>"); err != nil {
		p.t.Fatal(err)
	}
	p.waitFor("<the end>") // all before it has been read, too
	p.mu.Lock()
	defer p.mu.Unlock()
	for name, sign := range map[string]string{"a query": "\x1b[6n", "a query of attributes": "\x1b[c",
		"a query of colours": "\x1b]1", "a race": "DATA RACE"} {
		if bytes.Contains(p.output, []byte(sign)) {
			p.t.Errorf("the program has sent %s", name)
		}
	}
	if on, off := bytes.LastIndex(p.output, []byte("\x1b[?2004h")),
		bytes.LastIndex(p.output, []byte("\x1b[?2004l")); on > off {
		p.t.Error("the terminal still marks pastes")
	}
	if hidden, shown := bytes.LastIndex(p.output, []byte("\x1b[?25l")),
		bytes.LastIndex(p.output, []byte("\x1b[?25h")); hidden > shown {
		p.t.Error("the cursor is still hidden")
	}
	return p.cmd.ProcessState.Sys().(syscall.WaitStatus)
}
