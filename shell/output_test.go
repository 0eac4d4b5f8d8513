// SPDX-License-Identifier: Apache-2.0

package shell_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"testing"

	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/shell"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature/commit"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/source"
)

type pair struct {
	A int `json:"a"`
	B int `json:"b"`
}

func (p pair) Cells() []any {
	if p.A == 0 {
		return nil
	}
	return []any{p.A, p.B}
}

func (p pair) Text(w io.Writer) { _, _ = fmt.Fprintf(w, "%d and %d\n", p.A, p.B) }

func pairs(end error, all ...pair) iter.Seq2[shell.Row, error] {
	return func(yield func(shell.Row, error) bool) {
		for _, p := range all {
			if !yield(p, nil) {
				return
			}
		}
		if end != nil {
			yield(nil, end)
		}
	}
}

// TestRenderings: a value is text for people and JSON for programs; notes stand beside
// both; a part is for people alone, and a row without cells for programs alone.
func TestRenderings(t *testing.T) {
	headed := []string{"A", "LONG"}
	gone := errors.New("gone")
	for _, c := range []struct {
		name              string
		answer            shell.Answer
		text, json, notes string
		err               error
	}{
		{name: "answer", answer: pair{1, 2}, text: "1 and 2\n", json: `{"a":1,"b":2}` + "\n"},
		{name: "part", answer: shell.Part{Answer: pair{1, 2}}, text: "1 and 2\n"},
		{name: "note", answer: shell.Note("of live"), notes: "of live\n"},
		{name: "warning", answer: shell.Warning("old"), notes: "warning: old\n"},
		{name: "list", answer: &shell.List{Columns: headed, Rows: pairs(nil, pair{1, 2}, pair{0, 3}, pair{40, 5})},
			text: "A   LONG\n1   2\n40  5\n", json: "{\"a\":1,\"b\":2}\n{\"a\":0,\"b\":3}\n{\"a\":40,\"b\":5}\n"},
		{name: "empty list", answer: &shell.List{Columns: headed, Rows: pairs(nil), Empty: "nothing"}, text: "nothing\n"},
		{name: "headings alone", answer: &shell.List{Columns: headed, Rows: pairs(nil)}, text: "A  LONG\n"},
		{name: "not empty", answer: &shell.List{Columns: headed, Rows: pairs(nil, pair{1, 2}), Empty: "nothing"}, text: "A  LONG\n1  2\n", json: "{\"a\":1,\"b\":2}\n"},
		{name: "drawn", answer: &shell.List{Rows: pairs(nil, pair{1, 2}), Drawn: pair{7, 7}}, text: "7 and 7\n", json: "{\"a\":1,\"b\":2}\n"},
		{name: "stopped", answer: &shell.List{Columns: headed, Rows: pairs(gone, pair{1, 2})}, json: "{\"a\":1,\"b\":2}\n", err: gone},
	} {
		for _, asJSON := range []bool{false, true} {
			var said, notes bytes.Buffer
			var heard []shell.Answer
			out := shell.Output{W: &said, Notes: &notes, Form: prose.When(asJSON, answer.FormJSON, answer.FormText), Hear: func(a shell.Answer) { heard = append(heard, a) }}
			err := out.Answer(c.answer)
			want := c.text
			if asJSON {
				want = c.json
			}
			if said.String() != want || notes.String() != c.notes || !errors.Is(err, c.err) || len(heard) != 1 {
				t.Errorf("%s, JSON %v: %q, notes %q, %v, %d heard, expected %q, %q", c.name, asJSON, said.String(), notes.String(), err, len(heard), want, c.notes)
			}
		}
	}
}

// TestCommitIsHeard: who listens learns from values what a commit would write, what it wrote and how to take it back, in the
// words that people read. The plan that people read before writing is not an answer of its own.
func TestCommitIsHeard(t *testing.T) {
	s, err := session.Open(t.Context(), source.Source{Kind: source.Sim, Arg: "fattree:2,4"}, session.Options{StateDir: t.TempDir(), Record: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, form := range []answer.Form{answer.FormText, answer.FormJSON} {
		var text bytes.Buffer
		var plans, commits []*commit.Change
		outcome := ""
		out := &shell.Output{W: &text, Form: form, Hear: func(a shell.Answer) {
			of, _ := a.(interface{ Value() any })
			if of == nil {
				return
			}
			x, ok := of.Value().(*commit.Change)
			action, isAction := a.(shell.Action)
			switch {
			case ok && isAction:
				commits, outcome = append(commits, x), action.Outcome()
			case ok:
				plans = append(plans, x)
			}
		}}
		script := prose.When(form == answer.FormJSON, "rollback yes; route; commit dry-run", "fail link leaf-01 3; route; write on; commit yes; commit dry-run")
		if err := shell.New(s).Run(t.Context(), "test", script, out); err != nil {
			t.Fatal(err)
		}
		if len(plans) != 1 || len(commits) != 1 || commits[0].Journal == 0 || plans[0].Empty() != (form == answer.FormText) {
			t.Fatalf("%s: %d plans, %d commits\n%s", form, len(plans), len(commits), &text)
		}
		if form == answer.FormJSON {
			if n := strings.Count(text.String(), `"written":`); n != 2 || strings.Count(text.String(), `"written":true`) != 1 {
				t.Errorf("%d answers\n%s", n, &text)
			}
			continue
		}
		undo, written, ok := strings.Cut(outcome, "; ")
		if !ok || !strings.Contains(text.String(), "\n"+written+"\n") || !strings.Contains(text.String(), "; "+undo+"\n") || strings.Count(text.String(), "LFT blocks   ") != 1 {
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

// TestEventsAreHeardOnce: an event of a command that stays is written when it happens, and who listens gets the table with
// the events at the end.
func TestEventsAreHeardOnce(t *testing.T) {
	s, err := session.Open(t.Context(), source.Source{Kind: source.Sim, Arg: "fattree:2,4"}, session.Options{StateDir: t.TempDir(), Record: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	written, ended := make(lines, 100), make(chan error)
	var tables []shell.Table
	go func() {
		ended <- shell.New(s).Run(t.Context(), "test", "watch 0.1 for=3", &shell.Output{W: written, Hear: func(a shell.Answer) {
			if x, ok := a.(shell.Tabled); ok {
				tables = append(tables, x.Tables()...)
			}
		}})
	}()
	if first := <-written; !strings.HasPrefix(first, "events of live") {
		t.Errorf("%q", first)
	}
	if err := shell.New(s).Run(t.Context(), "test", "fail link leaf-01 3; route; write on; commit yes", &shell.Output{W: io.Discard}); err != nil {
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
	if len(tables) != 1 || len(tables[0].Rows) == 0 || !strings.Contains(event, fmt.Sprint(tables[0].Rows[0].Cells()[2])) {
		t.Errorf("%q was written, %+v heard", event, tables)
	}
}
