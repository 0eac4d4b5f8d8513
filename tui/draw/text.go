// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/dustin/go-humanize"
	"github.com/mattn/go-runewidth"

	"example.org/ibconsole/internal/base/plain"
	"example.org/ibconsole/internal/base/prose"
)

// Cells says how wide runes are. Terminals agree on it but for what Clean escapes.
var Cells = &runewidth.Condition{StrictEmojiNeutral: true}

// Clean makes text safe for one line of cells: tabs become blanks, whatever is no printable character is
// escaped, and so is all beyond ASCII where terminals may disagree on its width or, with ascii, where they
// may not have it. Bubbles and lipgloss write what they are given.
func Clean(s string, ascii bool) string {
	if prose.Plain(s) {
		return s
	}
	s = strings.ReplaceAll(s, "\t", "    ")
	if ascii {
		s = strings.ReplaceAll(s, "µ", "u")
	}
	var b strings.Builder
	for s != "" {
		n := 0
		for n < len(s) && s[n] >= 0x20 && s[n] <= 0x7e {
			n++
		}
		// The last letter may have marks behind it.
		if n > 0 && n < len(s) {
			n--
		}
		b.WriteString(s[:n])
		if s = s[n:]; s == "" {
			break
		}
		cluster, wide := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
		if !ascii && agreed(cluster, wide) {
			b.WriteString(cluster)
		} else {
			escape(&b, cluster)
		}
		s = s[len(cluster):]
	}
	return b.String()
}

// agreed says that a cluster is one letter with at most two marks, that it is as wide in terminals that count
// clusters as in those that count runes, and that it joins nothing behind it.
func agreed(cluster string, wide int) bool {
	marks := 0
	for i, r := range cluster {
		switch {
		case r == utf8.RuneError, !unicode.IsPrint(r), halfFlag(r), selector(r):
			return false
		case i > 0 && Cells.RuneWidth(r) > 0, i == 0 && Cells.RuneWidth(r) == 0:
			return false
		case i > 0:
			marks++
		}
	}
	after, _ := ansi.FirstGraphemeCluster(cluster+"a", ansi.GraphemeWidth)
	return marks <= 2 && runeCells(cluster) == wide && after == cluster
}

// halfFlag: a rune is half of a flag; selector: it chooses between text and picture. Terminals differ on both.
func halfFlag(r rune) bool { return r >= 0x1f1e6 && r <= 0x1f1ff }
func selector(r rune) bool { return r >= 0xfe00 && r <= 0xfe0f }

// escape writes text with an escape for all that is not visible ASCII.
func escape(b *strings.Builder, s string) {
	for i := 0; i < len(s); {
		_, size := utf8.DecodeRuneInString(s[i:])
		if c := s[i]; c >= 0x20 && c <= 0x7e {
			b.WriteByte(c)
		} else {
			b.WriteString(plain.EscapeRune(s[i : i+size]))
		}
		i += size
	}
}

func runeCells(s string) int {
	n := 0
	for _, r := range s {
		n += Cells.RuneWidth(r)
	}
	return n
}

// Width is the number of cells of clean text.
func Width(s string) int {
	if prose.Plain(s) {
		return len(s)
	}
	return runeCells(s)
}

// Cut shortens clean text to at most w cells, the last of which is mark then.
func Cut(s string, w int, mark string) string {
	if len(s) <= w && prose.Plain(s) || Width(s) <= w {
		return s
	}
	if w <= 0 {
		return ""
	}
	room := w - 1
	for i, r := range s {
		if room -= Cells.RuneWidth(r); room < 0 {
			return s[:i] + mark
		}
	}
	return s
}

// Skip leaves out the first w cells of clean text.
func Skip(s string, w int) string {
	if w <= 0 {
		return s
	}
	if prose.Plain(s) {
		return s[min(w, len(s)):]
	}
	for i, r := range s {
		if w <= 0 && Cells.RuneWidth(r) > 0 {
			return strings.Repeat(" ", -w) + s[i:]
		}
		w -= Cells.RuneWidth(r)
	}
	return Spaces(-w)
}

// Wrap breaks clean text at blanks into lines of at most w cells, as far as the words allow.
func Wrap(s string, w int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(s) {
		if line != "" && Width(line)+1+Width(word) > w {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}

// Count is a number with its noun: "1 switch", "2 switches".
func Count(n int, noun string) string { return Thousands(n) + " " + prose.Noun(n, noun) }

// Thousands prints a number as "419,904".
func Thousands(n int) string { return humanize.Comma(int64(n)) }

const blanks = "                                                                                                                                "

// Spaces is n blanks.
func Spaces(n int) string {
	if n <= 0 {
		return ""
	}
	if n <= len(blanks) {
		return blanks[:n]
	}
	return strings.Repeat(" ", n)
}

// FirstWord is what stands before the first blank.
func FirstWord(s string) string {
	word, _, _ := strings.Cut(s, " ")
	return word
}

// Seconds is a time in words.
func Seconds(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}

// Btoi is 1 for true.
func Btoi(b bool) int { return prose.When(b, 1, 0) }

// CountOrNone is a number, "" for none.
func CountOrNone(n int) string {
	if n == 0 {
		return ""
	}
	return Thousands(n)
}

// Age is a time that has passed, in words that change now and then: seconds by fives.
func Age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds())/5*5)
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d d", int(d.Hours()/24))
}
