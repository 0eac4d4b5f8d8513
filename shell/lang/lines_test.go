// SPDX-License-Identifier: Apache-2.0

package lang

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

func TestLines(t *testing.T) {
	var got []string
	run := func(stmts []Statement) error {
		for _, s := range stmts {
			got = append(got, fmt.Sprintf("%d:%s", s.Line, strings.Join(s.Words, "|")))
		}
		return nil
	}
	if err := Lines(strings.NewReader("a; b\n\nc 'd\ne' f # x\ng \\\nh\ni"), "x", run); err != nil {
		t.Fatal(err)
	}
	if all, want := strings.Join(got, " "), "1:a 1:b 3:c|d\ne|f 5:g|h 7:i"; all != want {
		t.Errorf("got %q, want %q", all, want)
	}
	var syntax *SyntaxError
	if err := Lines(strings.NewReader("a\nb 'c\nd"), "x", run); !errors.As(err, &syntax) || syntax.Line != 2 {
		t.Errorf("an open quote at the end: %v", err)
	}
	got = nil
	parts := []string{"a\nb", "\nc 'd", "e'\nf\n\n", "g"}
	next := func() (part string, err error) {
		part, parts = parts[0], parts[1:]
		if len(parts) == 0 {
			err = io.EOF
		}
		return part, err
	}
	together := func(stmts []Statement) error { got = append(got, "/"); return run(stmts) }
	if err := Parts(next, "x", together); err != nil {
		t.Fatal(err)
	}
	if all, want := strings.Join(got, " "), "/ 1:a 2:b 3:c|de 4:f / 6:g"; all != want {
		t.Errorf("got %q, want %q", all, want)
	}
	stop := errors.New("stop")
	calls := 0
	err := Lines(strings.NewReader("a\nb\n"), "x", func([]Statement) error { calls++; return stop })
	if !errors.Is(err, stop) || calls != 1 {
		t.Errorf("%d calls, error %v", calls, err)
	}
}
