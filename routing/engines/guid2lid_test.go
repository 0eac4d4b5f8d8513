// SPDX-License-Identifier: Apache-2.0

package engines_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.org/ibconsole/internal/testenv"
	"example.org/ibconsole/routing/compute"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/settings"
)

// TestDumpedGUID2LIDEqualsOpenSM: the guid2lid of the live subnet, and of a what-if without
// a host, is the one that OpenSM keeps, with the host that is gone.
func TestDumpedGUID2LIDEqualsOpenSM(t *testing.T) {
	testenv.Tool(t, "opensm")
	r := testenv.Rand(t)
	for i := range testenv.Count(t, 2, 40) {
		seed := r.Uint64()
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 7))
			l := newLife(t, r, []string{"minhop"}, false)
			l.run(t)
			s := sessionOn(t, l)
			file := filepath.Join(l.manager.dir, "guid2lid")
			same := func(what string, of session.Kind) {
				t.Helper()
				var b bytes.Buffer
				if _, err := s.Dump(t.Context(), "guid2lid", of, &b); err != nil {
					t.Fatal(err)
				}
				if err := unlike(file, b.Bytes()); err != nil {
					t.Errorf("%s: %s: %v", l, what, err)
				}
			}
			same("live", session.Live)
			before := l.lost
			if !l.loseLink(r, hostLinks(l.whole)) {
				return
			}
			l.run(t)
			onPaper(t, s, l.whole, before, l.lost)
			if _, err := s.Route(t.Context(), compute.KeepAsOpenSM); err != nil {
				t.Fatal(err)
			}
			same("a host fails on paper", session.Staged)
			if _, err := s.RestoreAll(t.Context()); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Sweep(t.Context()); err != nil {
				t.Fatal(err)
			}
			set, err := settings.Parse(t.Context(), nil, []settings.Setting{{Name: "guid2lid", Value: file}})
			if err != nil {
				t.Fatal(err)
			}
			s.SetSettings(set)
			var b bytes.Buffer
			if _, err := s.Dump(t.Context(), "guid2lid", session.Live, &b); err != nil {
				t.Fatal(err)
			}
			theirs, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			// An OpenSM that reads its file has the lines of a bin of its table the other way round.
			if !slices.Equal(sortedLines(b.Bytes()), sortedLines(theirs)) {
				t.Errorf("%s: a host is gone:\n%s\nOpenSM:\n%s", l, b.Bytes(), theirs)
			}
		})
	}
}

func sortedLines(text []byte) []string { return slices.Sorted(strings.Lines(string(text))) }
