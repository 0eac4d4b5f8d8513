// SPDX-License-Identifier: Apache-2.0

package form

import (
	"fmt"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"

	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/shell/guided"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

// TestHostileText checks that control characters of questions and answers do not reach the terminal.
func TestHostileText(t *testing.T) {
	theme, err := draw.NewTheme("dark", termenv.TrueColor, draw.Environment(func(string) string {
		return "C.UTF-8"
	}).Glyphs(), nil)
	if err != nil {
		t.Fatal(err)
	}
	evil := "\x1b[2J\x1b]0;title\a\r\n\t\u202e\x9b"
	q := &guided.Question{
		Name: "name", Text: "Which" + evil + "?", Choices: []guided.Choice{
			{Value: "a" + evil, Text: strings.Repeat("long "+evil, 20)}, {Value: "b", Text: ""},
		},
	}
	for _, choices := range [][]guided.Choice{q.Choices, nil} {
		q.Choices = choices
		f := newField(theme, q, []string{draw.Clean(evil, false)}, evil, 40)
		for _, l := range f.lines(10) {
			p := draw.NewPen(theme, 40)
			p.Styled(l)
			got := ansi.Strip(p.Done())
			if ansi.StringWidth(got) != 40 || strings.ContainsFunc(got, func(r rune) bool {
				return r < 0x20 || r >= 0x7f && r < 0xa0
			}) {
				t.Errorf("%q is shown as %q", l, got)
			}
		}
		if text, ok := f.value(); choices != nil && (!ok || text != "a"+evil) {
			t.Errorf("the answer is %q", text)
		}
	}
}

func fields(t *testing.T) map[string]func() *field {
	t.Helper()
	theme, err := draw.NewTheme("dark", termenv.TrueColor, draw.Environment(func(string) string {
		return "C.UTF-8"
	}).Glyphs(), nil)
	if err != nil {
		t.Fatal(err)
	}
	q := guided.Question{Name: "name", Text: "Which?"}
	for i := range 40 {
		q.Choices = append(q.Choices, guided.Choice{Value: fmt.Sprintf("value-%d", i), Text: "zeta"})
	}
	text := guided.Question{Name: "name", Text: "Which?"}
	return map[string]func() *field{
		"choice": func() *field { return newField(theme, &q, []string{"why"}, "value-0", 40) },
		"text":   func() *field { return newField(theme, &text, []string{"why"}, "abc def", 40) },
	}
}

// TestAnyKeys checks that no sequence of keys makes a field panic. The first one selects a choice of none and then
// makes all choices match again; the others delete a word from its last character.
func TestAnyKeys(t *testing.T) {
	runes := func(s string) tea.KeyMsg { return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(s)} }
	r := testenv.Rand(t)
	for name, make := range fields(t) {
		sequences := [][]tea.KeyMsg{
			{runes("/"), runes("q"), runes("q"), {Type: tea.KeyUp}, {Type: tea.KeyCtrlW}, {Type: tea.KeyCtrlW},
				{Type: tea.KeyTab}},
			{{Type: tea.KeyLeft}, {Type: tea.KeyRunes, Runes: []rune{'d'}, Alt: true}},
			{{Type: tea.KeyLeft}, {Type: tea.KeyDelete, Alt: true}},
		}
		for range testenv.Count(t, 30, 3000) {
			var keys []tea.KeyMsg
			for range 12 {
				switch k := (tea.KeyMsg{Alt: r.IntN(6) == 0}); r.IntN(3) {
				case 0:
					k.Type = tea.KeyType(r.IntN(128))
					keys = append(keys, k)
				case 1:
					k.Type = tea.KeyRunes - tea.KeyType(r.IntN(60))
					k.Runes = []rune{' '}
					keys = append(keys, k)
				default:
					k.Type, k.Runes = tea.KeyRunes,
						[]rune([]string{"/", "/q", "q", "end", "k", "G", "zeta", "é日", "value-3", "d", "b"}[r.IntN(11)])
					keys = append(keys, k)
				}
			}
			sequences = append(sequences, keys)
		}
		for _, keys := range sequences {
			f := make()
			func() {
				defer func() {
					if v := recover(); v != nil {
						t.Fatalf("%s, keys %q: %v", name, keys, v)
					}
				}()
				for _, k := range keys {
					f.key(k)
					f.value()
					f.lines(10)
				}
			}()
		}
	}
}

// TestPaste checks that a paste is one update of huh, and has a limit.
func TestPaste(t *testing.T) {
	paste := func(n int) tea.KeyMsg {
		return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(strings.Repeat("v", n)), Paste: true}
	}
	of := fields(t)
	f := of["text"]()
	if why := f.key(paste(pane.MaxTyped)); why == "" {
		t.Error("a paste that is too long is accepted")
	}
	if text, _ := f.value(); text != "abc def" {
		t.Errorf("the answer has %d characters", len(text))
	}
	if why := f.key(paste(1000)); why != "" {
		t.Error(why)
	}
	if text, _ := f.value(); text != "abc def"+strings.Repeat("v", 1000) {
		t.Errorf("the answer has %d characters", len(text))
	}
	f = of["choice"]()
	if why := f.key(paste(5)); why == "" || f.finding() {
		t.Error("a paste is handled as keys")
	}
	f.key(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("/")})
	if why := f.key(paste(5000)); why == "" {
		t.Error("a paste that is too long is accepted")
	}
	n := testing.AllocsPerRun(1, func() { of["choice"]().key(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("/v")}) })
	if long := testing.AllocsPerRun(1, func() {
		f := of["choice"]()
		f.key(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("/")})
		f.key(paste(200))
	}); long > 3*n {
		t.Errorf("a paste of 200 characters takes %.0f allocations, one character %.0f", long, n)
	}
}
