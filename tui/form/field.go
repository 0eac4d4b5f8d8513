// SPDX-License-Identifier: Apache-2.0

package form

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/huh"
	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"

	"example.org/ibconsole/shell/guided"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

// field is a form of huh with a single question. It handles keys immediately, and does not run commands of huh.
type field struct {
	form   *huh.Form
	choose *huh.Select[string] // nil for free text
	answer string
	// filtered is the number of characters typed into filters.
	filtered int
	// selector is the text before the selected choice. The keys of shown are the choices in the form in which the
	// screen shows them.
	selector string
	shown    map[string]bool
	// seen are the lines that were drawn. The field top is the index of the first visible choice.
	seen []string
	top  int
}

// newField returns a field for a question, in lines of w cells. The argument answer is the initial answer. The lines in
// explain are shown below the question.
func newField(t *draw.Theme, q *guided.Question, explain []string, answer string, w int) *field {
	f := &field{answer: answer}
	title := draw.Clean(q.Text, t.ASCII)
	text := strings.Join(explain, "\n")
	var one huh.Field
	if len(q.Choices) > 0 {
		all := options(t, q.Choices, w)
		f.selector, f.shown = t.Glyphs.Cursor+" ", map[string]bool{}
		for _, o := range all {
			f.shown[strings.TrimSpace(o.Key)] = true
		}
		f.choose = huh.NewSelect[string]().Title(title).Description(text).Options(all...).Value(&f.answer)
		one = f.choose
	} else {
		one = huh.NewInput().Title(title).Description(text).Prompt(t.Prompt + " ").Value(&f.answer)
	}
	f.form = huh.NewForm(huh.NewGroup(one)).WithTheme(huhTheme(t)).WithShowHelp(false).WithShowErrors(
		false).WithWidth(w)
	f.form.Init()
	return f
}

// options returns the choices, each as one line of at most w cells.
func options(t *draw.Theme, choices []guided.Choice, w int) []huh.Option[string] {
	wide := 8
	for _, c := range choices {
		wide = max(wide, draw.Width(draw.Clean(c.Value, t.ASCII)))
	}
	out := make([]huh.Option[string], len(choices))
	for i, c := range choices {
		value := draw.Clean(c.Value, t.ASCII)
		line := value + draw.Spaces(wide-draw.Width(value)) + "  " + draw.Clean(c.Text, t.ASCII)
		out[i] = huh.NewOption(draw.Cut(line, max(w-3, 1), t.Ellipsis), c.Value)
	}
	return out
}

// maxFilter is the maximum number of characters in the filters of a choice. huh wraps them again for each frame.
const maxFilter = 256

// key passes a key press to huh. It returns the reason if the key is refused, otherwise "". Text that arrives at once
// is handled as one update.
func (f *field) key(k tea.KeyMsg) (refused string) {
	_, selected := f.value()
	switch text := (k.Type == tea.KeyRunes || k.Type == tea.KeySpace) && !k.Alt; {
	case k.Alt && (k.Type == tea.KeyRunes || k.Type == tea.KeyDelete):
		// textinput (bubbles v1.0.0) types the letter for Alt-x, and panics for Alt-D on the last character.
		return ""
	case f.finding() && !selected && slices.Contains(moves, k.Type):
		return "" // huh (v0.8.0, v1.0.0) selects choice -1 of none, and panics when there are some again
	case !text:
	case f.choose == nil:
		if utf8.RuneCountInString(f.answer)+len(k.Runes) > pane.MaxTyped {
			return pane.TooLong
		}
		k.Paste = true // key.Matches takes the letters "end" in one message for the key End
	case f.finding():
		if f.filtered += len(k.Runes); f.filtered > maxFilter {
			f.filtered -= len(k.Runes)
			return fmt.Sprintf("not typed: a filter holds up to %d characters", maxFilter)
		}
		k.Paste = true
	case k.Paste:
		return "a paste goes into the filter: press / first"
	default:
		for i, r := range k.Runes {
			if f.finding() {
				return f.key(tea.KeyMsg{Type: tea.KeyRunes, Runes: k.Runes[i:]})
			}
			f.form.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}})
		}
		return ""
	}
	f.form.Update(k)
	return ""
}

// moves are the keys of huh that move the selection even while a filter is being typed.
var moves = []tea.KeyType{tea.KeyUp, tea.KeyDown, tea.KeyCtrlK, tea.KeyCtrlJ, tea.KeyCtrlP, tea.KeyCtrlN, tea.KeyCtrlD}

// value returns the answer. It returns false if nothing is selected.
func (f *field) value() (string, bool) {
	if f.choose != nil {
		return f.choose.Hovered()
	}
	return f.answer, true
}

func (f *field) finding() bool { return f.choose != nil && f.choose.GetFiltering() }

// click selects the choice in a line of the field. It returns false if the line has no choice.
func (f *field) click(line int) bool {
	lines := f.seen
	at := slices.IndexFunc(lines, func(l string) bool { return f.choiceIn(l, f.selector) })
	if at < 0 || line < 0 || line >= len(lines) || line != at &&
		!f.choiceIn(lines[line], draw.Spaces(draw.Width(f.selector))) {
		return false
	}
	step := tea.KeyMsg{Type: tea.KeyDown}
	if line < at {
		step.Type = tea.KeyUp
	}
	for range max(line-at, at-line) {
		f.form.Update(step)
	}
	return true
}

// choiceIn reports whether a line shows a choice after a given prefix.
func (f *field) choiceIn(line, before string) bool {
	text, ok := strings.CutPrefix(line, before)
	return ok && f.shown[strings.TrimSpace(text)]
}

// lines returns up to n lines of the field, without empty lines at the end. If not all choices fit, it returns those
// around the selected choice.
func (f *field) lines(n int) []string {
	lines := strings.Split(f.form.View(), "\n")
	for len(lines) > 1 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	plain := strings.Split(ansi.Strip(strings.Join(lines, "\n")), "\n")
	first := slices.IndexFunc(plain, func(l string) bool {
		return f.choiceIn(l, f.selector) || f.choiceIn(l, draw.Spaces(draw.Width(f.selector)))
	})
	at := slices.IndexFunc(plain, func(l string) bool { return f.choiceIn(l, f.selector) })
	if fit := n - first; len(lines) > n && at >= 0 && fit > 0 {
		f.top = max(min(f.top, at, len(lines)-fit), at-fit+1, first)
		lines, plain = slices.Concat(lines[:first], lines[f.top:]), slices.Concat(plain[:first], plain[f.top:])
	}
	f.seen = plain[:min(n, len(plain))]
	return lines[:min(n, len(lines))]
}

func huhTheme(t *draw.Theme) *huh.Theme {
	h := huh.ThemeBase()
	plain := lipgloss.NewStyle()
	h.FieldSeparator = plain
	s := &h.Focused
	s.Base, s.Card = plain, plain
	s.Title, s.Description = draw.Lip(t.Strong), draw.Lip(t.Dim)
	s.SelectSelector = draw.Lip(t.Key).SetString(t.Glyphs.Cursor + " ")
	s.SelectedOption, s.UnselectedOption, s.Option = draw.Lip(t.Cursor), plain, plain
	s.TextInput = huh.TextInputStyles{Cursor: draw.Lip(t.Cursor), CursorText: plain, Placeholder: draw.Lip(t.Dim),
		Prompt: draw.Lip(t.Key), Text: plain}
	h.Blurred = *s
	return h
}
