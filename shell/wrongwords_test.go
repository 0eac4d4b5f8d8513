// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/internal/base/plain"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

// TestWrongWordsAreEscaped: what a command does not understand stands in its error as it can be shown, wherever the
// word stands, and so does the name of a script.
func TestWrongWordsAreEscaped(t *testing.T) {
	const word = "\x1b[2J\u202e"
	subnets := NewSubnets([]string{
		"one", "two",
	}, []*session.Session{begun(t, "sim:fattree:2,4"), begun(t, "sim:fattree:2,4")})
	t.Chdir(t.TempDir())
	var visit func(specs []Spec, before string)
	try := func(text string) {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		err := subnets.Run(ctx, word, text, &Output{W: &bytes.Buffer{}, Raw: &bytes.Buffer{}, Script: true})
		if err != nil && !plain.Escaped(strings.ReplaceAll(err.Error(), "\n", " ")) {
			t.Errorf("%q: %q", text, err)
		}
	}
	visit = func(specs []Spec, before string) {
		for i := range specs {
			s := &specs[i]
			text := before + s.Name
			for _, o := range s.Options {
				try(text + " " + o.Name + "=" + lang.Quote(word))
			}
			for n := 1; n <= len(s.Args)+1; n++ {
				try(text + strings.Repeat(" "+lang.Quote(word), n))
			}
			visit(s.Subcommands, text+" ")
		}
	}
	visit(subnets.All()[0].Shell.Specs(), "")
	try("summary; summary\nshow '" + word)
	try("summary\n" + word)
}
