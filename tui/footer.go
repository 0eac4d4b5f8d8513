// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/bubbles/help"
	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/form"
	"example.org/ibconsole/tui/page"
	"example.org/ibconsole/tui/pane"
)

// statusLine is what is being typed, or what was said last and what was looked at.
func (m *model) statusLine(w int) string {
	t := m.Look
	p := draw.NewPen(t, w)
	if m.typed != nil {
		p.Put(t.Key, m.typed.label())
		if m.typed.note || m.status.bad {
			p.Keeping(min(draw.Width(m.status.text)+2, p.Left/2), func() { m.typed.draw(p); p.Gap(p.Left) })
			p.Put(t.Bad, m.status.text)
		} else {
			m.typed.draw(p)
		}
		return p.Done()
	}
	if m.status.bad {
		p.Put(t.Bad, "! "+m.status.text)
	} else {
		p.Gap(1)
		p.Put(prose.When(m.status.warned, t.Warn, ""), m.status.text)
	}
	if crumbs := m.crumbs(p.Left - 3); crumbs != "" && m.over == nil {
		p.Gap(p.Left - draw.Width(crumbs) - 1)
		p.Put(t.Dim, crumbs)
	}
	return p.Done()
}

// footer names the keys that do something where the keyboard is.
func (m *model) footer(w int) string {
	p := draw.NewPen(m.Look, w)
	p.Gap(1)
	var list []hint
	switch over := m.over.(type) {
	case nil:
		if list = m.keyHints(); m.typed != nil {
			list = m.typed.hints
		}
	case *helpPage:
		if m.typed != nil {
			list = m.typed.hints
			break
		}
		list = []hint{{"/", "find", nil}}
		if over.columns() > over.Cursor {
			list = append(list, hint{"?", "columns", nil})
		}
		list = append(list, m.keyed(tea.KeyEnter, "do it", tea.KeyUp, "move", tea.KeyEsc, "leave")...)
	case *form.Form:
		list = m.keyed(tea.KeyShiftTab, "back", tea.KeyEnter, "answer", tea.KeyEsc, "leave")
		if over.Chooses() {
			list = append([]hint{{m.Look.Up + m.Look.Down, "choose", nil}, {"/", "find", nil}}, list...)
		} else if over.Browses() {
			list = append([]hint{{m.Look.Up + m.Look.Down, "choose", nil}}, append(m.keyed(tea.KeyTab, "complete"), list...)...)
		}
	case *commitPage:
		list = m.pageHints(over.Page)
		letter := func(r rune) func() tea.Cmd {
			return func() tea.Cmd { return m.key(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}}) }
		}
		switch {
		case over.whyNotWritten() == "":
			list = append([]hint{{"y", "write it", letter('y')}}, list...)
		case !m.st.WriteOn && over.Ready && over.no == "":
			list = append([]hint{{"w", "allow writing", letter('w')}}, list...)
		}
	case *writePage:
		if list = m.pageHints(over.Page); over.end == nil {
			list = []hint{{"Esc", "interrupt", func() tea.Cmd { m.cancel(); return nil }}, {"1 to 9", "to the panes, it goes on", nil}}
		}
	case *page.Page:
		list = m.pageHints(over)
	case *welcomePage:
		list = m.pageHints(over.Page)
	}
	m.hints(p, list...)
	return p.Done()
}

// pageHints are the keys that work on a page now.
func (m *model) pageHints(p *page.Page) []hint {
	var list []hint
	if p.More() {
		list = m.keyed(tea.KeyPgDown, "more")
	}
	if p.Scrolls() {
		list = append(list, m.keyed(tea.KeyUp, "move")...)
	}
	return append(list, m.keyed(tea.KeyEsc, "leave")...)
}

// hints writes keys and what they do, the last two always, of the others as many as fit.
// The help of bubbles writes them one by one: by itself it leaves out the last ones, and
// does not say where each stands, for the mouse.
func (m *model) hints(p *draw.Pen, list ...hint) {
	size := func(h hint) int { return draw.Width(h.key) + draw.Width(h.word) + 3 }
	write := func(h hint) {
		from := m.width - p.Left
		p.Styled(m.hintText(p.Theme, h))
		if h.click != nil {
			m.zoneAt(m.height-1, from, m.width-p.Left, h.click)
		}
		p.Gap(2)
	}
	first, last := list[:max(len(list)-2, 0)], list[max(len(list)-2, 0):]
	room := p.Left + 2 // nothing comes behind the last
	for _, h := range last {
		room -= size(h)
	}
	for _, h := range first {
		if room -= size(h); room < 0 {
			break
		}
		write(h)
	}
	for _, h := range last {
		write(h)
	}
}

// keyHints are the keys that can be pressed now; the last two are those for help and to quit.
func (m *model) keyHints() []hint {
	var list []*pane.Action
	for i := range m.actions {
		if a := &m.actions[i]; a.Label != "" && len(a.Keys()) > 0 && m.reason(a) == "" {
			list = append(list, a)
		}
	}
	slices.SortStableFunc(list, func(a, b *pane.Action) int { return cmp.Compare(a.Rank, b.Rank) })
	var out []hint
	escape := func() tea.Cmd { return m.escape() }
	switch {
	case !m.pane().Base().Filt.Empty():
		out = append(out, hint{"Esc", "show all", escape})
	case m.leave >= 0:
		out = append(out, hint{"Esc", "back", escape})
	default:
		if _, word := m.pane().Escape(false); word != "" {
			out = append(out, hint{"Esc", word, escape})
		}
	}
	for _, a := range list {
		out = append(out, hint{keyWord(&m.Look.Glyphs, a), m.label(a), func() tea.Cmd { return m.perform(a) }})
	}
	return out
}

// label is what the footer calls an action now.
func (m *model) label(a *pane.Action) string {
	switch {
	case a.Name == "fail":
		if n := len(m.pane().Base().Marks); n > 0 {
			return fmt.Sprintf("fail %d", n)
		}
		if len(m.pane().Subject().With) > 0 {
			return "fail both"
		}
		commands, _ := m.failCommands()
		if words := strings.Fields(strings.Join(commands, "")); len(words) > 1 {
			return "fail " + words[1]
		}
	case a.Word != nil:
		return a.Word()
	case a.Name == "open":
		return cmp.Or(m.pane().About().Enter, a.Label)
	case a.Name == "by":
		t := m.pane().Base()
		return t.Kinds[(t.Kind+1)%len(t.Kinds)]
	}
	return a.Label
}

// hintText is a hint as the help of bubbles writes it. It is kept: 18 anew would take a tenth of the frame.
func (m *model) hintText(t *draw.Theme, h hint) string {
	of := [...]string{string(t.Key), string(t.Hint), h.key, h.word}
	text, ok := m.hinted[of]
	if !ok {
		line := help.New()
		line.Styles.ShortKey, line.Styles.ShortDesc = draw.Lip(t.Key), draw.Lip(t.Hint)
		text = line.ShortHelpView([]key.Binding{key.NewBinding(key.WithKeys(h.key), key.WithHelp(h.key, h.word))})
		m.hinted[of] = text
	}
	return text
}
