// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Escape makes a value (a name, a path, a word, the message of a library) safe to print within a line. It replaces
// control characters, format characters and bytes that are not UTF-8 by \x0a, \x1b, \u202e and the like, and doubles
// backslashes. Other text is returned unchanged.
func Escape(s string) string {
	return escape(s, func(r rune) bool { return r != '\\' && unicode.IsPrint(r) })
}

// EscapeLine is [Escape] for a complete line. It keeps backslashes.
func EscapeLine(s string) string { return escape(s, unicode.IsPrint) }

// EscapeText is [Escape] for a complete text. It keeps newlines, tabs and backslashes.
func EscapeText(s string) string { return escape(s, inText) }

// Escaped reports whether text can be printed in a line unchanged.
func Escaped(s string) bool { return kept(s, unicode.IsPrint) == len(s) }

func inText(r rune) bool { return r == '\n' || r == '\t' || unicode.IsPrint(r) }

// EscapeJSON is [Escape] for JSON text. It uses the escapes of JSON (RFC 8259, 7).
func EscapeJSON(text []byte) []byte {
	if n := kept(string(text), inText); n == len(text) {
		return text
	}
	out := make([]byte, 0, len(text)+16)
	for _, r := range string(text) {
		switch {
		case inText(r):
			out = utf8.AppendRune(out, r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	return out
}

// EscapeRune returns the escape of the first rune of s, or of its first byte if that is not UTF-8.
func EscapeRune(s string) string {
	r, size := utf8.DecodeRuneInString(s)
	switch {
	case r == utf8.RuneError && size <= 1, r < 0x20, r == 0x7f:
		return fmt.Sprintf(`\x%02x`, s[0])
	case r == '\\':
		return `\\`
	case r > 0xffff:
		return fmt.Sprintf(`\U%08x`, r)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

func escape(s string, keep func(rune) bool) string {
	n := kept(s, keep)
	if n == len(s) {
		return s
	}
	var b strings.Builder
	for s != "" {
		b.WriteString(s[:n])
		if s = s[n:]; s == "" {
			break
		}
		_, size := utf8.DecodeRuneInString(s)
		b.WriteString(EscapeRune(s[:size]))
		s = s[size:]
		n = kept(s, keep)
	}
	return b.String()
}

// The function kept returns the length of the longest prefix of s in which keep accepts every rune.
func kept(s string, keep func(rune) bool) int {
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 || !keep(r) {
			return i
		}
		i += size
	}
	return len(s)
}
