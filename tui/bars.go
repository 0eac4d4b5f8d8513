// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/shell/session"
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
			cells += badgeWidth(b.word) + 1
		}
		return cells
	}
	name := clean(st.Source.String(), t.ascii)
	if need+count() > w {
		for i := range badges {
			badges[i].word = badges[i].short()
		}
		name = ""
	}
	need += count()
	right := m.busyText(w)
	if right == "" {
		right = m.counts(w, w-need-min(width(name), 16)-2)
	}
	if w >= need+width(name)+width(right)+20 {
		name = "ibconsole " + name
	}
	p := newPen(t, w)
	if name != "" {
		p.put(t.info, cut(name, max(w-need-width(right)-2, 10), t.ellipsis))
		p.gap(1)
	}
	for _, b := range badges {
		p.badge(b.st, b.word)
		p.gap(1)
	}
	if !st.WriteOn {
		p.put(t.dim, "read-only ")
	}
	p.gap(p.left - width(right))
	p.put(when(st.Busy != "", t.warn, t.dim), right)
	return p.done()
}

// tabs names all panes in a line, with the one that has the keyboard.
func (m *model) tabs(w int) string {
	t := m.theme
	p := newPen(t, w)
	for id := paneProblems; int(id) <= paneCount; id++ {
		name, end := id.key()+" "+paneNames[id], " "
		switch {
		case w < tabsShort && id != m.focus:
			name = id.key()
		case w >= tabsShort && w < tabsWide:
			name, end = id.key()+" "+shortNames[id], ""
		}
		bad := id == paneProblems && m.problems.worst() > 0
		if bad {
			name += "!"
		}
		from := w - p.left
		switch {
		case id == m.focus && t.name == "none":
			p.put(t.live, "["+name+"]")
		case id == m.focus:
			p.put(t.cursor, " "+name+" ")
		case bad:
			p.put(t.bad, " "+name+end)
		default:
			p.put(when(m.visible(id), t.title, t.dim), " "+name+end)
		}
		m.zoneAt(1, from, w-p.left, func() tea.Cmd { return m.visit(id) })
	}
	return p.done()
}

// tabsWide is how many cells the names of all panes take, tabsShort the short ones.
const tabsWide, tabsShort = 102, 78

func (m *model) badges() []badge {
	t := m.theme
	st := &m.st
	var out []badge
	if st.Source.Kind == session.SourceSim {
		out = append(out, badge{st: t.simulated, word: "SIMULATED"})
	}
	out = append(out, t.stateBadges(m.sc)...)
	if !m.frozen.IsZero() {
		out = append(out, badge{st: t.frozen, word: "FROZEN " + m.frozen.Format("15:04:05")})
	}
	if st.WriteOn {
		out = append(out, badge{st: t.writing, word: "WRITE ON"})
	}
	return out
}

// counts is what there is in the subnet that is shown, as much as fits.
func (m *model) counts(w, room int) string {
	ix := m.sc.top
	down := ""
	if m.lost > 0 || w >= 100 {
		down = fmt.Sprintf(" %s down", thousands(m.lost))
	}
	if n := len(m.sc.gone()); n > 0 {
		down = fmt.Sprintf(" %s failed", thousands(n)) + down
	}
	all := fmt.Sprintf("%s sw %s ca %s links", thousands(ix.switches), thousands(ix.hosts), thousands(ix.links)) + down
	out := []string{all, strings.TrimSpace(down), ""}
	if w >= 140 && len(ix.f.Nodes) > 0 {
		out = append([]string{"read " + m.sc.st.Live.When.Format("15:04:05") + "   " + all}, out...)
	}
	for _, text := range out {
		if width(text) <= room {
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
		name = clean(firstWord(m.jobs[len(m.jobs)-1].text), t.ascii)
	}
	if name == "" {
		return ""
	}
	total := st.Total
	if _, step, of := strings.Cut(name, ": "); of && w < 100 { // "minhop, 2 of 9"
		name, total = step, 0
	}
	out := t.spin[m.spin%len(t.spin)] + " " + name
	if total > 0 && st.Busy != "" {
		out += fmt.Sprintf(" %s/%s", thousands(st.Done), thousands(st.Total))
		if w >= 100 {
			n := 10 * min(st.Done, st.Total) / st.Total
			out += " " + strings.Repeat(t.full, n) + strings.Repeat(t.glyphs.empty, 10-n)
		}
		if text := m.pace.text(st, m.now()); text != "" && w >= 100 {
			out += " " + text
		}
	}
	if len(m.jobs) > 0 {
		if w >= 100 {
			out += " " + seconds(m.now().Sub(m.jobs[len(m.jobs)-1].started))
		}
		out += " Esc cancels"
	}
	return out
}

// statusLine is what is being typed, or what was said last and what was looked at.
func (m *model) statusLine(w int) string {
	t := m.theme
	p := newPen(t, w)
	switch m.mode {
	case modeCommand:
		p.put(t.key, ":")
		m.edit.draw(p)
	case modeFilter:
		p.put(t.key, "/")
		note := width(m.status.text)
		p.keeping(min(note+2, p.left/2), func() { m.edit.draw(p); p.gap(p.left) })
		p.put(t.bad, m.status.text)
	case modeAsk:
		p.put(t.key, m.question.prompt)
		m.edit.draw(p)
	case modeExport:
		p.put(t.key, "write to: ")
		m.edit.draw(p)
	default:
		st := style("")
		if more := m.helpCut(w); more != "" {
			p.gap(1)
			p.put(st, more)
			break
		}
		if m.status.bad {
			st = t.bad
			p.put(st, "! ")
		} else {
			p.gap(1)
			st = when(m.status.warned, t.warn, "")
		}
		p.put(st, m.status.text)
		if crumbs := m.crumbs(p.left - 3); crumbs != "" && m.mode == modeKeys {
			p.gap(p.left - width(crumbs) - 1)
			p.put(t.dim, crumbs)
		}
	}
	return p.done()
}

// footer names the keys that do something where the keyboard is.
func (m *model) footer(w int) string {
	t := m.theme
	p := newPen(t, w)
	p.gap(1)
	key := func(k tea.KeyType) func() tea.Cmd {
		return func() tea.Cmd { return m.key(tea.KeyMsg{Type: k}) }
	}
	move := hint{t.up + t.down, "move", nil}
	switch m.mode {
	case modeCommand:
		m.hints(p, hint{"Enter", "run", key(tea.KeyEnter)}, hint{"Tab", "complete", key(tea.KeyTab)}, hint{t.up + t.down, "recall", nil}, hint{"Esc", "leave", key(tea.KeyEsc)})
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
			list = append([]hint{{t.up + t.down, "choose", nil}, {"/", "find", nil}}, list...)
		}
		m.hints(p, list...)
	case modePage:
		m.hints(p, m.pageHints()...)
	default:
		m.hints(p, m.keyHints()...)
	}
	return p.done()
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
	if pg.top+pg.height < pg.n {
		list = append(list, hint{"PgDn", "more", key(tea.KeyMsg{Type: tea.KeyPgDown})})
	}
	if pg.n > pg.height {
		list = append(list, hint{m.theme.up + m.theme.down, "move", nil})
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
func (m *model) hints(p *pen, list ...hint) {
	size := func(h hint) int { return width(h.key) + width(h.word) + 3 }
	write := func(h hint) {
		from := m.width - p.left
		p.put(p.theme.key, h.key)
		p.put(p.theme.hint, " "+h.word)
		if h.click != nil {
			m.zoneAt(m.height-1, from, m.width-p.left, h.click)
		}
		p.gap(2)
	}
	first, last := list[:max(len(list)-2, 0)], list[max(len(list)-2, 0):]
	room := p.left + 2 // nothing comes behind the last
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
	var list []*action
	for i := range m.actions {
		if a := &m.actions[i]; a.label != "" && len(a.keys) > 0 && a.reason(m) == "" {
			list = append(list, a)
		}
	}
	slices.SortStableFunc(list, func(a, b *action) int { return cmp.Compare(a.rank, b.rank) })
	var out []hint
	escape := func() tea.Cmd { return m.escape() }
	switch {
	case !m.pane().base().filt.empty():
		out = append(out, hint{"Esc", "show all", escape})
	case m.leave != 0 && m.focus == paneLog:
		out = append(out, hint{"Esc", "back", escape})
	case m.groups.within(m.focus):
		out = append(out, hint{"Esc", "groups", escape})
	}
	for _, a := range list {
		out = append(out, hint{m.theme.keyWord(a), m.label(a), func() tea.Cmd { return m.perform(a) }})
	}
	return out
}

// label is what the footer calls an action now.
func (m *model) label(a *action) string {
	switch {
	case a.name == "fail":
		if n := len(m.pane().base().marks); n > 0 {
			return fmt.Sprintf("fail %d", n)
		}
		if len(m.pane().subject().with) > 0 {
			return "fail both"
		}
		commands, _ := m.failCommands()
		if words := strings.Fields(strings.Join(commands, "")); len(words) > 1 {
			return "fail " + words[1]
		}
	case a.name == "study" && m.study.doing != nil:
		return "stop"
	case a.name == "study" && m.resil.stopped == m.resil.key():
		return "go on"
	case a.name == "open" && m.focus == paneLFT:
		return "next hop"
	case a.name == "open" && m.focus == paneLog:
		return "recall"
	case a.name == "open" && m.focus == paneHistory:
		return "show it"
	case a.name == "by":
		t := m.pane().base()
		return t.kinds[(t.kind+1)%len(t.kinds)]
	}
	return a.label
}
