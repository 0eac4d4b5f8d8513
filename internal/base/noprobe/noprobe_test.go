// SPDX-License-Identifier: Apache-2.0

package noprobe_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
)

// backgroundQuery is OSC 11 with a question mark, xterm's query of the background colour (XTerm Control Sequences,
// Operating System Commands).
const backgroundQuery = "\x1b]11;?"

// patience is how long a program may take to end. It must only distinguish slow programs from blocked ones.
const patience = 2 * time.Minute

var terminals = []string{"xterm-256color", "linux", "vt100"}

// The terminals of these tests never respond, like a serial console.

func TestGuardedProgramSendsNoQuery(t *testing.T) {
	bin := build(t, "./testdata/guarded")
	for _, term := range terminals {
		t.Run(term, func(t *testing.T) { sendsNoQuery(t, term, bin) })
	}
}

// TestConsoleSendsNoQuery tests ibconsole itself: its import path and main's imports decide whether noprobe comes
// first.
func TestConsoleSendsNoQuery(t *testing.T) {
	bin := build(t, "example.org/ibconsole")
	for _, term := range terminals {
		for _, args := range [][]string{{"version"}, {"help"}, {"-s", "sim:fattree:2,4", "doctor"}, {"-c", "summary"}} {
			t.Run(term+" "+args[len(args)-1], func(t *testing.T) { sendsNoQuery(t, term, bin, args...) })
		}
	}
}

// TestBareProgramSendsQuery checks that these tests detect the query, which Bubble Tea sends without noprobe.
func TestBareProgramSendsQuery(t *testing.T) {
	bin := build(t, "./testdata/bare")
	for _, term := range terminals {
		t.Run(term, func(t *testing.T) {
			out, _ := onSilentTerminal(t, term, backgroundQuery, bin)
			if !strings.Contains(out, backgroundQuery) {
				t.Errorf("wrote %q, expected the query %q", out, backgroundQuery)
			}
		})
	}
}

func sendsNoQuery(t *testing.T, term, bin string, args ...string) {
	t.Helper()
	out, err := onSilentTerminal(t, term, "", bin, args...)
	if err != nil {
		t.Errorf("%v: %v, wrote %q", args, err, out)
	}
	// Every terminal query is a control sequence, and these programs draw nothing.
	if strings.ContainsRune(out, '\x1b') {
		t.Errorf("%v: wrote a control sequence to a silent terminal: %q", args, out)
	}
}

// onSilentTerminal runs a program on a pseudo-terminal that never responds and returns its output. It ends the program
// when the output contains until.
func onSilentTerminal(t *testing.T, term, until, bin string, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, bin, args...)
	// termenv sends no query if CI is set, which would hide a fault.
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "CI=") || strings.HasPrefix(v, "TERM=")
	})
	cmd.Env = append(cmd.Env, "TERM="+term)
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tty.Close() }()
	var out bytes.Buffer
	chunk := make([]byte, 4096)
	for {
		n, err := tty.Read(chunk)
		out.Write(chunk[:n])
		if until != "" && strings.Contains(out.String(), until) {
			cancel()
		}
		if err != nil { // EIO: the program closed its side
			break
		}
	}
	return out.String(), cmd.Wait()
}

func build(t *testing.T, pkg string) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "program")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", bin, pkg).CombinedOutput()
	if err != nil {
		t.Fatalf("go build %s: %v\n%s", pkg, err, out)
	}
	return bin
}
