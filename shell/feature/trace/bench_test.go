// SPDX-License-Identifier: Apache-2.0

package trace_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"example.org/ibconsole/shell"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/source"
)

// BenchmarkRows times the rows of 100,000 pairs in a state.
func BenchmarkRows(b *testing.B) {
	src, err := source.Parse("sim:fattree:2,36")
	if err != nil {
		b.Fatal(err)
	}
	s, err := session.Open(b.Context(), src, session.Options{Fast: true})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	if err := s.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 1))
	var lines strings.Builder
	for range 100_000 {
		fmt.Fprintf(&lines, "node-%04d node-%04d\n", 1+r.IntN(648), 1+r.IntN(648))
	}
	file := pairsFile(b, lines.String())
	for name, form := range map[string]answer.Form{
		"text": answer.FormText, "csv": answer.FormCSV, "json": answer.FormJSON,
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := shell.New(s).Run(b.Context(), "bench", "trace file="+file+" rows",
					&shell.Output{W: io.Discard, Form: form}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
