// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"example.org/ibconsole/shell/session"
)

// header is the first line: which subnet, in which state, what runs or what
// there is. The state is never left out for want of room.
func (m *model) header(w int) string {
	t := m.theme
	st := &m.sc.st
	badges := m.badges()
	need := 1 + len("read-only")
	for _, b := range badges {
		need += badgeWidth(b.word) + 1
	}
	name := clean(st.Source.String(), t.ascii)
	right := m.busyText(w)
	if right == "" {
		right = m.counts(w, w-need-min(width(name), 16)-2)
	}
	if w >= need+width(name)+width(right)+20 {
		name = "ibconsole " + name
	}
	p := newPen(t, w)
	p.put(t.info, cut(name, max(w-need-width(right)-2, 10), t.ellipsis))
	p.gap(1)
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

func (m *model) badges() []badge {
	t := m.theme
	st := &m.sc.st
	var out []badge
	if st.Source.Kind == session.SourceSim {
		out = append(out, badge{st: t.simulated, word: "SIMULATED"})
	}
	out = append(out, t.stateBadges(st)...)
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
	st := &m.sc.st
	t := m.theme
	name := st.Busy
	if name == "" && len(m.jobs) > 0 {
		name = clean(firstWord(m.jobs[len(m.jobs)-1].text), t.ascii)
	}
	if name == "" {
		return ""
	}
	out := t.spin[m.spin%len(t.spin)] + " " + name
	if st.Total > 0 && st.Busy != "" {
		out += fmt.Sprintf(" %s/%s", thousands(st.Done), thousands(st.Total))
		if w >= 100 {
			n := 10 * min(st.Done, st.Total) / st.Total
			out += " " + strings.Repeat(t.full, n) + strings.Repeat(t.glyphs.empty, 10-n)
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

// statusLine is what is being typed, or what was said last.
func (m *model) statusLine(w int) string {
	t := m.theme
	p := newPen(t, w)
	switch m.mode {
	case modeCommand:
		p.put(t.key, ":")
		m.edit.draw(p)
	case modeFilter:
		p.put(t.key, "/")
		m.edit.draw(p)
	default:
		st := style("")
		if m.status.bad {
			st = t.bad
			p.put(st, "! ")
		} else {
			p.gap(1)
		}
		p.put(st, m.status.text)
	}
	return p.done()
}

// footer names the keys that do something where the keyboard is.
func (m *model) footer(w int) string {
	t := m.theme
	p := newPen(t, w)
	p.gap(1)
	switch m.mode {
	case modeCommand:
		p.hints([2]string{"Enter", "run"}, [2]string{"Tab", "complete"}, [2]string{t.up + t.down, "recall"}, [2]string{"Esc", "leave"})
	case modeFilter:
		p.hints([2]string{"Enter", "keep"}, [2]string{t.up + t.down, "move"}, [2]string{"Esc", "show all"})
	case modeHelp:
		p.hints([2]string{"Enter", "do it"}, [2]string{t.up + t.down, "move"}, [2]string{"Esc", "leave"})
	default:
		p.hints(m.keyHints()...)
	}
	return p.done()
}

// hints writes keys and what they do, the last two always, of the others as many
// as fit.
func (p *pen) hints(list ...[2]string) {
	size := func(h [2]string) int { return width(h[0]) + width(h[1]) + 3 }
	write := func(h [2]string) {
		p.put(p.key, h[0])
		p.put(p.hint, " "+h[1])
		p.gap(2)
	}
	first, last := list[:max(len(list)-2, 0)], list[max(len(list)-2, 0):]
	room := p.left
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
func (m *model) keyHints() [][2]string {
	var list []*action
	for i := range m.actions {
		if a := &m.actions[i]; a.label != "" && a.reason(m) == "" {
			list = append(list, a)
		}
	}
	slices.SortStableFunc(list, func(a, b *action) int { return cmp.Compare(a.rank, b.rank) })
	var out [][2]string
	switch {
	case m.pane().filter() != "":
		out = append(out, [2]string{"Esc", "show all"})
	case m.leave != 0 && m.focus == paneLog:
		out = append(out, [2]string{"Esc", "back"})
	}
	for _, a := range list {
		out = append(out, [2]string{m.theme.keyName(a.keys.Keys()[0]), m.label(a)})
	}
	return out
}

// label is what the footer calls an action now.
func (m *model) label(a *action) string {
	switch {
	case a.name == "fail":
		command, _ := m.sc.fail(m.pane().subject())
		if words := strings.Fields(command); len(words) > 1 {
			return "fail " + words[1]
		}
	case a.name == "open" && m.focus == paneLFT:
		return "next hop"
	case a.name == "open" && m.focus == paneLog:
		return "recall"
	}
	return a.label
}
