// SPDX-License-Identifier: Apache-2.0

package shell_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/shell"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/sessiontest"
)

// TestStaleTables runs every command after staged tables became stale. One that reads a state and names none takes no
// stale tables: it fails as all others do. Any other command says STALE where it names the staged tables.
func TestStaleTables(t *testing.T) {
	refused := 0
	forEachCommand(t, func(command string, of bool) {
		out, err := runAfter(t, command, "route", "fail switch spine-01")
		isRefused := errors.Is(err, session.ErrStaleTables)
		if isRefused {
			refused++
		}
		if of && !isRefused {
			t.Errorf("%s takes stale tables, error %v:\n%s", command, err, out)
		}
		if !isRefused && strings.Contains(out, "staged (") && !strings.Contains(out, "STALE") {
			t.Errorf("%s does not say that the staged tables are stale:\n%s", command, out)
		}
	})
	t.Logf("%d commands refuse stale tables", refused)
}

// TestChangedLive runs every command that reads a state after a link of the live subnet went down that the what-if and
// the staged tables still have. Each answer about the base, the what-if or the staged tables names the link.
func TestChangedLive(t *testing.T) {
	t.Setenv("PATH", t.TempDir()) // sacct of the machine may take seconds
	warned := 0
	forEachCommand(t, func(command string, of bool) {
		isSlow := func(slow string) bool { return strings.HasPrefix(command, slow) }
		if !of || slices.ContainsFunc(slowCommands, isSlow) {
			return
		}
		for _, kind := range []session.Kind{session.Base, session.WhatIf, session.Staged} {
			out, err := runAfter(t, command+" of="+string(kind), "fail link leaf-01 4", "route", "write on",
				"port disable leaf-02/4 yes force-unreachable force-interrupt")
			switch isWarned := strings.Contains(out, "1 link down (spine-02/2 -- leaf-02/4)"); {
			case isWarned:
				warned++
			case err == nil:
				t.Errorf("%s of=%s does not report the link that is down:\n%s", command, kind, out)
			}
		}
	})
	t.Logf("%d answers report the link that is down", warned)
}

// TestLiveHasChanged compares the warnings of answers about the base and the what-if with the links that went down.
func TestLiveHasChanged(t *testing.T) {
	for _, c := range []struct {
		commands, base, whatIf string
	}{
		{"fail link leaf-01 4; port disable leaf-02/4 yes force-unreachable", "1 link down (spine-02/2 -- leaf-02/4)",
			"1 link down (spine-02/2 -- leaf-02/4)"},
		{"fail link leaf-01 4; port disable leaf-01/4 yes force-unreachable", "1 link down", ""}, // it has failed
		{"fail link leaf-01 4; port disable leaf-02/4 yes force-unreachable; port enable leaf-02/4 yes", "", ""},
		{"fail link leaf-01 4; port disable leaf-02/1 yes", "1 link down, 1 node gone", "1 link down, 1 node gone"},
		{"port disable leaf-02/4 yes force-unreachable; fail link leaf-01 4; port enable leaf-02/4 yes; sweep full",
			"1 link up (spine-02/2 -- leaf-02/4)", "1 link up (spine-02/2 -- leaf-02/4)"},
		{"fail link leaf-01 4; route; commit yes", "", ""}, // tables are no change
	} {
		t.Setenv("PATH", t.TempDir())
		for _, x := range [][2]string{{"base", c.base}, {"whatif", c.whatIf}, {"live", ""}} {
			out, err := runAfter(t, "show links leaf-01 of="+x[0], "write on; "+c.commands)
			isWarned := strings.Contains(out, "has changed since")
			if err != nil || isWarned != (x[1] != "") || !strings.Contains(out, x[1]) {
				t.Errorf("after %q, %s does not warn of %q: %v\n%s", c.commands, x[0], x[1], err, out)
			}
		}
	}
}

// forEachCommand calls the function do for every command, with and without its optional arguments. The argument of is
// true if the command describes the state that the option of= names.
func forEachCommand(t *testing.T, do func(command string, of bool)) {
	t.Helper()
	var walk func(specs []shell.Spec, before string, of bool)
	walk = func(specs []shell.Spec, before string, of bool) {
		for i := range specs {
			s := &specs[i]
			name := strings.TrimSpace(before + " " + s.Name)
			if slices.Contains(waitingCommands, name) {
				continue
			}
			of := of || slices.ContainsFunc(s.Options, func(o lang.Option) bool { return o.Name == "of" })
			walk(s.Subcommands, name, of)
			if s.Run == nil {
				continue
			}
			for _, command := range slices.Compact([]string{name + argsOf(t, s, false), name + argsOf(t, s, true)}) {
				do(command, of && !slices.Contains(ofNoState, name) && command != "hosts" &&
					!strings.HasPrefix(command, "hosts x "))
			}
		}
	}
	walk(shell.New(nil).Specs(), "", false)
}

// ofNoState are commands that have the option of= with others, and read the live subnet, the session or its history.
var ofNoState = []string{
	"dump guided", "problems", "report morning", "show cables", "show counters", "show events", "show failures",
	"show states",
	"show sms", "show targets", "show unanswered",
	"show vlarb",
}

// waitingCommands go on until they are stopped, or end the console.
var waitingCommands = []string{"watch", "sa", "exit", "quit", "record start", "capture"}

// slowCommands measure for seconds.
var slowCommands = []string{"balance hot", "check load measured"}

// runAfter runs a command after others in a session of its own, and returns its text.
func runAfter(t *testing.T, command string, first ...string) (string, error) {
	t.Helper()
	v := newStale(t)
	var out strings.Builder
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for _, c := range first {
		if err := v.Run(ctx, "test", c, &shell.Output{W: &out, Notes: &out}); err != nil {
			t.Fatal(err)
		}
	}
	out.Reset()
	err := v.Run(ctx, "test", command, &shell.Output{W: &out, Notes: &out, Script: true})
	return out.String(), err
}

func newStale(t *testing.T) *shell.Shell {
	t.Helper()
	s := sessiontest.Open(t, "sim:fattree:2,4")
	return shell.New(s)
}

// argsOf are values for the places of a command, with or without the optional ones.
func argsOf(t *testing.T, s *shell.Spec, optional bool) (words string) {
	values := map[lang.Kind]string{
		lang.KindInt: "1", lang.KindPort: "3", lang.KindNode: "node-0001", lang.KindPlace: "node-0002",
		lang.KindSwitch: "leaf-01", lang.KindGUID: "0x200000",
		lang.KindEngine: "minhop", lang.KindPicture: "live", lang.KindDumpKind: "lfts",
		lang.KindFile: filepath.Join(t.TempDir(), "file"), lang.KindText: "x",
	}
	for _, a := range s.Args {
		value := values[a.Kind]
		if len(a.Words) > 0 {
			value = a.Words[0]
		}
		if a.Optional && (!optional || len(a.Words) > 0) || value == "" {
			break
		}
		words += " " + value
	}
	return words
}
