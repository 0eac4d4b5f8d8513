// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/tui/draw"
)

// k are keys, the first of which stands for them.
func k(keys ...string) []string { return keys }

// keymap lists all actions with the keys that they have unless they are rebound,
// in the order of the help page. Those of panes stand behind the ones that they name.
func (m *model) keymap() []action {
	all := slices.Concat(m.findKeys(), m.traceKeys(), m.paperKeys(), m.listKeys(), m.moveKeys(), m.paneKeys(), m.otherKeys())
	for _, p := range m.all {
		for _, a := range p.actions() {
			a.run = func() tea.Cmd {
				return m.jump(func() tea.Cmd { return m.heed(a.do()) })
			}
			at := slices.IndexFunc(all, func(x action) bool { return x.name == a.after || a.after == "" && x.group == a.group })
			all = slices.Insert(all, at+draw.Btoi(a.after != ""), a)
		}
	}
	return all
}

// keymap lists all actions of any screen.
func keymap() []action {
	c := &common{}
	m := &model{common: c, desk: newDesk(newPanes(c, &draw.Theme{}, nil))}
	return m.keymap()
}

func (m *model) findKeys() []action {
	return []action{
		{name: "command", keys: k(":"), group: "Find and say", label: "command", rank: 9, help: "type a command; Tab completes, Up and Down recall", run: m.openCommand},
		{name: "filter", keys: k("/"), group: "Find and say", label: "filter", rank: 8, help: "show only rows with a TEXT, /REGEXP or ~LETTERS; ! before it turns it round", why: m.whyNotFilter, run: m.openFilter},
		{name: "escape", keys: k("esc"), group: "Find and say", help: "clear the filter, leave the log, or cancel what runs", why: m.whyNoEscape, run: m.escape},
		{name: "open", keys: k("enter"), group: "Find and say", label: "open", rank: 3, help: "open; go to the next hop, to the thing, to its picture; recall a command", why: m.whyNotOpen, run: m.open},
		{name: "info", keys: k("i"), group: "Find and say", label: "info", rank: 15, help: "all that is known of what is selected", why: m.whyNoInfo, run: m.openInfo},
		{name: "back", keys: k("[", "backspace"), group: "Find and say", help: "back to what was looked at before", why: m.whyNotBack, run: func() tea.Cmd { return m.walk(-1) }},
		{name: "forward", keys: k("]"), group: "Find and say", help: "forward again", why: m.whyNotForward, run: func() tea.Cmd { return m.walk(1) }},
	}
}

func (m *model) traceKeys() []action {
	return []action{
		{name: "who-uses", keys: k("p"), group: "Trace", label: "who uses it", rank: 12, help: "whose packets go over the selected link or switch", why: m.whyNotUses, run: m.whoUses},
		{name: "picture", keys: k("v"), group: "Trace", label: "picture", rank: 13, help: "show another picture: live, base, whatif, staged", why: m.whyOnePicture, run: m.nextPicture},
	}
}

func (m *model) paperKeys() []action {
	return []action{
		{name: "fail", keys: k("f"), group: "Paper", label: "fail", rank: 4, help: "let the selected link, switch or host fail on paper; all that are marked", why: m.whyNotFail, run: m.fail},
		{name: "undo", keys: k("u"), group: "Paper", label: "undo", rank: 5, help: "take a failure back: that of what is selected, or else the last one", why: m.whyNotUndo, run: m.undo},
		{name: "route", keys: k("r"), group: "Paper", label: "route", rank: 6, help: "compute routes for it; they are staged, not written", why: m.whyNotRoute, run: m.says("route")},
		{name: "diff", keys: k("d"), group: "Paper", label: "diff", rank: 7, help: "say what changes from the base to what is staged; of an entry of the history, what changed since", why: m.whyNotDiff, run: m.diffNow},
		{name: "whatif", keys: k("w"), group: "Paper", help: "say in the log what has failed on paper", run: m.says("whatif")},
		{name: "commit", keys: k("C"), group: "Paper", label: "commit", rank: 10, help: "read what a commit would write, and where; only from there can it be written", why: m.whyNotCommit, run: m.openCommit},
		{name: "sweep", keys: k("R"), group: "Paper", label: "read again", rank: 16, help: "read the subnet again", why: m.whyNotSweep, run: m.says("sweep")},
	}
}

func (m *model) listKeys() []action {
	return []action{
		{name: "sort", keys: k("s"), group: "Lists", label: "sort", rank: 11, help: "sort by the next column, up and then down", why: m.whyNotSort, run: m.sort},
		{name: "by", keys: k("b"), group: "Lists", label: "by", rank: 10, help: "show the list in another manner: by LID or port, as a map, by rank or chassis", why: m.whyNoKind, run: m.nextKind},
		{name: "mark", keys: k("m"), group: "Lists", help: "mark the row, or take its mark; f, c and e take all that are marked", why: m.whyNoRow, run: m.markRow},
		{name: "unmark", keys: k("M"), group: "Lists", help: "take all marks of the list", why: m.whyNoMarks, run: m.unmark},
		{name: "copy", keys: k("c"), group: "Lists", label: "copy", rank: 17, help: "copy the row, or those marked, to the clipboard of the terminal (OSC 52)", why: m.whyNoRow, run: m.copyRows},
		{name: "export", keys: k("e"), group: "Lists", label: "export", rank: 18, help: "write the list as it is shown to a file: .txt, .csv or .json", why: m.whyNotExport, run: m.openExport},
		{name: "freeze", keys: k(" "), group: "Lists", help: "let the panes stand still while the subnet changes, or go on", run: m.freeze},
	}
}

func (m *model) moveKeys() []action {
	move := func(by int) func() tea.Cmd {
		return func() tea.Cmd { m.moveTo(m.pane().base().Cursor + by); return nil }
	}
	page := func(by int) func() tea.Cmd {
		return func() tea.Cmd { w := m.pane().base(); m.moveTo(w.Cursor + by*max(w.Height-1, 1)); return nil }
	}
	return []action{
		{name: "up", keys: k("up", "k"), group: "Move", help: "up", run: move(-1)},
		{name: "down", keys: k("down", "j"), group: "Move", help: "down", run: move(1)},
		{name: "page-up", keys: k("pgup", "ctrl+b"), group: "Move", help: "a page up", run: page(-1)},
		{name: "page-down", keys: k("pgdown", "ctrl+f"), group: "Move", help: "a page down", run: page(1)},
		{name: "first", keys: k("g", "home"), group: "Move", help: "to the first row", run: func() tea.Cmd { m.moveTo(0); return nil }},
		{name: "last", keys: k("G", "end"), group: "Move", help: "to the last row", run: func() tea.Cmd { m.moveTo(m.pane().base().N - 1); return nil }},
		{name: "left", keys: k("left", "h"), group: "Move", panes: m.movers(), help: "shut the branch; move long lines or the map back", run: func() tea.Cmd { return m.sideways(-1) }},
		{name: "right", keys: k("right", "l"), group: "Move", panes: m.movers(), help: "open the branch; move long lines or the map", run: func() tea.Cmd { return m.sideways(1) }},
	}
}

// movers names the panes for which the keys left and right do something.
func (m *model) movers() []string {
	var out []string
	for _, p := range m.all {
		if _, ok := p.(mover); ok {
			out = append(out, p.about().name)
		}
	}
	return out
}

func (m *model) paneKeys() []action {
	list := []action{}
	for i, p := range m.all {
		list = append(list, action{
			name: "pane-" + digit(i), keys: k(digit(i)), group: "Panes", help: p.about().help,
			run: func() tea.Cmd { return m.visit(i) },
		})
	}
	step := func(by int) func() tea.Cmd {
		return func() tea.Cmd { return m.visit((m.focus + by + len(m.all)) % len(m.all)) }
	}
	lean := func(by int) func() tea.Cmd {
		return func() tea.Cmd { m.lean = max(min(m.lean+by, 24), -16); m.fit(); return nil }
	}
	return append(list,
		action{name: "next-pane", keys: k("tab"), group: "Panes", help: "the next pane", run: step(1)},
		action{name: "previous-pane", keys: k("shift+tab"), group: "Panes", help: "the pane before", run: step(-1)},
		action{name: "zoom", keys: k("z"), group: "Panes", label: "zoom", rank: 14, help: "give the pane the whole screen; on a small screen, show two", run: m.toggleZoom},
		action{name: "narrower", keys: k("<"), group: "Panes", help: "make the panes at the left narrower", run: lean(-4)},
		action{name: "wider", keys: k(">"), group: "Panes", help: "make the panes at the left wider", run: lean(4)},
	)
}

func (m *model) otherKeys() []action {
	return []action{
		{name: "dump", keys: k("D"), group: "Program", help: "write routes or the topology to a file; asks what and where", why: m.whyBusy, run: m.guided("dump")},
		{name: "load", keys: k("L"), group: "Program", help: "read routes or a topology from a file; asks which", why: m.whyBusy, run: m.guided("load")},
		{name: "engine", keys: k("E"), group: "Program", help: "choose the routing engine and its options; asks step by step", why: m.whyBusy, run: m.guided("engine")},
		{name: "fail-guided", keys: k("F"), group: "Program", help: "let something fail on paper; asks what: a cable, a switch, a chassis, links at random", why: m.whyBusy, run: m.guided("fail")},
		{name: "shell", keys: k("!"), group: "Program", help: "the shell on the same session, as :shell; exit comes back", why: m.whyNoShell, run: m.openShell},
		{name: "theme", keys: k("ctrl+t"), group: "Program", help: "the next theme: dark, light, contrast, none", why: m.whyNoTheme, run: m.nextTheme},
		{name: "tour", keys: k("ctrl+g"), group: "Program", help: "begin or end the tour", run: m.toggleTour},
		{name: "help", keys: k("?"), group: "Program", label: "keys", rank: 20, help: "this page; Enter does what is selected", run: m.openHelp},
		{name: "suspend", keys: k("ctrl+z"), group: "Program", help: "stop until the shell's fg", run: func() tea.Cmd { return tea.Suspend }},
		{name: "interrupt", keys: k("ctrl+c"), group: "Program", help: "cancel what runs; else quit", run: m.interrupt},
		{name: "quit", keys: k("q"), group: "Program", label: "quit", rank: 21, help: "quit", run: m.quit},
	}
}

// says runs a command.
func (m *model) says(text string) func() tea.Cmd {
	return func() tea.Cmd { return m.say(text, true) }
}

// action returns the action of a name.
func (m *model) action(name string) *action {
	for i := range m.actions {
		if m.actions[i].name == name {
			return &m.actions[i]
		}
	}
	return nil
}

// here reports whether the action works in a pane.
func (a *action) here(p pane) bool { return a.panes == nil || slices.Contains(a.panes, p.about().name) }

// reason says why the action cannot be done now, "" if it can.
func (m *model) reason(a *action) string {
	if !a.here(m.pane()) {
		var names []string
		for _, name := range a.panes {
			names = append(names, digit(m.named(name))+" "+name)
		}
		return "this is for " + strings.Join(names, ", ")
	}
	if a.why != nil {
		if why := a.why(); why != "" {
			return why
		}
	}
	if a.session {
		return m.whyBusy()
	}
	return ""
}

// keyWord is the first key of an action as the screen writes it, "" for none.
func keyWord(g *draw.Glyphs, a *action) string {
	if len(a.keys) == 0 {
		return ""
	}
	return g.KeyName(a.keys[0])
}
