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

// Filter says which rows of a list are shown. As typed it is a text that rows
// hold, /REGEXP that they match or ~LETTERS that they hold in this order; ! before
// it turns it round. Case does not count. The zero value lets all through.
type Filter struct {
	Text   string // as typed
	want   string // in lower case
	re     *regexp.Regexp
	fuzzy  bool
	names  map[string]bool // in lower case: the row has to name one of them
	Invert bool
}

// OneOf lets rows through that name one of these things, or a port of it. Text is what was typed for it.
func OneOf(text string, names []string) Filter {
	f := Filter{Text: text, want: text, names: map[string]bool{}}
	for _, n := range names {
		f.names[strings.ToLower(n)] = true
	}
	return f
}

// ParseFilter fails only where a regular expression is none.
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

// lowerExpr makes an expression one for text in lower case. That is three times as
// quick as to let it fold cases, where that can be left out.
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

// Empty reports whether the filter lets all through.
func (f *Filter) Empty() bool { return f.want == "" }

// Plain reports whether the filter is a text that rows hold.
func (f *Filter) Plain() bool {
	return !f.Empty() && f.names == nil && f.re == nil && !f.fuzzy && !f.Invert
}

// Match reports whether any of the lower-case texts of a row fits.
func (f *Filter) Match(texts ...string) bool { return slices.ContainsFunc(texts, f.Hit) != f.Invert }

// Hit is match of one text without inversion.
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

// inOrder reports whether s holds the letters of want one after the other.
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

const manyRows = 512 // how many rows are worked on at a time

// each calls work with ranges that 0 to n-1 are cut into. Other processors help where they are free. Where
// they are busy nobody waits for them: what is computed beside the screen holds up no key. A panic of work becomes
// one of the caller.
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
			crash.Keep(func() { work(from, min(from+manyRows, n)) })
			wg.Done()
		}
	}
	for range min(runtime.GOMAXPROCS(0)-1, n/manyRows) {
		go take()
	}
	take()
	wg.Wait()
	crash.Again()
}

// Hits says which of the lower-case texts the filter hits, inversion left aside.
func (f *Filter) Hits(texts []string) []bool {
	out := make([]bool, len(texts))
	each(len(out), func(from, to int) {
		for i := from; i < to; i++ {
			out[i] = f.Hit(texts[i])
		}
	})
	return out
}
