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
	s, file := randomPairs(b, 100_000)
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

// randomPairs opens a simulated fat-tree with 648 hosts, and writes a file with random pairs of them.
func randomPairs(b *testing.B, pairs int) (s *session.Session, file string) {
	src, err := source.Parse("sim:fattree:2,36")
	if err != nil {
		b.Fatal(err)
	}
	s, err = session.Open(b.Context(), src, session.Options{Fast: true})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	if err := s.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 1))
	var lines strings.Builder
	for range pairs {
		fmt.Fprintf(&lines, "node-%04d node-%04d\n", 1+r.IntN(648), 1+r.IntN(648))
	}
	return s, pairsFile(b, lines.String())
}
