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

// statusLine draws the line that is being typed. If there is none, it draws the last message and the trail.
func (v *view) statusLine(w int) string {
	t := v.m.Look
	p := draw.NewPen(t, w)
	if v.m.prompt.typed != nil {
		p.Put(t.Key, v.m.prompt.typed.label)
		if v.m.prompt.typed.note || v.m.status.bad {
			p.Keeping(min(draw.Width(v.m.status.text)+2, p.Left/2), func() { v.m.prompt.typed.draw(p); p.Gap(p.Left) })
			p.Put(t.Bad, v.m.status.text)
		} else {
			v.m.prompt.typed.draw(p)
		}
		return p.Done()
	}
	if v.m.status.bad {
		p.Put(t.Bad, "! "+v.m.status.text)
	} else {
		p.Gap(1)
		p.Put(prose.When(v.m.status.warned, t.Warn, ""), v.m.status.text)
	}
	if crumbs := v.crumbs(p.Left - 3); crumbs != "" && v.m.pages.over == nil {
		p.Gap(p.Left - draw.Width(crumbs) - 1)
		p.Put(t.Dim, crumbs)
	}
	return p.Done()
}

// footer lists the keys that can be used at present.
func (v *view) footer(w int) string {
	p := draw.NewPen(v.m.Look, w)
	p.Gap(1)
	var list []hint
	switch over := v.m.pages.over.(type) {
	case nil:
		if list = v.keyHints(); v.m.prompt.typed != nil {
			list = v.m.prompt.typed.hints
		}
	case *helpPage:
		if v.m.prompt.typed != nil {
			list = v.m.prompt.typed.hints
			break
		}
		list = []hint{{"/", "find", nil}}
		if over.columns() > over.Cursor {
			list = append(list, hint{"?", "columns", nil})
		}
		list = append(list, v.keyed(tea.KeyEnter, "run", tea.KeyUp, "move", tea.KeyEsc, "close")...)
	case *form.Form:
		list = v.keyed(tea.KeyShiftTab, "back", tea.KeyEnter, "answer", tea.KeyEsc, "cancel")
		if over.Chooses() {
			list = append([]hint{{v.m.Look.Up + v.m.Look.Down, "choose", nil}, {"/", "find", nil}}, list...)
		} else if over.Browses() {
			list = append([]hint{{v.m.Look.Up + v.m.Look.Down, "choose", nil}},
				append(v.keyed(tea.KeyTab, "complete"), list...)...)
		}
	case *commitPage:
		list = v.pageHints(over.Page)
		letter := func(r rune) func() tea.Cmd {
			return func() tea.Cmd { return v.m.key(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}}) }
		}
		switch {
		case over.whyNotWritten() == "":
			list = append([]hint{{"y", "write it", letter('y')}}, list...)
		case !v.m.st.WriteOn && over.Ready && over.no == "":
			list = append([]hint{{"w", "allow writing", letter('w')}}, list...)
		}
	case *writePage:
		if list = v.pageHints(over.Page); over.end == nil {
			list = []hint{
				{"Esc", "interrupt", func() tea.Cmd { v.m.jobs.cancel(); return nil }},
				{"1 to 9", "panes, the commit continues", nil},
			}
		}
	case *page.Page:
		list = v.pageHints(over)
	case *welcomePage:
		list = v.pageHints(over.Page)
	}
	v.hints(p, list...)
	return p.Done()
}

// pageHints returns the keys of a page.
func (v *view) pageHints(p *page.Page) []hint {
	var list []hint
	if p.More() {
		list = v.keyed(tea.KeyPgDown, "more")
	}
	if p.Scrolls() {
		list = append(list, v.keyed(tea.KeyUp, "move")...)
	}
	return append(list, v.keyed(tea.KeyEsc, "close")...)
}

// hints writes keys with their descriptions. It always writes the last two, and as many of the others as fit. The help
// of bubbles formats each hint. It does not select the hints, because it would leave out the last ones and does not
// report positions for the mouse.
func (v *view) hints(p *draw.Pen, list ...hint) {
	size := func(h hint) int { return draw.Width(h.key) + draw.Width(h.word) + 3 }
	write := func(h hint) {
		from := v.m.width - p.Left
		p.Styled(v.hintText(p.Theme, h))
		if h.click != nil {
			v.m.mouse.zoneAt(v.m.height-1, from, v.m.width-p.Left, h.click)
		}
		p.Gap(2)
	}
	first, last := list[:max(len(list)-2, 0)], list[max(len(list)-2, 0):]
	left := p.Left + 2 // no gap after the last
	for _, h := range last {
		left -= size(h)
	}
	for _, h := range first {
		if left -= size(h); left < 0 {
			break
		}
		write(h)
	}
	for _, h := range last {
		write(h)
	}
}

// keyHints returns hints for the keys that can be used at present. The last two are for help and to quit.
func (v *view) keyHints() []hint {
	var list []*pane.Action
	for i := range v.m.actions {
		if a := &v.m.actions[i]; a.Label != "" && len(a.Keys()) > 0 && v.m.reason(a) == "" {
			list = append(list, a)
		}
	}
	slices.SortStableFunc(list, func(a, b *pane.Action) int { return cmp.Compare(a.Rank, b.Rank) })
	var out []hint
	escape := func() tea.Cmd { return escape(v.m) }
	switch {
	case !v.m.pane().Base().Filt.Empty():
		out = append(out, hint{"Esc", "show all", escape})
	case v.m.leave >= 0:
		out = append(out, hint{"Esc", "back", escape})
	default:
		if _, word := v.m.pane().Escape(false); word != "" {
			out = append(out, hint{"Esc", word, escape})
		}
	}
	for _, a := range list {
		out = append(out, hint{keyWord(&v.m.Look.Glyphs, a), v.label(a), func() tea.Cmd { return v.m.perform(a) }})
	}
	return out
}

// label returns the word of an action now.
func (v *view) label(a *pane.Action) string {
	switch {
	case a.Name == "fail":
		if n := len(v.m.pane().Base().Marks); n > 0 {
			return fmt.Sprintf("fail %d", n)
		}
		if len(v.m.pane().Subject().With) > 0 {
			return "fail both"
		}
		commands, _ := failCommands(v.m)
		if words := strings.Fields(strings.Join(commands, "")); len(words) > 1 {
			return "fail " + words[1]
		}
	case a.Word != nil:
		return a.Word()
	case a.Name == "open":
		return cmp.Or(v.m.pane().About().Enter, a.Label)
	case a.Name == "by":
		t := v.m.pane().Base()
		return t.Kinds[(t.Kind+1)%len(t.Kinds)]
	}
	return a.Label
}

// hintText returns a hint in the format of the help of bubbles. The result is cached, because formatting 18 hints takes
// a tenth of the time of a frame.
func (v *view) hintText(t *draw.Theme, h hint) string {
	of := [...]string{string(t.Key), string(t.Hint), h.key, h.word}
	text, ok := v.hinted[of]
	if !ok {
		line := help.New()
		line.Styles.ShortKey, line.Styles.ShortDesc = draw.Lip(t.Key), draw.Lip(t.Hint)
		text = line.ShortHelpView([]key.Binding{key.NewBinding(key.WithKeys(h.key), key.WithHelp(h.key, h.word))})
		v.hinted[of] = text
	}
	return text
}

// crumbs returns the last stops of the trail, as many as fit into w cells.
func (v *view) crumbs(w int) string {
	tr := &v.m.trail
	if len(tr.spots) < 2 {
		return ""
	}
	var words []string
	for i := max(tr.at-3, 0); i < min(tr.at+2, len(tr.spots)); i++ {
		word := draw.Clean(tr.spots[i].label, v.m.Look.ASCII)
		if i == tr.at {
			word = "[" + draw.Clean(v.m.here().label, v.m.Look.ASCII) + "]"
		}
		words = append(words, draw.Cut(word, 24, v.m.Look.Ellipsis))
	}
	for len(words) > 1 && draw.Width(strings.Join(words, " "+v.m.Look.Prompt+" ")) > w {
		words = words[1:]
	}
	text := strings.Join(words, " "+v.m.Look.Prompt+" ")
	if draw.Width(text) > w {
		return ""
	}
	return text
}

// keyed returns hints for pairs of a key and its description. The key Up represents both Up and Down. The hint for this
// key cannot be clicked.
func (v *view) keyed(pairs ...any) []hint {
	var out []hint
	for i := 0; i < len(pairs); i += 2 {
		k := tea.KeyMsg{Type: pairs[i].(tea.KeyType)}
		h := hint{draw.PlainKeyName(k.String()), pairs[i+1].(string), func() tea.Cmd { return v.m.key(k) }}
		if k.Type == tea.KeyUp {
			h.key, h.click = v.m.Look.Up+v.m.Look.Down, nil
		}
		out = append(out, h)
	}
	return out
}
