// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

// header is the first line: which subnet, in which state, what runs or what
// there is. The state is never left out for want of room.
func (m *model) header(w int) string {
	t := m.theme
	st := &m.st
	badges := m.badges()
	need := 1
	if !st.WriteOn {
		need += len("read-only")
	}
	count := func() (cells int) {
		for _, b := range badges {
			cells += draw.BadgeWidth(b.Word) + 1
		}
		return cells
	}
	name := draw.Clean(st.Source.String(), t.Ascii)
	if need+count() > w {
		for i := range badges {
			badges[i].Word = badges[i].Short()
		}
		name = ""
	}
	need += count()
	right := m.busyText(w)
	if right == "" {
		right = m.counts(w, w-need-min(draw.Width(name), 16)-2)
	}
	if w >= need+draw.Width(name)+draw.Width(right)+20 {
		name = "ibconsole " + name
	}
	p := draw.NewPen(t, w)
	if name != "" {
		p.Put(t.Info, draw.Cut(name, max(w-need-draw.Width(right)-2, 10), t.Ellipsis))
		p.Gap(1)
	}
	for _, b := range badges {
		p.Badge(b.St, b.Word)
		p.Gap(1)
	}
	if !st.WriteOn {
		p.Put(t.Dim, "read-only ")
	}
	p.Gap(p.Left - draw.Width(right))
	p.Put(draw.When(st.Busy != "", t.Warn, t.Dim), right)
	return p.Done()
}

// tabs names all panes in a line, with the one that has the keyboard.
func (m *model) tabs(w int) string {
	t := m.theme
	p := draw.NewPen(t, w)
	for id, x := range m.all {
		about := x.About()
		name, end := digit(id)+" "+about.Name, " "
		switch {
		case w < tabsShort && id != m.focus:
			name = digit(id)
		case w >= tabsShort && w < tabsWide:
			name, end = digit(id)+" "+cmp.Or(about.Short, about.Name), ""
		}
		bad := x.Alarm() > 0
		if bad {
			name += "!"
		}
		from := w - p.Left
		switch {
		case id == m.focus && t.Name == "none":
			p.Put(t.Live, "["+name+"]")
		case id == m.focus:
			p.Put(t.Cursor, " "+name+" ")
		case bad:
			p.Put(t.Bad, " "+name+end)
		default:
			p.Put(draw.When(m.visible(id), t.Title, t.Dim), " "+name+end)
		}
		m.zoneAt(1, from, w-p.Left, func() tea.Cmd { return m.visit(id) })
	}
	return p.Done()
}

// tabsWide is how many cells the names of all panes take, tabsShort the short ones.
const tabsWide, tabsShort = 102, 78

func (m *model) badges() []draw.Badge {
	t := m.theme
	st := &m.st
	var out []draw.Badge
	if st.Source.Kind == session.SourceSim {
		out = append(out, draw.Badge{St: t.Simulated, Word: "SIMULATED"})
	}
	out = append(out, m.sc.StateBadges(t)...)
	if !m.frozen.IsZero() {
		out = append(out, draw.Badge{St: t.Frozen, Word: "FROZEN " + m.frozen.Format("15:04:05")})
	}
	if st.WriteOn {
		out = append(out, draw.Badge{St: t.Writing, Word: "WRITE ON"})
	}
	return out
}

// counts is what there is in the subnet that is shown, as much as fits.
func (m *model) counts(w, room int) string {
	ix := m.sc.Top
	down := ""
	if len(m.sc.Down) > 0 || w >= 100 {
		down = fmt.Sprintf(" %s down", draw.Thousands(len(m.sc.Down)))
	}
	if n := len(m.sc.Gone()); n > 0 {
		down = fmt.Sprintf(" %s failed", draw.Thousands(n)) + down
	}
	all := fmt.Sprintf("%s sw %s ca %s links", draw.Thousands(ix.Switches), draw.Thousands(ix.Hosts), draw.Thousands(ix.Links)) + down
	out := []string{all, strings.TrimSpace(down), ""}
	if w >= 140 && len(ix.Fabric.Nodes) > 0 {
		out = append([]string{"read " + m.sc.State.Live.When.Format("15:04:05") + "   " + all}, out...)
	}
	for _, text := range out {
		if draw.Width(text) <= room {
			return text
		}
	}
	return ""
}

// busyText says what runs and how far it is.
func (m *model) busyText(w int) string {
	st := &m.st
	t := m.theme
	name := st.Busy
	if name == counting && len(m.jobs) == 0 {
		name = ""
	}
	if name == "" && len(m.jobs) > 0 {
		name = draw.Clean(draw.FirstWord(m.jobs[len(m.jobs)-1].text), t.Ascii)
	}
	if name == "" {
		return ""
	}
	total := st.Total
	if _, step, of := strings.Cut(name, ": "); of && w < 100 { // "minhop, 2 of 9"
		name, total = step, 0
	}
	out := t.Spin[m.spin%len(t.Spin)] + " " + name
	if total > 0 && st.Busy != "" {
		out += fmt.Sprintf(" %s/%s", draw.Thousands(st.Done), draw.Thousands(st.Total))
		if w >= 100 {
			n := 10 * min(st.Done, st.Total) / st.Total
			out += " " + strings.Repeat(t.Full, n) + strings.Repeat(t.Glyphs.Empty, 10-n)
		}
		if text := m.pace.text(st, m.now()); text != "" && w >= 100 {
			out += " " + text
		}
	}
	if len(m.jobs) > 0 {
		if w >= 100 {
			out += " " + draw.Seconds(m.now().Sub(m.jobs[len(m.jobs)-1].started))
		}
		out += " Esc cancels"
	}
	return out
}

// statusLine is what is being typed, or what was said last and what was looked at.
func (m *model) statusLine(w int) string {
	t := m.theme
	p := draw.NewPen(t, w)
	switch m.mode {
	case modeCommand:
		p.Put(t.Key, ":")
		m.edit.Draw(p)
	case modeFilter:
		p.Put(t.Key, "/")
		note := draw.Width(m.status.text)
		p.Keeping(min(note+2, p.Left/2), func() { m.edit.Draw(p); p.Gap(p.Left) })
		p.Put(t.Bad, m.status.text)
	case modeAsk:
		p.Put(t.Key, m.question.prompt)
		m.edit.Draw(p)
	case modeExport:
		p.Put(t.Key, "write to: ")
		m.edit.Draw(p)
	default:
		st := draw.Style("")
		if more := m.helpCut(w); more != "" {
			p.Gap(1)
			p.Put(st, more)
			break
		}
		if m.status.bad {
			st = t.Bad
			p.Put(st, "! ")
		} else {
			p.Gap(1)
			st = draw.When(m.status.warned, t.Warn, "")
		}
		p.Put(st, m.status.text)
		if crumbs := m.crumbs(p.Left - 3); crumbs != "" && m.mode == modeKeys {
			p.Gap(p.Left - draw.Width(crumbs) - 1)
			p.Put(t.Dim, crumbs)
		}
	}
	return p.Done()
}

// footer names the keys that do something where the keyboard is.
func (m *model) footer(w int) string {
	t := m.theme
	p := draw.NewPen(t, w)
	p.Gap(1)
	key := func(k tea.KeyType) func() tea.Cmd {
		return func() tea.Cmd { return m.key(tea.KeyMsg{Type: k}) }
	}
	move := hint{t.Up + t.Down, "move", nil}
	switch m.mode {
	case modeCommand:
		m.hints(p, hint{"Enter", "run", key(tea.KeyEnter)}, hint{"Tab", "complete", key(tea.KeyTab)}, hint{t.Up + t.Down, "recall", nil}, hint{"Esc", "leave", key(tea.KeyEsc)})
	case modeFilter:
		m.hints(p, hint{"text /regexp ~letters !not", "", nil}, hint{"Enter", "keep", key(tea.KeyEnter)}, move, hint{"Esc", "show all", key(tea.KeyEsc)})
	case modeAsk:
		m.hints(p, hint{"Enter", "answer; nothing typed takes what is in brackets", key(tea.KeyEnter)}, hint{"PgUp", "read", key(tea.KeyPgUp)}, hint{"Esc", "leave", key(tea.KeyEsc)})
	case modeExport:
		m.hints(p, hint{"Tab", "csv, json, txt", key(tea.KeyTab)}, hint{"Enter", "write", key(tea.KeyEnter)}, hint{"Esc", "leave", key(tea.KeyEsc)})
	case modeHelp:
		m.hints(p, hint{"Enter", "do it", key(tea.KeyEnter)}, move, hint{"Esc", "leave", key(tea.KeyEsc)})
	case modeForm:
		list := []hint{{"Shift-Tab", "back", key(tea.KeyShiftTab)}, {"Enter", "answer", key(tea.KeyEnter)}, {"Esc", "leave", key(tea.KeyEsc)}}
		if f := m.form.field; f != nil && f.choose != nil {
			list = append([]hint{{t.Up + t.Down, "choose", nil}, {"/", "find", nil}}, list...)
		}
		m.hints(p, list...)
	case modePage:
		m.hints(p, m.pageHints()...)
	default:
		m.hints(p, m.keyHints()...)
	}
	return p.Done()
}

// pageHints are the keys that work on a page now.
func (m *model) pageHints() []hint {
	key := func(k tea.KeyMsg) func() tea.Cmd { return func() tea.Cmd { return m.key(k) } }
	rune1 := func(r rune) func() tea.Cmd { return key(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}}) }
	pg := m.page
	var list []hint
	switch {
	case !pg.commit:
	case m.whyNotWritten() == "":
		list = append(list, hint{"y", "write it", rune1('y')})
	case !m.st.WriteOn && pg.ready && pg.no == "":
		list = append(list, hint{"w", "allow writing", rune1('w')})
	}
	if pg.Top+pg.Height < pg.N {
		list = append(list, hint{"PgDn", "more", key(tea.KeyMsg{Type: tea.KeyPgDown})})
	}
	if pg.N > pg.Height {
		list = append(list, hint{m.theme.Up + m.theme.Down, "move", nil})
	}
	return append(list, hint{"Esc", "leave", key(tea.KeyMsg{Type: tea.KeyEsc})})
}

// hint is a key, what it does, and that for a click.
type hint struct {
	key, word string
	click     func() tea.Cmd
}

// hints writes keys and what they do, the last two always, of the others as many
// as fit.
func (m *model) hints(p *draw.Pen, list ...hint) {
	size := func(h hint) int { return draw.Width(h.key) + draw.Width(h.word) + 3 }
	write := func(h hint) {
		from := m.width - p.Left
		p.Put(p.Theme.Key, h.key)
		p.Put(p.Theme.Hint, " "+h.word)
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

// keyHints are the keys that can be pressed now; the last two are those for help
// and to quit.
func (m *model) keyHints() []hint {
	var list []*pane.Action
	for i := range m.actions {
		if a := &m.actions[i]; a.Label != "" && len(a.Keys) > 0 && m.reason(a) == "" {
			list = append(list, a)
		}
	}
	slices.SortStableFunc(list, func(a, b *pane.Action) int { return cmp.Compare(a.Rank, b.Rank) })
	var out []hint
	escape := func() tea.Cmd { return m.escape() }
	switch {
	case !m.pane().Base().Filt.Empty():
		out = append(out, hint{"Esc", "show all", escape})
	case m.leave >= 0 && m.on(pane.SeatLog):
		out = append(out, hint{"Esc", "back", escape})
	default:
		if _, word := m.pane().Escape(false); word != "" {
			out = append(out, hint{"Esc", word, escape})
		}
	}
	for _, a := range list {
		out = append(out, hint{keyWord(&m.theme.Glyphs, a), m.label(a), func() tea.Cmd { return m.perform(a) }})
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
