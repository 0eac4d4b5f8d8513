// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"example.org/ibconsole/mad/ibsim/ibsimtest"
	"example.org/ibconsole/shell"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/tui"
)

// A panic ends the program, and the place at ibsim is free again.
func TestPanicGivesThePlaceBack(t *testing.T) {
	file := filepath.Join(t.TempDir(), "net")
	if status := run([]string{"-s", "sim:fattree:2,4", "-c", "dump topology " + file},
		streams{out: io.Discard, err: io.Discard}); status != exitDone {
		t.Fatalf("exit status %d", status)
	}
	sim := ibsimtest.Start(t, file)
	o := newOptions(streams{out: io.Discard, err: io.Discard})
	o.sources = []string{"ibsim:" + sim.Name}
	func() {
		defer func() {
			if p := recover(); p != "boom" {
				t.Errorf("recovered %v", p)
			}
		}()
		o.connect(t.Context(), session.Options{}, func(context.Context, *shell.Subnets) error {
			if taken := strings.Count(sim.Console("Attached"), "Client "); taken != 1 {
				t.Errorf("%d places are taken", taken)
			}
			panic("boom")
		})
	}()
	if taken := strings.Count(sim.Console("Attached"), "Client "); taken != 0 {
		t.Errorf("%d places are taken afterwards", taken)
	}
}

// TestCrashSavesTheSession: after a panic of the screen, or any other, what was simulated and staged is in files that
// the messages name, and that bring it back.
func TestCrashSavesTheSession(t *testing.T) {
	const source = "sim:fattree:2,8"
	crashes := map[string]func() error{
		"screen": func() error { return &tui.CrashError{Value: "boom", Stack: []byte("a stack\n")} },
		"panic":  func() error { panic("boom") },
	}
	for name, crash := range crashes {
		t.Setenv("XDG_STATE_HOME", t.TempDir())
		var said strings.Builder
		o := newOptions(streams{out: io.Discard, err: &said})
		o.sources = []string{source}
		func() {
			defer func() {
				if p := recover(); (p == "boom") != (name == "panic") {
					t.Errorf("%s: recovered %v", name, p)
				}
			}()
			status := o.connect(t.Context(), session.Options{}, func(ctx context.Context, s *shell.Subnets) error {
				if err := s.All()[0].Session().Start(ctx); err != nil {
					t.Error(err)
				}
				if err := s.Run(ctx, "test", "engine updn; fail switch spine-01; route", o.output()); err != nil {
					t.Error(err)
				}
				return crash()
			})
			if status != exitFailed {
				t.Errorf("%s: exit status %d", name, status)
			}
		}()
		run1 := regexp.MustCompile(
			`'run (\S+)' recreates them and stages the tables \('load routing (\S+)'`).FindStringSubmatch(said.String())
		if run1 == nil {
			t.Fatalf("%s: no file is named:\n%s", name, said.String())
		}
		if i := strings.Index(said.String(), "boom"); name == "screen" &&
			(i < 0 || i > strings.Index(said.String(), "saved")) {
			t.Errorf("the cause is not named first:\n%s", said.String())
		}
		var out strings.Builder
		if status := run([]string{"-s", source, "-c", "run " + run1[1] + "; whatif; engine; check reach of=staged"},
			streams{out: &out, err: &out}); status != exitDone {
			t.Errorf("%s: exit status %d", name, status)
		}
		for _, want := range []string{"switch spine-01", "engine updn", "staged"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: %q is missing in\n%s", name, want, out.String())
			}
		}
		if status := run([]string{"-s", source, "-c", "load routing " + run1[2]},
			streams{out: io.Discard, err: &out}); status != exitDone {
			t.Errorf("%s: load routing: exit status %d\n%s", name, status, out.String())
		}
	}
}

// TestCrashWithoutAnythingToSave: nothing is written then.
func TestCrashWithoutAnythingToSave(t *testing.T) {
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	var said strings.Builder
	o := newOptions(streams{out: io.Discard, err: &said})
	o.sources = []string{"sim:fattree:2,4"}
	o.connect(t.Context(), session.Options{}, func(context.Context, *shell.Subnets) error {
		return &tui.CrashError{Value: "boom"}
	})
	if saved, _ := filepath.Glob(filepath.Join(state, "ibconsole", "rescued*")); len(saved) > 0 ||
		!strings.Contains(said.String(), "to save") {
		t.Errorf("%q\n%s", saved, said.String())
	}
}
