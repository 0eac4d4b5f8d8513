// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"example.org/ibconsole/internal/base/parallel"
	"example.org/ibconsole/internal/base/prose"
)

// Filter selects rows of a list. The typed text is one of these forms; ! before it inverts the filter:
//
//   - TEXT selects rows that contain the text
//   - /REGEXP selects rows that match the regular expression
//   - ~LETTERS selects rows that contain the letters in this order
//
// Case is ignored. The zero value selects all rows.
type Filter struct {
	Text   string // as typed
	want   string // in lower case
	re     *regexp.Regexp
	fuzzy  bool
	names  map[string]bool // in lower case: the row must name one of these nodes
	Invert bool
}

// OneOf returns a filter for rows that name one of the given nodes, or a port of such a node. The argument text is the
// typed text.
func OneOf(text string, names []string) Filter {
	f := Filter{Text: text, want: text, names: map[string]bool{}}
	for _, n := range names {
		f.names[strings.ToLower(n)] = true
	}
	return f
}

// ParseFilter parses a typed filter. It returns an error only for an invalid regular expression.
func ParseFilter(text string) (Filter, error) {
	f := Filter{Text: text}
	rest, found := strings.CutPrefix(text, "!")
	f.Invert = found
	if letters, found := strings.CutPrefix(rest, "~"); found {
		f.fuzzy, rest = true, letters
	} else if expr, found := strings.CutPrefix(rest, "/"); found && expr != "" {
		re, err := regexp.Compile(lowerExpr(expr))
		if err != nil {
			return Filter{}, err
		}
		f.re = re
	}
	f.want = strings.ToLower(rest)
	if f.want == "" || f.want == "/" {
		f.want, f.Invert = "", false
	}
	return f, nil
}

// lowerExpr converts a regular expression for matching text in lower case, if that is possible. Matching is then three
// times as fast as with (?i).
func lowerExpr(expr string) string {
	if !prose.Plain(expr) || strings.Contains(expr, `\p`) || strings.Contains(expr, `\P`) ||
		strings.Contains(expr, "[:") || strings.Contains(expr, "(?") {
		return "(?i)" + expr
	}
	b := []byte(expr)
	for i := range b {
		if b[i] >= 'A' && b[i] <= 'Z' && (i == 0 || b[i-1] != '\\') {
			b[i] += 'a' - 'A'
		}
	}
	return string(b)
}

// Empty reports whether the filter selects all rows.
func (f *Filter) Empty() bool { return f.want == "" }

// Plain reports whether the filter is a plain text, without inversion, regular expression or letters.
func (f *Filter) Plain() bool {
	return !f.Empty() && f.names == nil && f.re == nil && !f.fuzzy && !f.Invert
}

// Match reports whether the filter selects a row with the given texts. The texts must be in lower case.
func (f *Filter) Match(texts ...string) bool { return slices.ContainsFunc(texts, f.Hit) != f.Invert }

// Hit reports whether one text matches the filter. It ignores an inversion of the filter.
func (f *Filter) Hit(lower string) bool {
	switch {
	case f.names != nil:
		i := strings.LastIndexByte(lower, '/')
		return f.names[lower] || i > 0 && f.names[lower[:i]]
	case f.re != nil:
		return f.re.MatchString(lower)
	case f.fuzzy:
		return inOrder(lower, f.want)
	}
	return strings.Contains(lower, f.want)
}

// inOrder reports whether s contains the letters of want in this order.
func inOrder(s, want string) bool {
	for _, r := range want {
		i := strings.IndexRune(s, r)
		if i < 0 {
			return false
		}
		s = s[i+utf8.RuneLen(r):]
	}
	return true
}

const manyRows = 512 // how many rows a goroutine takes at a time

// A call of each runs the function work with ranges that together cover 0 to n-1. Idle processors take some of the
// ranges; the caller does not wait for busy processors. If a call of the function work panics, each panics, too.
func each(n int, work func(from, to int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	var crash parallel.Crash
	wg.Add((n + manyRows - 1) / manyRows)
	take := func() {
		for {
			from := int(next.Add(manyRows)) - manyRows
			if from >= n {
				return
			}
			crash.Recover(func() { work(from, min(from+manyRows, n)) })
			wg.Done()
		}
	}
	for range min(runtime.GOMAXPROCS(0)-1, n/manyRows) {
		go take()
	}
	take()
	wg.Wait()
	crash.Repanic()
}

// Hits reports for each text whether it matches the filter. The texts must be in lower case. Hits ignores an inversion
// of the filter.
func (f *Filter) Hits(texts []string) []bool {
	out := make([]bool, len(texts))
	each(len(out), func(from, to int) {
		for i := from; i < to; i++ {
			out[i] = f.Hit(texts[i])
		}
	})
	return out
}
