// SPDX-License-Identifier: Apache-2.0

package prose

import "strings"

// Nearest returns the candidate that the user probably meant, or "" if there is none. It prefers the candidate with the
// fewest edits: a letter inserted, deleted or changed, or two neighbours swapped. At most one edit per three letters
// (rounded) is allowed. Otherwise it returns the first candidate that begins with word, if word has two or more
// letters. Case is ignored. Of equal candidates it returns the first.
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
	for _, c := range candidates {
		if strings.HasPrefix(strings.ToLower(c), string(w)) {
			return c
		}
	}
	return ""
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
