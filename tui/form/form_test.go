// SPDX-License-Identifier: Apache-2.0

package form

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"

	"example.org/ibconsole/shell/guided"
	"example.org/ibconsole/tui/draw"
)

// TestHostileText: what a question and its answers hold does not reach the terminal as it
// is.
func TestHostileText(t *testing.T) {
	theme, err := draw.NewTheme("dark", termenv.TrueColor, draw.Environment(func(string) string { return "C.UTF-8" }).Glyphs())
	if err != nil {
		t.Fatal(err)
	}
	evil := "\x1b[2J\x1b]0;title\a\r\n\t\u202e\x9b"
	q := &guided.Question{Name: "name", Text: "Which" + evil + "?", Choices: []guided.Choice{{Value: "a" + evil, Text: strings.Repeat("long "+evil, 20)}, {Value: "b", Text: ""}}}
	for _, choices := range [][]guided.Choice{q.Choices, nil} {
		q.Choices = choices
		f := newField(theme, q, []string{draw.Clean(evil, false)}, evil, 40)
		for _, l := range f.lines(10) {
			p := draw.NewPen(theme, 40)
			p.Styled(l)
			got := ansi.Strip(p.Done())
			if ansi.StringWidth(got) != 40 || strings.ContainsFunc(got, func(r rune) bool { return r < 0x20 || r >= 0x7f && r < 0xa0 }) {
				t.Errorf("%q is shown as %q", l, got)
			}
		}
		if text, ok := f.value(); choices != nil && (!ok || text != "a"+evil) {
			t.Errorf("the answer is %q", text)
		}
	}
}
