// SPDX-License-Identifier: Apache-2.0

package shell_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"example.org/ibconsole/shell"
	"example.org/ibconsole/shell/session"
)

// on runs commands on a source and returns what they say, answers and notes, and the
// error of the last one.
func on(t *testing.T, source string, commands ...string) (string, error) {
	t.Helper()
	src, err := session.ParseSource(source)
	if err != nil {
		t.Fatal(err)
	}
	s, err := session.Open(t.Context(), src, session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	for _, c := range commands {
		err = shell.New(s).Run(t.Context(), "test", c, &shell.Output{W: &out, Notes: &out})
	}
	return out.String(), err
}

// stops is a context that ends when the session is busy with something.
type stops struct {
	context.Context
	at   string
	s    *session.Session
	once sync.Once
	done chan struct{}
}

func (c *stops) Done() <-chan struct{} { return c.done }

func (c *stops) Err() error {
	if strings.Contains(c.s.State().Busy, c.at) {
		c.once.Do(func() { close(c.done) })
	}
	select {
	case <-c.done:
		return context.Canceled
	default:
		return nil
	}
}

// TestComparedUntilStopped: a comparison that is stopped says how far it came, and what
// it has measured.
func TestComparedUntilStopped(t *testing.T) {
	s, err := session.Open(t.Context(), session.Source{Kind: session.SourceSim, Arg: "fattree:2,4"}, session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	ctx := &stops{Context: t.Context(), at: "updn, 2 of 3", s: s, done: make(chan struct{})}
	err = shell.New(s).Run(ctx, "test", "compare engines minhop updn dfsssp", &shell.Output{W: &out})
	if err == nil || !strings.Contains(err.Error(), "engine 2 of 3, updn: ") || !strings.Contains(err.Error(), "interrupted") {
		t.Errorf("it says %v", err)
	}
	if got := out.String(); !strings.Contains(got, "\nminhop ") || strings.Contains(got, "updn") {
		t.Errorf("measured:\n%s", got)
	}
}

// TestFileByIbsimsRules: what ibsim's rules make of a file is said where links are
// listed and written, too.
func TestFileByIbsimsRules(t *testing.T) {
	const net = "Switch 2 \"S-1\"\n[1] \"H-1\"[1] # \"h1\" lid 1 4xNDR\n[2] \"H-2\"[1]\n\nHca 1 \"H-1\"\n[1] \"S-1\"[1]\n\nHca 1 \"H-2\"\n[1] \"S-1\"[2]\n"
	file := filepath.Join(t.TempDir(), "net")
	if err := os.WriteFile(file, []byte(net), 0o600); err != nil {
		t.Fatal(err)
	}
	const says = "a speed that ibsim does not know"
	for _, command := range []string{"show links", "dump topology -", "handover " + filepath.Join(t.TempDir(), "x")} {
		out, err := on(t, "file:"+file, "route", command)
		if err != nil || !strings.Contains(out, "warning: ") || !strings.Contains(out, says) {
			t.Errorf("%s: %v\n%s", command, err, out)
		}
	}
}

// TestForgottenFailures: a topology that takes the place of the paper says what of it is
// forgotten.
func TestForgottenFailures(t *testing.T) {
	file := filepath.Join(t.TempDir(), "net")
	out, err := on(t, "sim:fattree:2,4", "gen fattree 2 4 "+file, "fail switch spine-01", "route", "load topology "+file)
	if err != nil || !strings.Contains(out, "what was on paper before is forgotten: 1 failure\n  the staged tables are stale: ") {
		t.Error(err, out)
	}
}
