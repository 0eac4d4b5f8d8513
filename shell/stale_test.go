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
				out, err := onStale(t, command)
				isRefused := errors.Is(err, session.ErrStaleTables)
				if isRefused {
					refused++
				}
				if of && !isRefused && !slices.Contains(ofNoState, name) && command != "hosts" &&
					!strings.HasPrefix(command, "hosts x ") {
					t.Errorf("%s takes stale tables, error %v:\n%s", command, err, out)
				}
				if !isRefused && strings.Contains(out, "staged (") && !strings.Contains(out, "STALE") {
					t.Errorf("%s does not say that the staged tables are stale:\n%s", command, out)
				}
			}
		}
	}
	walk(shell.New(nil).Specs(), "", false)
	t.Logf("%d commands refuse stale tables", refused)
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

// onStale runs a command in a session whose staged tables are stale.
func onStale(t *testing.T, command string) (string, error) {
	t.Helper()
	v := newStale(t)
	var out strings.Builder
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for _, c := range []string{"route", "fail switch spine-01"} {
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
