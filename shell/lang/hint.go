// SPDX-License-Identifier: Apache-2.0

package lang

import (
	"slices"
	"strings"
)

// Hint returns the usage and the summary of the command at the end of text. If the command is unknown, the summary is
// the error. For an empty text, both are empty.
func Hint[C any](specs []Spec[C], text string) (usage, summary string) {
	stmt, word, ok := lastStatement(text)
	switch {
	case !ok:
		return "", ""
	case len(stmt.Words) == 0 && !slices.ContainsFunc(specs, func(s Spec[C]) bool { return s.Name == word.value }):
		return "", ""
	case len(stmt.Words) == 0:
		stmt.Words = []string{word.value}
	}
	spec, err := Find(specs, stmt.Words[0])
	if err != nil {
		return "", err.Error()
	}
	b := newBinder(spec, stmt)
	return b.out.usage, b.spec.Summary
}

// Search returns the commands and subcommands whose names, summaries or help contain a word.
func Search[C any](specs []Spec[C], word string) []Candidate {
	word = strings.ToLower(word)
	var out []Candidate
	var look func(path string, all []Spec[C])
	look = func(path string, all []Spec[C]) {
		for i := range all {
			s := &all[i]
			name := strings.TrimSpace(path + " " + s.Name)
			if strings.Contains(strings.ToLower(s.Name+" "+strings.Join(s.Aliases, " ")+" "+s.Summary+" "+s.Help),
				word) {
				out = append(out, Candidate{name, s.Summary})
			}
			look(name, s.Subcommands)
		}
	}
	look("", specs)
	return out
}
