// SPDX-License-Identifier: Apache-2.0

package shell_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/shell"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature/commit"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/sessiontest"
)

// TestWarnings: a warning stands next to the answers, and who listens gets it.
func TestWarnings(t *testing.T) {
	for _, form := range []answer.Form{answer.FormText, answer.FormJSON} {
		var said, notes bytes.Buffer
		var heard []string
		out := shell.Output{W: &said, Notes: &notes, Form: form, OnWarning: func(w string) { heard = append(heard, w) }}
		out.Warn("old")
		if said.Len() > 0 || notes.String() != "warning: old\n" || len(heard) != 1 || heard[0] != "old" {
			t.Errorf("%s: %q, notes %q, received %q", form, &said, &notes, heard)
		}
	}
}

// TestCommitIsHeard: who listens learns from values what a commit would write, what it wrote and how to take it back,
// in the words that people read. The plan that people read before writing is not an answer of its own.
func TestCommitIsHeard(t *testing.T) {
	s := sessiontest.OpenWith(t, "sim:fattree:2,4", session.Options{StateDir: t.TempDir(), Record: true})
	for _, form := range []answer.Form{answer.FormText, answer.FormJSON} {
		var text bytes.Buffer
		var plans, commits []*commit.Change
		outcome := ""
		out := &shell.Output{W: &text, Form: form, OnAnswer: func(a *answer.Answer) {
			x, ok := a.Value().(*commit.Change)
			switch {
			case ok && a.IsAction():
				commits, outcome = append(commits, x), a.Outcome()
			case ok:
				plans = append(plans, x)
			}
		}}
		script := prose.When(form == answer.FormJSON, "rollback yes; route; commit dry-run",
			"fail link leaf-01 3; route; write on; commit yes; commit dry-run")
		if err := shell.New(s).Run(t.Context(), "test", script, out); err != nil {
			t.Fatal(err)
		}
		if len(plans) != 1 || len(commits) != 1 || commits[0].Journal == 0 ||
			plans[0].Empty() != (form == answer.FormText) {
			t.Fatalf("%s: %d plans, %d commits\n%s", form, len(plans), len(commits), &text)
		}
		if form == answer.FormJSON {
			if n := strings.Count(text.String(), `"written":`); n != 2 ||
				strings.Count(text.String(), `"written":true`) != 1 {
				t.Errorf("%d answers\n%s", n, &text)
			}
			continue
		}
		undo, written, ok := strings.Cut(outcome, "; ")
		if !ok || !strings.Contains(text.String(), "\n"+written+"\n") ||
			!strings.Contains(text.String(), "; "+undo+"\n") || strings.Count(text.String(), "LFT blocks   ") != 1 {
			t.Errorf("%q is not in\n%s", outcome, &text)
		}
	}
}

// lines hands on each line that is written.
type lines chan string

func (l lines) Write(b []byte) (int, error) {
	for line := range strings.Lines(string(b)) {
		l <- strings.TrimSuffix(line, "\n")
	}
	return len(b), nil
}

// TestEventsAreHeardOnce: an event of a command that stays is written when it happens, and who listens gets the table
// with the events at the end.
func TestEventsAreHeardOnce(t *testing.T) {
	s := sessiontest.OpenWith(t, "sim:fattree:2,4", session.Options{StateDir: t.TempDir(), Record: true})
	written, ended := make(lines, 100), make(chan error)
	var tables []answer.Sheet
	go func() {
		ended <- shell.New(s).Run(t.Context(), "test", "watch 0.1 for=3",
			&shell.Output{W: written, OnAnswer: func(a *answer.Answer) {
				sheets, err := a.Sheets()
				if err != nil {
					t.Error(err)
				}
				tables = append(tables, sheets...)
			}})
	}()
	if first := <-written; !strings.HasPrefix(first, "events of live") {
		t.Errorf("%q", first)
	}
	if err := shell.New(s).Run(t.Context(), "test", "fail link leaf-01 3; route; write on; commit yes",
		&shell.Output{W: io.Discard}); err != nil {
		t.Fatal(err)
	}
	event := <-written
	select {
	case err := <-ended:
		t.Fatalf("the event %q was written at the end: %v", event, err)
	default:
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if len(tables) != 1 || tables[0].Len() == 0 || !strings.Contains(event, tables[0].Cell(0, 2)) {
		t.Errorf("%q was written, received %+v", event, tables)
	}
}

// TestFailOn: each value of --fail-on fails on all that the values before it fail on.
func TestFailOn(t *testing.T) {
	type judged struct {
		verdict answer.Verdict
		warns   bool
	}
	decl := answer.Decl[judged]{Verdict: func(j judged) (answer.Verdict, string) { return j.verdict, "" },
		Warns: func(j judged) bool { return j.warns }}
	for value, failing := range map[string]int{"": 0, "error": 1, "warning": 2, "found": 2, "unknown": 3} {
		for i, j := range []judged{{answer.Found, false}, {answer.Found, true}, {answer.Unknown, false}, {}} {
			out := shell.Output{FailOn: value}
			if got := out.FailsOn(decl.Answer(answer.Basis{}, j)); got != (i < failing) {
				t.Errorf("--fail-on %s, %v: %t", value, j, got)
			}
		}
	}
}
