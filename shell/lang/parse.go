// SPDX-License-Identifier: Apache-2.0

package lang

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"example.org/ibconsole/internal/base/plain"
)

// Statement is one command with its words, as written.
type Statement struct {
	Words []string // without quoting, at least one
	Line  int      // of its first word, counted from 1
	Text  string   // as written, from the first word to the last

	// literal reports, for each word, whether a quote precedes its first unquoted '='. A nil slice means false for all
	// words.
	literal []bool
}

// SyntaxError is returned for a text that cannot be split into statements.
type SyntaxError struct {
	Name   string // of the text, such as a file
	Line   int    // counted from 1
	Reason string
}

// Error returns the name of the text, the line and the reason, escaped.
func (e *SyntaxError) Error() string {
	return plain.EscapeLine(fmt.Sprintf("%s:%d: %s", e.Name, e.Line, e.Reason))
}

// Parse splits text into statements. Blanks separate words; newlines and ';' separate statements. Quoting is that of a
// POSIX shell (POSIX.1-2017, XCU 2.2): backslash, single quotes, double quotes. A backslash at the end of a line joins
// the line with the next line. '#' at the start of a word begins a comment. Nothing is expanded. Lines may end in CR
// LF, and a byte order mark is skipped. An error is a *SyntaxError; Parse then returns no statements. The time is
// linear in the length of the text.
func Parse(name, text string) ([]Statement, error) {
	var statements []Statement
	var current Statement
	start, end := 0, 0
	l := newLexer(text)
	for {
		t := l.next()
		if t.kind == tokenWord {
			if err := unclosed(name, t); err != nil {
				return nil, err
			}
			if len(current.Words) == 0 {
				current.Line, start = t.line, t.start
			}
			current.add(t)
			end = t.end
			continue
		}
		if len(current.Words) > 0 {
			current.Text = text[start:end]
			statements = append(statements, current)
			current = Statement{}
		}
		if t.kind != tokenSeparator {
			return statements, nil
		}
	}
}

// NewStatement returns the statement of separate words, such as the arguments of a program. The words from the index
// literal on are arguments even if they have the form of options.
func NewStatement(words []string, literal int) Statement {
	var s Statement
	var text []string
	for i, word := range words {
		s.add(token{value: word, literal: i >= literal})
		name, value, hasValue := strings.Cut(word, "=")
		switch isOption := i < literal && isName(strings.TrimPrefix(name, optionDashes)); {
		case isOption && hasValue:
			text = append(text, name+"="+Quote(value))
		case isOption:
			text = append(text, word)
		default:
			text = append(text, Quote(word))
		}
	}
	s.Text = strings.Join(text, " ")
	return s
}

func (s *Statement) add(t token) {
	if t.literal && s.literal == nil {
		s.literal = make([]bool, len(s.Words), len(s.Words)+1)
	}
	s.Words = append(s.Words, t.value)
	if s.literal != nil {
		s.literal = append(s.literal, t.literal)
	}
}

// Behind returns the statement without its first words. Each statement must have at least one further word.
func (s Statement) Behind(words int) Statement {
	s.Words = s.Words[words:]
	s.literal = s.literal[min(words, len(s.literal)):]
	return s
}

func (s *Statement) isLiteral(word int) bool { return word < len(s.literal) && s.literal[word] }

func unclosed(name string, t token) error {
	switch t.open {
	case quoteNone:
		return nil
	case quoteBackslash:
		return &SyntaxError{name, t.opened, "nothing follows the backslash"}
	}
	return &SyntaxError{name, t.opened, "quote opened here is never closed"}
}

// Quote returns a text that Parse reads as the word. The text is not quoted if that is safe. A word that has the form
// of an option with a value or with dashes is quoted, so that Parse reads it as an argument.
func Quote(word string) string {
	switch {
	case word != "" && strings.IndexFunc(word, needsQuote) < 0 && !strings.HasPrefix(word, optionDashes):
		return word
	case !strings.Contains(word, "'"):
		return "'" + word + "'"
	}
	return `"` + escapeDouble(word) + `"`
}

// needsQuote reports whether a rune may have a special meaning in a POSIX shell or this language.
func needsQuote(r rune) bool {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
		return false
	case r > 0x7f && r != '\ufeff':
		return false
	}
	return !strings.ContainsRune("_-.,:/@%+", r)
}

func escapeDouble(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if strings.IndexByte(escapable, s[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

const maxPending = 1 << 20 // bounds a statement that continues over lines, in bytes

// Lines reads statements line by line and calls the function run with the statements of each line. A statement with
// open quotes, or whose line ends in a backslash, continues on the next line. Lines returns the first error of run. If
// the text ends inside a statement or a statement is too long, it returns a [*SyntaxError].
func Lines(r io.Reader, name string, run func([]Statement) error) error {
	in := bufio.NewReader(r)
	return Parts(func() (string, error) { return in.ReadString('\n') }, name, run)
}

// Parts is like [Lines] for a text that arrives in parts. Each call of the function next returns a part; the last part
// comes with [io.EOF]. Parts calls the function run once for all statements of a part. A part that ends inside a line
// or a statement is joined with the next part.
func Parts(next func() (string, error), name string, run func([]Statement) error) error {
	pending, first := "", 1
	for {
		part, err := next()
		ended := errors.Is(err, io.EOF)
		if err != nil && !ended {
			return fmt.Errorf("read %s: %w", name, err)
		}
		pending += part
		if !ended && !strings.HasSuffix(pending, "\n") {
			continue
		}
		stmts, perr := Parse(name, pending)
		open := perr != nil || strings.HasSuffix(strings.TrimRight(pending, "\r\n"), `\`)
		switch {
		case open && !ended && len(pending) < maxPending:
			continue
		case perr != nil:
			if syntax, ok := errors.AsType[*SyntaxError](perr); ok {
				syntax.Line += first - 1
			}
			return perr
		}
		for i := range stmts {
			stmts[i].Line += first - 1
		}
		if err := run(stmts); err != nil || ended {
			return err
		}
		first += strings.Count(pending, "\n")
		pending = ""
	}
}
