// SPDX-License-Identifier: Apache-2.0

package repl

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"
)

func TestTypedLines(t *testing.T) {
	p := start(t)
	p.waitFor("run1> ")
	p.send("hello there\r")
	p.waitFor("ran [hello there]", "run1> ")
	p.send("hexx\x7f\x7fllo\x01\x1b[Cx\x05!\r") // Backspace, Home, Right, End
	p.waitFor("ran [hxello!]", "run1> ")
	p.send("dropped\x15kept \xc3")
	p.send("\xa9\r") // a letter in two pieces
	p.waitFor("ran [kept é]", "run1> ")
	p.send("\r  \rfail\r")
	p.waitFor("it failed", "run1> ")
	p.send("mode\r")
	p.waitFor("canonical: true", "run1> ")
	p.send("nested\r")
	p.waitFor("already open", "run1> ")
	p.send("x\x01\x04\x04y\r") // Ctrl-D deletes; only on an empty line it leaves
	p.waitFor("Run 1 returned: <nil>")
	if status := p.waitForExit(); status.ExitStatus() != 0 {
		t.Errorf("ended with %v", status)
	}
}

func TestWaysOut(t *testing.T) {
	for _, line := range []string{"exit\r", " quit \r", "leave\r", "\x04"} {
		t.Run(fmt.Sprintf("%q", line), func(t *testing.T) {
			p := start(t)
			p.waitFor("run1> ")
			p.send(line)
			p.waitFor("Run 1 returned: <nil>")
			p.waitForExit()
		})
	}
}

func TestCompletion(t *testing.T) {
	p := start(t)
	p.waitFor("run1> ")
	p.send("tra")
	p.waitFor("trace", "the way of a packet", "trail", "another word")
	p.send("\t node\t\t\r")
	p.waitFor("ran [trace 'node-02 HCA-1']", "run1> ")
	p.send("trace \"node-01 H\t form\tib\t\r")
	p.waitFor("LID 7?[31m", `ran [trace "node-01 HCA-1" format=ibtracert]`, "run1> ")
	p.send("\t\t\r") // of an empty line
	p.waitFor("ran [trace]", "run1> ")
	p.send("exit\r")
	p.waitForExit()
	if p.got("\x1b[31m") || p.got("evil") {
		t.Error("a name has reached the terminal as it is")
	}
}

func TestPaste(t *testing.T) {
	p := start(t)
	p.waitFor("run1> ")
	p.send("a 1\rb 2\nc 3\r\nd 4")
	p.waitFor("ran [a 1]", "ran [b 2]", "ran [c 3]", "d 4")
	p.send("\r")
	p.waitFor("ran [d 4]", "run1> ")
	p.send(pasteBegins + "e\t5\nf\x03 \x1b[A6\x1b]0;evil\a\r\ng 7" + pasteEnds)
	p.waitFor("ran [e 5]", "ran [f [A6]0;evil]", "g 7")
	p.send("\r")
	p.waitFor("ran [g 7]", "run1> ")
	p.send(pasteBegins + "cut") // the end of it never comes
	p.waitFor("cut")
	p.send("off\r")
	p.waitFor("ran [cutoff]", "run1> ")
	p.send(pasteEnds + "exit\r")
	p.waitForExit()
}

func TestPasteOfManyLines(t *testing.T) {
	const lines = 100
	var text strings.Builder
	for i := range lines {
		fmt.Fprintf(&text, "line %d\r", i)
	}
	for name, paste := range map[string]string{
		"marked": pasteBegins + text.String() + pasteEnds,
		"bare":   text.String(),
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t)
			p.waitFor("run1> ")
			p.send(paste)
			for i := range lines {
				p.waitFor(fmt.Sprintf("ran [line %d]", i))
			}
			p.send("exit\r")
			p.waitForExit()
		})
	}
}

func TestPasteOfALongLine(t *testing.T) {
	long := "length " + strings.Repeat("x", 10_000)
	for name, paste := range map[string]string{
		"marked":        pasteBegins + long + pasteEnds + "\r",
		"bare":          long + "\r",
		"with the line": pasteBegins + long + "\n" + pasteEnds,
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t)
			p.waitFor("run1> ")
			p.send(paste)
			p.waitFor("length=10000", "run1> ")
			p.send("exit\r")
			p.waitForExit()
			if p.got(tooSmall) {
				t.Error("the window is called too small")
			}
		})
	}
}

func TestHistory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "history")
	p := start(t, withEnv(envHistory+"="+path))
	p.waitFor("run1> ")
	p.send("first\r")
	p.waitFor("ran [first]", "run1> ")
	p.send(" secret\r")
	p.waitFor("ran [ secret]", "run1> ")
	p.send("second\r")
	p.waitFor("ran [second]", "run1> ")
	p.send("\x1b[A\x1b[A\r")
	p.waitFor("ran [first]", "run1> ")
	p.send("exit\r")
	p.waitForExit()

	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v, %v", info, err)
	}
	p = start(t, withEnv(envHistory+"="+path))
	p.waitFor("run1> ")
	p.send("\x1b[A\x1b[A\x1b[A\x1b[B\x1b[A again\r")
	p.waitFor("ran [second again]", "run1> ")
	p.send("exit\r")
	p.waitForExit()
	text, err := os.ReadFile(path)
	if want := "first\nsecond\nfirst\nexit\nsecond again\nexit\n"; err != nil || string(text) != want {
		t.Errorf("the file holds %q, %v; want %q", text, err, want)
	}
}

func TestHistoryThatCannotBeKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, withEnv(envHistory+"="+path))
	p.waitFor("keep the history: ", "is not a regular file", "run1> ")
	p.send("x\r")
	p.waitFor("ran [x]", "run1> ")
	p.send("exit\r")
	p.waitForExit()
}

func TestInterrupt(t *testing.T) {
	p := start(t)
	p.waitFor("run1> ")
	p.send("not this\x03this\r")
	p.waitFor("ran [this]", "run1> ")
	p.send("not this")
	p.waitFor("not this")
	p.signal(syscall.SIGINT)
	p.waitFor("\n", "run1> ")
	p.send("that\r")
	p.waitFor("ran [that]", "run1> ")
	p.send(pasteBegins + "wait\nnever\n" + pasteEnds)
	p.waitFor("waiting")
	p.send("\x03")
	p.waitFor("cause: interrupted", "interrupted", "run1> ")
	p.send("wait\r")
	p.waitFor("waiting")
	p.signal(syscall.SIGINT)
	p.waitFor("cause: interrupted", "interrupted", "run1> ")
	p.send("exit\r")
	p.waitForExit()
	if p.got("ran [never]") {
		t.Error("the rest of the paste has run after Ctrl-C")
	}
}

func TestSignals(t *testing.T) {
	situations := []struct{ name, keys, wait string }{
		{"at the prompt", "", ""},
		{"in a line", "half a li", "half a li"},
		{"while choosing", "tra\t", "trail"},
		{"in a command", "wait\r", "waiting"},
	}
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		for _, tt := range situations {
			t.Run(s.String()+" "+tt.name, func(t *testing.T) {
				p := start(t, withEnv(envRuns+"=1"))
				p.waitFor("run1> ")
				p.send(tt.keys)
				p.waitFor(tt.wait)
				p.signal(s)
				p.waitFor("Run 1 returned: ended by the signal " + s.String())
				if status := p.waitForExit(); status.ExitStatus() != 0 {
					t.Errorf("ended with %v", status)
				}
			})
		}
	}
}

func TestSecondSignal(t *testing.T) {
	p := start(t)
	p.waitFor("run1> ")
	p.send("stuck\r")
	p.waitFor("stuck now")
	p.signal(syscall.SIGTERM)
	p.signal(syscall.SIGHUP) // another: equal ones may be joined
	status := p.waitForExit()
	if !status.Signaled() || status.Signal() != syscall.SIGTERM && status.Signal() != syscall.SIGHUP {
		t.Errorf("ended with %v", status)
	}
}

func TestCommandThatDoesNotReturn(t *testing.T) {
	t.Parallel()
	p := start(t)
	p.waitFor("run1> ")
	p.send("stuck\r")
	p.waitFor("stuck now")
	p.signal(syscall.SIGHUP)
	if status := p.waitForExit(); !status.Signaled() || status.Signal() != syscall.SIGHUP {
		t.Errorf("ended with %v", status)
	}
}

func TestPanics(t *testing.T) {
	for name, keys := range map[string]string{"in a command": "panic\r", "in completion": "boom x"} {
		t.Run(name, func(t *testing.T) {
			p := start(t)
			p.waitFor("run1> ")
			p.send(keys)
			p.waitFor("panic: ")
			if status := p.waitForExit(); status.ExitStatus() != 2 {
				t.Errorf("ended with %v", status)
			}
		})
	}
}

func TestCancelledRun(t *testing.T) {
	p := start(t)
	p.waitFor("run1> ")
	p.send("cancel\r")
	p.waitFor("Run 1 returned: context canceled")
	p.waitForExit()
}

// Run again and again opens nothing more, and starts with an empty line.
func TestRunsAgain(t *testing.T) {
	p := start(t, withEnv(envRuns+"=3"))
	var files []string
	for i := range 3 {
		p.waitFor(fmt.Sprintf("run%d> ", i+1))
		p.send("files\r")
		p.waitFor("files=")
		p.waitFor(".", "run")
		files = append(files, lastCount(p))
		p.send("\x04")
		p.waitFor("returned: <nil>")
	}
	p.waitForExit()
	if files[0] != files[1] || files[1] != files[2] {
		t.Errorf("open files: %s", files)
	}
}

// lastCount returns what the command files has printed last.
func lastCount(p *terminal) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	text := string(p.output)
	text = text[strings.LastIndex(text, "files=")+len("files="):]
	return text[:strings.IndexByte(text, '.')]
}

func TestLineDroppedBySignalIsGone(t *testing.T) {
	p := start(t, withEnv(envRuns+"=2"))
	p.waitFor("run1> ")
	p.send("left over")
	p.waitFor("left over")
	p.signal(syscall.SIGTERM)
	p.waitFor("Run 1 returned: ended", "run2> ")
	p.send("new\r")
	p.waitFor("ran [new]")
	p.send("exit\r")
	p.waitForExit()
}

func TestResize(t *testing.T) {
	p := start(t)
	p.waitFor("run1> ")
	p.send("before")
	p.waitFor("before")
	if err := pty.Setsize(p.master, &pty.Winsize{Rows: 12, Cols: 30}); err != nil {
		t.Fatal(err)
	}
	p.signal(syscall.SIGWINCH) // the kernel tells the terminal's own processes
	p.waitFor("\r\x1b[J", "before")
	p.send(" after\r")
	p.waitFor("ran [before after]", "run1> ")
	p.signal(syscall.SIGCONT)
	p.send("x\r")
	p.waitFor("ran [x]", "run1> ")
	p.send("exit\r")
	p.waitForExit()
}

func TestOddWindows(t *testing.T) {
	for _, size := range [][2]uint16{{0, 0}, {1, 1}, {2, 3}, {24, 5}, {3, 200}, {24, 14}} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			p := start(t, withSize(size[0], size[1]))
			p.waitFor("\x1b[?2004h")
			p.send("trace \t\t\t\x7fx\x1b[A\x03some words\r")
			p.waitFor("ran [some words]")
			p.send("length " + strings.Repeat("y", 500) + "\r")
			p.waitFor("length=500")
			p.send("exit\r")
			p.waitFor("Run 1 returned: <nil>")
			p.waitForExit()
		})
	}
}

func TestDumbTerminal(t *testing.T) {
	p := start(t, withEnv("TERM=dumb"))
	p.waitFor("run1> ")
	p.send("hello\r")
	p.waitFor("ran [hello]", "run1> ")
	p.send("fail\n")
	p.waitFor("it failed", "run1> ")
	p.send("not this\x03")
	p.waitFor("run1> ")
	p.send("wait\n")
	p.waitFor("waiting")
	p.send("\x03")
	p.waitFor("cause: interrupted", "run1> ")
	p.send("\x04")
	p.waitFor("Run 1 returned: <nil>")
	p.waitForExit()
	if p.got("\x1b") {
		t.Error("an escape sequence was sent")
	}
}

func TestTerminalThatIsNotOurs(t *testing.T) {
	p := start(t, func(c *exec.Cmd, _ *pty.Winsize) {
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // so /dev/tty cannot be opened
	})
	p.waitFor("run1> ")
	p.send("hello\r")
	p.waitFor("ran [hello]", "run1> ")
	p.send("exit\r")
	p.waitForExit()
}

func TestHangUp(t *testing.T) {
	p := start(t)
	p.waitFor("run1> ")
	p.hangUp()
	<-p.exited
}

func TestWithoutTerminal(t *testing.T) {
	failure := errors.New("failure")
	tests := []struct {
		name, input string
		ran         []string
		err         error
	}{
		{"nothing", "", nil, nil},
		{"lines", "a b\n\n c \r\nlast", []string{"a b", " c ", "last"}, nil},
		{"exit", "a\nexit\nb\n", []string{"a"}, nil},
		{"failure", "a\nfail\nb\n", []string{"a", "fail"}, failure},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in, out, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			if _, err := out.WriteString(tt.input); err != nil {
				t.Fatal(err)
			}
			if err := out.Close(); err != nil {
				t.Fatal(err)
			}
			var ran []string
			err = Run(t.Context(), Options{In: in, Execute: func(_ context.Context, line string) error {
				ran = append(ran, line)
				if line == "fail" {
					return failure
				}
				return nil
			}})
			if !errors.Is(err, tt.err) || !slices.Equal(ran, tt.ran) {
				t.Errorf("ran %q, %v", ran, err)
			}
		})
	}
}

func TestWithoutTerminalCancelled(t *testing.T) {
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	defer out.Close()
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := out.WriteString("a\n"); err != nil {
		t.Fatal(err)
	}
	err = Run(ctx, Options{In: in, Execute: func(context.Context, string) error { cancel(); return nil }})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestWithoutTerminalTooLong(t *testing.T) {
	path := filepath.Join(t.TempDir(), "long")
	if err := os.WriteFile(path, make([]byte, 2*maxLine), 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if err := Run(t.Context(), Options{In: in}); err == nil {
		t.Error("no error")
	}
}
