// SPDX-License-Identifier: Apache-2.0

package form

import (
	"context"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/shell/guided"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

// figures are the results for the choices of a question. They are computed one after the other. The result for the
// selected choice is computed first.
type figures struct {
	of     string            // the name of the question
	texts  map[string]string // by choice
	doing  string            // the choice that is being computed, "" for none
	cancel context.CancelFunc
}

// figured is the result of a choice.
type figured struct{ of, choice, text string }

// figure starts computing the result for the selected choice. If that is known, it starts with the next choice.
func (f *Form) figure() tea.Cmd {
	if f.ctx.Err() != nil || f.q == nil || f.q.Figures == nil || f.field == nil {
		return nil
	}
	if f.figures.of != f.q.Name {
		f.figures = figures{of: f.q.Name, texts: map[string]string{}}
	}
	choice, selected := f.nextFigured()
	if choice == "" || f.figures.doing == choice || f.figures.doing != "" && !selected {
		return nil
	}
	if f.figures.cancel != nil {
		f.figures.cancel()
	}
	ctx, cancel := context.WithCancel(f.ctx)
	f.figures.doing, f.figures.cancel = choice, cancel
	find, of := f.q.Figures, f.figures.of
	f.common.Running++
	return func() tea.Msg {
		defer cancel()
		text, err := pane.Shielded(func() (string, error) { return find(ctx, choice) })
		switch {
		case ctx.Err() != nil:
			text = ""
		case err != nil:
			text = err.Error()
		}
		return Msg{form: f, figured: &figured{of, choice, text}}
	}
}

// nextFigured returns the choice whose result is to be computed next, or "" if there is none. The result selected is
// true if this is the selected choice.
func (f *Form) nextFigured() (choice string, selected bool) {
	now, ok := f.field.value()
	at := slices.IndexFunc(f.q.Choices, func(c guided.Choice) bool { return ok && c.Value == now })
	for i := range f.q.Choices {
		c := f.q.Choices[(max(at, 0)+i)%len(f.q.Choices)].Value
		if f.figures.texts[c] == "" {
			return c, i == 0
		}
	}
	return "", false
}

// figured stores the result for a choice, and starts computing the next one.
func (f *Form) figured(got *figured) tea.Cmd {
	if f.figures.of != got.of {
		return nil
	}
	if got.text != "" {
		f.figures.texts[got.choice] = got.text
	}
	if f.figures.doing == got.choice {
		f.figures.doing = ""
	}
	return f.figure()
}

// mostFigures is the maximum number of lines of figures. leastField is the minimum number of lines of the question
// above the figures.
const mostFigures, leastField = 3, 3

// figuresOf returns the result for the selected choice, in at most n lines of w cells.
func (f *Form) figuresOf(w, n int) []string {
	n = min(n, mostFigures)
	if f.q == nil || f.q.Figures == nil || f.field == nil || n <= 0 {
		return nil
	}
	choice, ok := f.field.value()
	switch text := f.figures.texts[choice]; {
	case !ok:
		return nil
	case text == "":
		return []string{choice + ": computing"}
	default:
		t := f.common.Look
		lines := draw.Wrap(draw.Clean(choice+": "+text, t.ASCII), w)
		if len(lines) > n {
			lines = lines[:n]
			lines[n-1] = draw.Cut(lines[n-1]+" "+t.Ellipsis+t.Ellipsis, w, t.Ellipsis)
		}
		return lines
	}
}
