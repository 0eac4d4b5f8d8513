// SPDX-License-Identifier: Apache-2.0

package prose

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Nearest returns the candidate that the user probably meant, or "" if there is none. It prefers the candidate with the
// fewest edits: a letter inserted, deleted or changed, or two neighbours swapped. At most one edit per three letters
// (rounded) is allowed. Otherwise it returns the first candidate that begins with word, if the argument word has two or
// more letters. Case is ignored. Of equal candidates it returns the first.
func Nearest(word string, candidates []string) string {
	w := []rune(strings.ToLower(word))
	if len(w) > 64 {
		return ""
	}
	best, fewest := "", (len(w)+1)/3+1
	for _, c := range candidates {
		r := []rune(strings.ToLower(c))
		if d := len(r) - len(w); d >= fewest || -d >= fewest {
			continue
		}
		if d := editDistance(w, r); d < fewest {
			best, fewest = c, d
		}
	}
	if best != "" || len(w) < 2 {
		return best
	}
	if begun := begunBy(word, candidates); len(begun) > 0 {
		return begun[0]
	}
	return ""
}

// Near returns the candidates that word was probably meant to be: all that begin with word, if it has two or more
// letters and begins several, else the one of [Nearest].
func Near(word string, candidates []string) []string {
	if begun := begunBy(word, candidates); len(begun) > 1 && utf8.RuneCountInString(word) > 1 {
		return begun
	}
	if near := Nearest(word, candidates); near != "" {
		return []string{near}
	}
	return nil
}

// begunBy returns the candidates that begin with a word. Case does not count.
func begunBy(word string, candidates []string) []string {
	return slices.DeleteFunc(slices.Clone(candidates), func(c string) bool {
		return !strings.HasPrefix(strings.ToLower(c), strings.ToLower(word))
	})
}

// editDistance counts insertions, deletions, changes and swaps of neighbours (optimal string alignment). It takes
// O(len(a) * len(b)) time.
func editDistance(a, b []rune) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			changed := When(a[i-1] == b[j-1], 0, 1)
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+changed)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
