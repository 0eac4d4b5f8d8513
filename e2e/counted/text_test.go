// SPDX-License-Identifier: Apache-2.0

package counted

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// text is an answer for people, line by line, with a mark for lines that were parsed.
type text struct {
	lines []string
	known []bool
}

func readText(s string) *text {
	t := &text{}
	for line := range strings.Lines(s) {
		t.lines = append(t.lines, strings.TrimRight(line, " \n"))
	}
	t.known = make([]bool, len(t.lines))
	return t
}

// next finds the first unparsed line that has a form, and returns the values of its places, nil if there is none.
func (t *text) next(form string) map[string]string {
	for i, line := range t.lines {
		if t.known[i] {
			continue
		}
		if m := match(form, line); m != nil {
			t.known[i] = true
			return m
		}
	}
	return nil
}

// all returns the matches of all lines of a form.
func (t *text) all(form string) (found []map[string]string) {
	for m := t.next(form); m != nil; m = t.next(form) {
		found = append(found, m)
	}
	return found
}

// rest returns the lines that were not parsed.
func (t *text) rest() (lines []string) {
	for i, line := range t.lines {
		if !t.known[i] {
			lines = append(lines, line)
		}
	}
	return lines
}

var (
	forms = map[string]*regexp.Regexp{}
	place = regexp.MustCompile(`\{[^{}]*\}`)
)

// match compares a line with a form. In a form {name} stands for text, {name#} for a whole number, {name%} for a
// decimal one, {|one|many} for one of several words, {|+} for spaces, and (s) for an s or nothing.
func match(form, line string) map[string]string {
	re := forms[form]
	if re == nil {
		re = compile(form)
		forms[form] = re
	}
	m := re.FindStringSubmatch(line)
	if m == nil {
		return nil
	}
	found := map[string]string{}
	for i, key := range places(form) {
		found[key] = m[i+1]
	}
	return found
}

// places returns the names of the places of a form, in order.
func places(form string) (names []string) {
	for _, p := range place.FindAllString(form, -1) {
		if name := strings.TrimRight(p[1:len(p)-1], "#%"); !strings.HasPrefix(name, "|") {
			names = append(names, name)
		}
	}
	return names
}

func compile(form string) *regexp.Regexp {
	var b strings.Builder
	b.WriteString("^")
	rest := form
	literal := func(s string) {
		s = strings.ReplaceAll(regexp.QuoteMeta(s), regexp.QuoteMeta("(s)"), "s?")
		b.WriteString(strings.ReplaceAll(s, regexp.QuoteMeta("(es)"), "(?:es)?"))
	}
	for {
		at := place.FindStringIndex(rest)
		if at == nil {
			break
		}
		literal(rest[:at[0]])
		switch name := rest[at[0]+1 : at[1]-1]; {
		case name == "|+":
			b.WriteString(" *")
		case strings.HasPrefix(name, "|"):
			b.WriteString("(?:" + name[1:] + ")")
		case strings.HasSuffix(name, "#"):
			b.WriteString(`(-?\d[\d,]*)`)
		case strings.HasSuffix(name, "%"):
			b.WriteString(`(-?\d+\.\d+)`)
		default:
			b.WriteString("(.+?)")
		}
		rest = rest[at[1]:]
	}
	literal(rest)
	return regexp.MustCompile(b.String() + "$")
}

func isNumber(s string) bool {
	_, err := strconv.Atoi(s)
	return err == nil
}

func number(n int) string { return strconv.Itoa(n) }

// thousands returns a number with separators of thousands.
func thousands(n int) string {
	if n < 1000 {
		return number(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}
