// SPDX-License-Identifier: Apache-2.0

package lang

import (
	"strings"

	"example.org/ibconsole/internal/base/prose"
)

// token is a word, a separator or the end of the text.
type token struct {
	kind  tokenKind
	value string // of a word, without its quoting
	start int    // byte offsets of the raw token in the text
	end   int
	line  int
	// literal is set if part of the word is quoted before its first unquoted '='. Such a word is not an option.
	literal bool
	open    quoting // quoting that is open at the end of the text
	opened  int     // the line on which it was opened
}

type tokenKind uint8

const (
	tokenEnd tokenKind = iota // of the text
	tokenWord
	tokenSeparator
	tokenComment // only where it reaches the end of the text
)

type quoting byte

const (
	quoteNone      quoting = 0
	quoteSingle    quoting = '\''
	quoteDouble    quoting = '"'
	quoteBackslash quoting = '\\'
)

// escapable are the characters that a backslash escapes between double quotes, in addition to the newline
// (POSIX.1-2017, XCU 2.2.3).
const escapable = "$`\"\\"

const byteOrderMark = "\ufeff"

type lexer struct {
	text string
	pos  int
	line int
}

func newLexer(text string) *lexer {
	l := &lexer{text: text, line: 1}
	if strings.HasPrefix(text, byteOrderMark) {
		l.pos = len(byteOrderMark)
	}
	return l
}

// The method next returns the token at or after pos. It takes time linear in the number of bytes read.
func (l *lexer) next() token {
	for l.pos < len(l.text) {
		switch c := l.text[l.pos]; {
		case c == ' ' || c == '\t' || c == '\r':
			l.pos++
		case l.atContinuation():
			l.skipContinuation()
		case c == '#':
			start := l.pos
			if n := strings.IndexByte(l.text[l.pos:], '\n'); n >= 0 {
				l.pos += n
				continue
			}
			l.pos = len(l.text)
			return token{kind: tokenComment, start: start, end: l.pos, line: l.line}
		case c == '\n' || c == ';':
			t := token{kind: tokenSeparator, start: l.pos, end: l.pos + 1, line: l.line}
			l.pos++
			if c == '\n' {
				l.line++
			}
			return t
		default:
			return l.word()
		}
	}
	return token{start: l.pos, end: l.pos, line: l.line}
}

// atContinuation reports whether the backslash at pos is at the end of a line.
func (l *lexer) atContinuation() bool {
	rest := l.text[l.pos:]
	return strings.HasPrefix(rest, "\\\n") || strings.HasPrefix(rest, "\\\r\n")
}

func (l *lexer) skipContinuation() {
	l.pos += strings.IndexByte(l.text[l.pos:], '\n') + 1
	l.line++
}

func (l *lexer) word() token {
	t := token{kind: tokenWord, start: l.pos, line: l.line}
	var b strings.Builder
	equals := false // the word has an unquoted '='
	for l.pos < len(l.text) {
		n := strings.IndexAny(l.text[l.pos:], " \t\r\n;'\"\\")
		if n < 0 {
			n = len(l.text) - l.pos
		}
		plain := l.text[l.pos : l.pos+n]
		l.pos += n
		equals = equals || strings.IndexByte(plain, '=') >= 0
		if b.Len() == 0 && !t.literal && l.atBlank() && t.start+n == l.pos {
			t.value, t.end = plain, l.pos
			return t
		}
		b.WriteString(plain)
		if l.atBlank() {
			break
		}
		if l.atContinuation() {
			l.skipContinuation()
			continue
		}
		t.literal = t.literal || !equals
		if t.open, t.opened = l.quoted(&b); t.open != quoteNone {
			break
		}
	}
	t.value, t.end = b.String(), l.pos
	return t
}

// atBlank reports whether pos is at a character that ends a word.
func (l *lexer) atBlank() bool {
	return l.pos == len(l.text) || strings.IndexByte(" \t\r\n;", l.text[l.pos]) >= 0
}

// quoted appends the text inside the quotes or after the backslash at pos. If the quoting is still open at the end of
// the text, it returns this quoting and the line on which it began.
func (l *lexer) quoted(b *strings.Builder) (quoting, int) {
	kind, line := quoting(l.text[l.pos]), l.line
	l.pos++
	closed := false
	switch kind {
	case quoteBackslash:
		if closed = l.pos < len(l.text); closed {
			b.WriteByte(l.text[l.pos])
			l.pos++
		}
	case quoteSingle:
		closed = l.upTo("'", b)
		l.pos += prose.When(closed, 1, 0)
	default:
		closed = l.doubleQuoted(b)
	}
	if closed {
		return quoteNone, line
	}
	return kind, line
}

func (l *lexer) doubleQuoted(b *strings.Builder) bool {
	for l.upTo("\"\\", b) {
		if l.atContinuation() {
			l.skipContinuation()
			continue
		}
		c := l.text[l.pos]
		l.pos++
		if c == '"' {
			return true
		}
		if l.pos < len(l.text) && strings.IndexByte(escapable, l.text[l.pos]) >= 0 {
			c = l.text[l.pos]
			l.pos++
		}
		b.WriteByte(c)
	}
	return false
}

// upTo appends the text before the first of chars, and moves to that character. If none of chars follows, it moves to
// the end of the text and returns false.
func (l *lexer) upTo(chars string, b *strings.Builder) bool {
	n := strings.IndexAny(l.text[l.pos:], chars)
	found := n >= 0
	if !found {
		n = len(l.text) - l.pos
	}
	passed := l.text[l.pos : l.pos+n]
	b.WriteString(passed)
	l.line += strings.Count(passed, "\n")
	l.pos += n
	return found
}
