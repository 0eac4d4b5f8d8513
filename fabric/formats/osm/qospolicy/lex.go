// SPDX-License-Identifier: Apache-2.0

package qospolicy

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// kind is the kind of a token. It is one of the following constants, or the kind of a keyword in [keywords].
type kind string

const (
	atEnd  kind = "the end of the file"
	text   kind = "text"
	number kind = "a number"
	dash   kind = "-"
	colon  kind = ":"
	comma  kind = ","
	star   kind = "*"
)

// token is a token with its text and the number of the line on which it ends.
type token struct {
	kind
	text string
	line int
}

// mode determines how the lexer interprets the rest of a line. Several modes may be set.
type mode uint8

const (
	inDescription mode = 1 << iota // everything is text
	inNodeTypes                    // words for node types are keywords
	inStrings                      // a list of strings: everything except commas and keywords is text
	inString                       // the same for one string
)

// keyword is a word that the lexer finds anywhere, even within a longer word.
type keyword struct {
	kind
	word string
	fold bool   // in any case
	then string // a second word after a comma, "" for none
	ends bool   // a colon follows
	mode mode   // set for the rest of the line
}

// keywords lists the keywords in the order in which OpenSM tries them. The longest match counts (osm_qos_parser_l.l).
var keywords = slices.Concat(sections("qos-ulps", "port-groups", "port-group", "qos-setup", "vlarb-tables",
	"vlarb-scope", "sl2vl-tables", "sl2vl-scope", "qos-levels", "qos-level", "qos-match-rules", "qos-match-rule"),
	entries(0, "port-guid", "vlarb-high", "vlarb-low", "vl-high-limit", "to", "from", "sl2vl-table", "sl", "mtu-limit",
		"rate-limit", "packet-life", "path-bits", "qos-class", "service-id", "pkey"),
	entries(inStrings, "port-name", "group", "across-to", "across-from", "across", "source", "destination"),
	entries(inString, "partition", "name", "qos-level-name"), entries(inNodeTypes, "node-type"),
	entries(inDescription, "use"),
	nodeTypes("ROUTER", "CA", "SWITCH", "SELF", "ALL"),
	protocol("default", true), protocol("any", false, "service-id", "pkey", "target-port-guid", "source-port-guid",
		"source-target-port-guid"), protocol("sdp", true, "port-num"), protocol("rds", true, "port-num"),
	protocol("iser", true, "port-num"), protocol("srp", false, "target-port-guid"), protocol("ipoib", true, "pkey"))

// end returns the keyword that ends a section.
func end(section kind) kind { return "end-" + section }

func sections(names ...string) (all []keyword) {
	for _, n := range names {
		all = append(all, keyword{kind: kind(n), word: n}, keyword{kind: end(kind(n)), word: "end-" + n})
	}
	return all
}

func entries(m mode, names ...string) (all []keyword) {
	for _, n := range names {
		all = append(all, keyword{kind: kind(n + ":"), word: n, ends: true, mode: m})
	}
	return all
}

func nodeTypes(names ...string) (all []keyword) {
	for _, n := range names {
		all = append(all, keyword{kind: kind(n), word: n, fold: true})
	}
	return all
}

// protocol returns the keywords of an upper-layer protocol. A keyword is the name followed by one of the second words.
// If the argument alone is set, the name followed by a colon is a keyword, too.
func protocol(name string, alone bool, second ...string) (all []keyword) {
	if alone {
		all = append(all, keyword{kind: kind(name + ":"), word: name, fold: true, ends: true})
	}
	for _, s := range second {
		all = append(all, keyword{kind: kind(name + ", " + s), word: name, fold: true, then: s})
	}
	return all
}

// match returns the number of bytes at the beginning of s that match the keyword, 0 if they do not match.
func (k *keyword) match(s string) int {
	n := len(k.word)
	if len(s) < n || s[:n] != k.word && (!k.fold || !strings.EqualFold(s[:n], k.word)) {
		return 0
	}
	if k.then != "" {
		n += separator(s[n:], ',')
		if n == len(k.word) || !strings.HasPrefix(s[n:], k.then) {
			return 0
		}
		return n + len(k.then)
	}
	if k.ends {
		before := n
		if n += separator(s[n:], ':'); n == before {
			return 0
		}
	}
	return n
}

// separator returns the length of the character c, with the blanks around it, at the beginning of s. It returns 0 if s
// begins with another character.
func separator(s string, c byte) int {
	n := blanks(s)
	if n == len(s) || s[n] != c {
		return 0
	}
	return n + 1 + blanks(s[n+1:])
}

func blanks(s string) int { return len(s) - len(strings.TrimLeft(s, " \t")) }

// lexer splits a policy into tokens as OpenSM does.
type lexer struct {
	rest string
	line int
	mode mode
}

// next returns the next token.
func (l *lexer) next() token {
	for l.rest != "" {
		n, t := l.longest()
		piece := l.rest[:n]
		l.rest = l.rest[n:]
		l.line += strings.Count(piece, "\n")
		if t.kind == "" { // blanks, comments and ends of lines
			if strings.HasSuffix(piece, "\n") {
				l.mode = 0
			}
			continue
		}
		t.text, _, _ = strings.Cut(t.text, "\x00")
		t.line = l.line
		return t
	}
	return token{kind: atEnd, line: l.line}
}

// longest returns the longest token at the beginning of the rest, and its length. Blanks, comments and line ends are
// tokens without a kind.
func (l *lexer) longest() (n int, t token) {
	s := l.rest
	switch c := s[0]; c {
	case '#':
		if end := strings.IndexByte(s, '\n'); end >= 0 {
			return end + 1, t
		}
	case '\n':
		return 1, t
	case ' ', '\t':
		n = blanks(s)
		if n < len(s) && s[n] == '\n' {
			return n + 1, t
		}
		if l.mode&inDescription != 0 {
			t = token{kind: text, text: s[:n]}
		}
		return n, t
	case '"':
		if end := strings.IndexByte(s[1:], '"'); end >= 0 {
			return end + 2, token{kind: text, text: s[1 : end+1]}
		}
	case '-', ':', ',', '*':
		t = token{kind: kind(s[:1]), text: s[:1]}
		if plain := inDescription | inStrings | inString; l.mode&inDescription != 0 || c != ',' && l.mode&plain != 0 {
			t.kind = text
		}
		return 1, t
	}
	if n = digits(s); n > 0 {
		t = token{kind: number, text: s[:n]}
		if l.mode&(inDescription|inStrings|inString) != 0 {
			t.kind = text
		}
		return n, t
	}
	var found *keyword
	for i := range keywords {
		if m := keywords[i].match(s); m > n {
			n, found = m, &keywords[i]
		}
	}
	switch {
	case found == nil:
		return 1, token{kind: text, text: s[:1]}
	case isNodeType(found.kind):
		if l.mode&inNodeTypes == 0 {
			return n, token{kind: text, text: s[:n]}
		}
	case l.mode&inDescription != 0:
		return n, token{kind: text, text: s[:n]}
	}
	l.mode |= found.mode
	return n, token{kind: found.kind, text: s[:n]}
}

func isNodeType(k kind) bool { _, ok := typesOf[k]; return ok }

// digits returns the length of the number at the beginning of s, 0 if there is none.
func digits(s string) int {
	n := len(s) - len(strings.TrimLeft(s, "0123456789"))
	if n == 1 && len(s) > 2 && s[0] == '0' && s[1]|0x20 == 'x' {
		if hex := len(s[2:]) - len(strings.TrimLeft(s[2:], "0123456789abcdefABCDEF")); hex > 0 {
			return 2 + hex
		}
	}
	return n
}

// value returns the value of a number like C's strtoull with base 0. The number is octal after 0. If it is too large,
// the value is the largest number.
func value(s string) uint64 {
	base := 10
	switch {
	case len(s) > 2 && s[1]|0x20 == 'x':
		s, base = s[2:], 16
	case s[0] == '0':
		base = 8
		s = s[:len(s)-len(strings.TrimLeft(s, "01234567"))]
	}
	if n, err := strconv.ParseUint(s, base, 64); err == nil {
		return n
	}
	return math.MaxUint64
}
