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
	"example.org/ibconsole/shell/session/connection"
	"example.org/ibconsole/shell/session/sessiontest"
)

// on runs commands on a source and returns what they say, answers and notes, and the
// error of the last one.
func on(t *testing.T, from string, commands ...string) (string, error) {
	t.Helper()
	s := sessiontest.Open(t, from)
	var (
		out bytes.Buffer
		err error
	)
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

// TestComparedUntilStopped: a stopped comparison reports its progress and its
// measurements.
func TestComparedUntilStopped(t *testing.T) {
	s := sessiontest.Open(t, "sim:fattree:2,4")
	var out bytes.Buffer
	ctx := &stops{Context: t.Context(), at: "updn, 2 of 3", s: s, done: make(chan struct{})}
	err := shell.New(s).Run(ctx, "test", "compare engines minhop updn dfsssp", &shell.Output{W: &out})
	if err == nil || !strings.Contains(err.Error(), "engine 2 of 3, updn: ") ||
		!strings.Contains(err.Error(), "interrupted") {
		t.Errorf("it says %v", err)
	}
	if got := out.String(); !strings.Contains(got, "\nminhop ") || strings.Contains(got, "updn") {
		t.Errorf("measured:\n%s", got)
	}
}

// TestReadings: file: and load topology take a file as written. ibsim's rules
// change it, and lists of links and written files show that.
func TestReadings(t *testing.T) {
	const net = "Switch 2 \"S-1\"\n[1] \"H-1\"[1] # \"h1\" lid 1 4xNDR\n[2] \"H-2\"[1] # \"h2\" lid 2 4xHDR\n\nHca 1 " +
		"\"H-1\"\n[1](b7) \"S-1\"[1]\n\nHca 1 \"H-2\"\n[1] \"S-1\"[2]\n"
	file := filepath.Join(t.TempDir(), "net")
	if err := os.WriteFile(file, []byte(net), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		from, before string
		asIbsim      bool
	}{
		{"file:" + file, "route", false},
		{"sim:" + file, "route", false},
		{"net:" + file, "route", true},
		{"sim:fattree:2,4", "load topology " + file, false},
		{"sim:fattree:2,4", "load topology " + file + " as=ibsim", true},
	} {
		out, err := on(t, c.from, c.before, "show links; dump topology -")
		if err != nil || strings.Contains(out, " 4xNDR") == c.asIbsim || strings.Contains(out, "(b7)") == c.asIbsim ||
			strings.Contains(out, "by ibsim's rules 1 port") != c.asIbsim {
			t.Errorf("%s, %s: %v\n%s", c.from, c.before, err, out)
		}
	}
	for _, command := range []string{"show links", "dump topology -", "handover " + filepath.Join(t.TempDir(), "x")} {
		out, err := on(t, "net:"+file, "route", command)
		if err != nil || !strings.Contains(out, "warning: ") || !strings.Contains(out, "than is stated here") {
			t.Errorf("%s: %v\n%s", command, err, out)
		}
	}
}

// TestOffline: behind a file by ibsim's rules, too, there is no agent to query or to write to.
func TestOffline(t *testing.T) {
	file := filepath.Join(t.TempDir(), "net")
	if err := os.WriteFile(file, []byte("Switch 2 \"S-1\"\n[1] \"H-1\"[1]\n\nHca 1 \"H-1\"\n[1] \"S-1\"[1]\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	for _, from := range []string{"file:" + file, "net:" + file} {
		for _, command := range []string{"sweep", "write on", "show counters"} {
			if _, err := on(t, from, command); err == nil ||
				!strings.Contains(err.Error(), connection.ErrOffline.Error()) {
				t.Errorf("%s, %s: %v", from, command, err)
			}
		}
		if out, err := on(t, from, "problems"); err != nil || !strings.Contains(out, "the subnet is a file") {
			t.Errorf("%s: %v\n%s", from, err, out)
		}
		if out, err := on(t, from, "set sm S-1; doctor"); err != nil || strings.Contains(out, "the session uses port") {
			t.Errorf("%s: %v\n%s", from, err, out)
		}
	}
}

// TestForgottenFailures checks that loading a topology reports the discarded failures.
func TestForgottenFailures(t *testing.T) {
	file := filepath.Join(t.TempDir(), "net")
	out, err := on(t, "sim:fattree:2,4", "gen fattree 2 4 "+file, "fail switch spine-01", "route",
		"load topology "+file)
	if err != nil || !strings.Contains(out, "discarded: 1 failure\n  the staged tables "+
		"are stale: ") {
		t.Error(err, out)
	}
}
