// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/mattn/go-runewidth"

	"example.org/ibconsole/internal/base/plain"
	"example.org/ibconsole/internal/base/prose"
)

// Cells determines the width of runes in cells. Terminals agree on this width, except for the runes that [Clean]
// escapes.
var Cells = &runewidth.Condition{StrictEmojiNeutral: true}

// Clean makes text safe for a line of cells. Tabs become blanks, and unprintable characters are escaped. Characters
// beyond ASCII are escaped if terminals disagree about their width, or if the argument ascii is set. Bubbles and
// lipgloss do not clean text.
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
		// The last letter may have combining marks.
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

// agreed reports whether all terminals show a cluster in the same way. It must be one letter with at most two marks,
// have the same width by counting clusters as by counting runes, and not join with the following characters.
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

// halfFlag reports whether a rune is half of a flag. The function selector reports whether a rune selects text style or
// emoji style. Terminals differ on both.
func halfFlag(r rune) bool { return r >= 0x1f1e6 && r <= 0x1f1ff }
func selector(r rune) bool { return r >= 0xfe00 && r <= 0xfe0f }

// escape writes text with all characters escaped except visible ASCII characters.
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

// Width returns the number of cells of clean text.
func Width(s string) int {
	if prose.Plain(s) {
		return len(s)
	}
	return runeCells(s)
}

// Skip removes the first w cells of clean text.
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

// Wrap breaks clean text at blanks into lines of at most w cells. A word longer than w is on a line of its own.
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

// Fold breaks clean text into lines of at most w cells, at blanks if possible. Unlike [Wrap] it keeps blanks. The later
// lines are indented by two cells more than the first.
func Fold(s string, w int) []string {
	s, w = strings.TrimRight(s, " "), max(w, 4)
	hang := Spaces(min(len(s)-len(strings.TrimLeft(s, " "))+2, w/2))
	var lines []string
	for indent := ""; ; indent = hang {
		room := w - len(indent)
		if Width(s) <= room {
			return append(lines, indent+s)
		}
		at := 0
		for i, r := range s {
			if room -= Cells.RuneWidth(r); room < 0 {
				at = i
				break
			}
		}
		if blank := strings.LastIndexByte(s[:at+1], ' '); strings.Trim(s[:max(blank, 0)], " ") != "" {
			at = blank
		}
		lines = append(lines, indent+strings.TrimRight(s[:at], " "))
		s = strings.TrimLeft(s[at:], " ")
	}
}

// Percent returns a share of 1 as "92 %".
func Percent(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }

// Times returns a ratio as "1.86x".
func Times(ratio float64) string { return fmt.Sprintf("%.2fx", ratio) }

// Done returns the part of a work that is done as "92 %". It returns 100 % only if all is done.
func Done[N int | int64](done, all N) string { return fmt.Sprintf("%d %%", 100*done/max(all, 1)) }

var blanks = strings.Repeat(" ", 128)

// Spaces returns n blanks.
func Spaces(n int) string {
	if n <= 0 {
		return ""
	}
	if n <= len(blanks) {
		return blanks[:n]
	}
	return strings.Repeat(" ", n)
}

// FirstWord returns the text before the first blank.
func FirstWord(s string) string {
	word, _, _ := strings.Cut(s, " ")
	return word
}

// Seconds returns a duration in words.
func Seconds(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}

// Btoi returns 1 for true.
func Btoi(b bool) int { return prose.When(b, 1, 0) }

// CountOrNone returns a number as text, or "" for 0.
func CountOrNone(n int) string {
	if n == 0 {
		return ""
	}
	return prose.Thousands(n)
}

// Age returns a duration as text that changes rarely: it counts seconds in steps of five.
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
