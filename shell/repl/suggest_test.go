// SPDX-License-Identifier: Apache-2.0

package repl

import (
	"slices"
	"strings"
	"testing"

	"example.org/ibconsole/shell/lang"
	"github.com/c-bata/go-prompt"
)

func TestSuggestions(t *testing.T) {
	tests := []struct {
		name, before string
		start        int
		texts, want  []string
	}{
		{"a word", "trace le", 6, []string{"leaf-07", "leaf-08"}, []string{"leaf-07", "leaf-08"}},
		{"a value", "trace of=l", 9, []string{"live"}, []string{"of=live"}},
		{"after a separator", "x;sh", 2, []string{"show"}, []string{"x;show"}},
		{"after a blank in quotes", `trace "a b`, 6, []string{`"a bc"`, `"other"`}, []string{`bc"`}},
		{"after an escaped blank", `trace of=a\ b`, 9, []string{`a\ bc`}, []string{"bc"}},
		{"nothing typed", "trace ", 6, []string{"'a b'"}, []string{"'a b'"}},
		{"the word itself", "trace", 0, []string{"trace"}, []string{}},
		{"hostile", "", 0, []string{"a\x1b[31m", "b\n", "c"}, []string{"c"}},
		{"start past the cursor", "a", 2, []string{"b"}, []string{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var candidates []lang.Candidate
			for _, text := range tt.texts {
				candidates = append(candidates, lang.Candidate{Text: text})
			}
			got := []string{}
			for _, s := range suggestions(tt.before, tt.start, candidates) {
				got = append(got, s.Text)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestSuggestionsAreFew(t *testing.T) {
	if got := suggestions("", 0, make([]lang.Candidate, 48_000)); len(got) != maxSuggestions {
		t.Errorf("got %d", len(got))
	}
}

// While a suggestion is chosen go-prompt indexes the list with what was chosen
// from an earlier one.
func TestSuggestionsStayWhileChoosing(t *testing.T) {
	names := []string{"a", "ab", "abc"}
	s := suggester{width: 80, complete: func(string, int) (int, []lang.Candidate) {
		var list []lang.Candidate
		for _, n := range names {
			list = append(list, lang.Candidate{Text: n})
		}
		return 0, list
	}}
	typed := prompt.NewBuffer()
	typed.InsertText("a", false, true)
	if got := s.suggest(*typed.Document()); len(got) != 3 {
		t.Fatalf("got %v", got)
	}
	names = names[:1]
	if got := s.suggest(*typed.Document()); len(got) != 0 {
		t.Errorf("another key: got %v", got)
	}
	if got := s.suggest(prompt.Document{}); got != nil {
		t.Errorf("an empty line: got %v", got)
	}
	s.width = minWidth - 1
	if got := s.suggest(*typed.Document()); got != nil {
		t.Errorf("a narrow window: got %v", got)
	}
}

func TestTail(t *testing.T) {
	tests := []struct {
		text  string
		cells int
		want  string
	}{
		{"abc", 3, "abc"},
		{"abcdef", 3, "…ef"},
		{"世界世界", 5, "…世界"},
		{strings.Repeat("x", 9), 1, "…"},
	}
	for _, tt := range tests {
		if got := tail(tt.text, tt.cells); got != tt.want {
			t.Errorf("tail(%q, %d) = %q, want %q", tt.text, tt.cells, got, tt.want)
		}
	}
}
