// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

// k are keys, the first of which stands for them.
func k(keys ...string) []string { return keys }

// keymap lists all actions with the keys that they have unless they are rebound,
// in the order of the help page. Those of panes stand behind the ones that they name.
func (m *model) keymap() []pane.Action {
	all := slices.Concat(m.findKeys(), m.traceKeys(), m.paperKeys(), m.listKeys(), m.moveKeys(), m.paneKeys(), m.otherKeys())
	for _, p := range m.all {
		for _, a := range p.Actions() {
			a.Run = func() tea.Cmd {
				return m.jump(func() tea.Cmd { return m.heed(a.Do()) })
			}
			at := slices.IndexFunc(all, func(x pane.Action) bool { return x.Name == a.After || a.After == "" && x.Group == a.Group })
			all = slices.Insert(all, at+draw.Btoi(a.After != ""), a)
		}
	}
	return all
}

// keymap lists all actions of any screen.
func keymap() []pane.Action {
	c := &pane.Common{}
	m := &model{Common: c, desk: newDesk(newPanes(c, &draw.Theme{}, nil))}
	return m.keymap()
}

func (m *model) findKeys() []pane.Action {
	return []pane.Action{
		{Name: "command", Keys: k(":"), Group: "Find and say", Label: "command", Rank: 9, Help: "type a command; Tab completes, Up and Down recall", Run: m.openCommand},
		{Name: "filter", Keys: k("/"), Group: "Find and say", Label: "filter", Rank: 8, Help: "show only rows with a TEXT, /REGEXP or ~LETTERS; ! before it turns it round", Why: m.whyNotFilter, Run: m.openFilter},
		{Name: "escape", Keys: k("esc"), Group: "Find and say", Help: "clear the filter, leave the log, or cancel what runs", Why: m.whyNoEscape, Run: m.escape},
		{Name: "open", Keys: k("enter"), Group: "Find and say", Label: "open", Rank: 3, Help: "open; go to the next hop, to the thing, to its picture; recall a command", Why: m.whyNotOpen, Run: m.open},
		{Name: "info", Keys: k("i"), Group: "Find and say", Label: "info", Rank: 15, Help: "all that is known of what is selected", Why: m.whyNoInfo, Run: m.openInfo},
		{Name: "back", Keys: k("[", "backspace"), Group: "Find and say", Help: "back to what was looked at before", Why: m.whyNotBack, Run: func() tea.Cmd { return m.walk(-1) }},
		{Name: "forward", Keys: k("]"), Group: "Find and say", Help: "forward again", Why: m.whyNotForward, Run: func() tea.Cmd { return m.walk(1) }},
	}
}

func (m *model) traceKeys() []pane.Action {
	return []pane.Action{
		{Name: "who-uses", Keys: k("p"), Group: "Trace", Label: "who uses it", Rank: 12, Help: "whose packets go over the selected link or switch", Why: m.whyNotUses, Run: m.whoUses},
		{Name: "picture", Keys: k("v"), Group: "Trace", Label: "picture", Rank: 13, Help: "show another picture: live, base, whatif, staged", Why: m.whyOnePicture, Run: m.nextPicture},
	}
}

func (m *model) paperKeys() []pane.Action {
	return []pane.Action{
		{Name: "fail", Keys: k("f"), Group: "Paper", Label: "fail", Rank: 4, Help: "let the selected link, switch or host fail on paper; all that are marked", Why: m.whyNotFail, Run: m.fail},
		{Name: "undo", Keys: k("u"), Group: "Paper", Label: "undo", Rank: 5, Help: "take a failure back: that of what is selected, or else the last one", Why: m.whyNotUndo, Run: m.undo},
		{Name: "route", Keys: k("r"), Group: "Paper", Label: "route", Rank: 6, Help: "compute routes for it; they are staged, not written", Why: m.whyNotRoute, Run: m.says("route")},
		{Name: "diff", Keys: k("d"), Group: "Paper", Label: "diff", Rank: 7, Help: "say what changes from the base to what is staged; of an entry of the history, what changed since", Why: m.whyNotDiff, Run: m.diffNow},
		{Name: "whatif", Keys: k("w"), Group: "Paper", Help: "say in the log what has failed on paper", Run: m.says("whatif")},
		{Name: "commit", Keys: k("C"), Group: "Paper", Label: "commit", Rank: 10, Help: "read what a commit would write, and where; only from there can it be written", Why: m.whyNotCommit, Run: m.openCommit},
		{Name: "sweep", Keys: k("R"), Group: "Paper", Label: "read again", Rank: 16, Help: "read the subnet again", Why: m.whyNotSweep, Run: m.says("sweep")},
	}
}

func (m *model) listKeys() []pane.Action {
	return []pane.Action{
		{Name: "sort", Keys: k("s"), Group: "Lists", Label: "sort", Rank: 11, Help: "sort by the next column, up and then down", Why: m.whyNotSort, Run: m.sort},
		{Name: "by", Keys: k("b"), Group: "Lists", Label: "by", Rank: 10, Help: "show the list in another manner: by LID or port, as a map, by rank or chassis", Why: m.whyNoKind, Run: m.nextKind},
		{Name: "mark", Keys: k("m"), Group: "Lists", Help: "mark the row, or take its mark; f, c and e take all that are marked", Why: m.whyNoRow, Run: m.markRow},
		{Name: "unmark", Keys: k("M"), Group: "Lists", Help: "take all marks of the list", Why: m.whyNoMarks, Run: m.unmark},
		{Name: "copy", Keys: k("c"), Group: "Lists", Label: "copy", Rank: 17, Help: "copy the row, or those marked, to the clipboard of the terminal (OSC 52)", Why: m.whyNoRow, Run: m.copyRows},
		{Name: "export", Keys: k("e"), Group: "Lists", Label: "export", Rank: 18, Help: "write the list as it is shown to a file: .txt, .csv or .json", Why: m.whyNotExport, Run: m.openExport},
		{Name: "freeze", Keys: k(" "), Group: "Lists", Help: "let the panes stand still while the subnet changes, or go on", Run: m.freeze},
	}
}

func (m *model) moveKeys() []pane.Action {
	move := func(by int) func() tea.Cmd {
		return func() tea.Cmd { m.moveTo(m.pane().Base().Cursor + by); return nil }
	}
	page := func(by int) func() tea.Cmd {
		return func() tea.Cmd { w := m.pane().Base(); m.moveTo(w.Cursor + by*max(w.Height-1, 1)); return nil }
	}
	return []pane.Action{
		{Name: "up", Keys: k("up", "k"), Group: "Move", Help: "up", Run: move(-1)},
		{Name: "down", Keys: k("down", "j"), Group: "Move", Help: "down", Run: move(1)},
		{Name: "page-up", Keys: k("pgup", "ctrl+b"), Group: "Move", Help: "a page up", Run: page(-1)},
		{Name: "page-down", Keys: k("pgdown", "ctrl+f"), Group: "Move", Help: "a page down", Run: page(1)},
		{Name: "first", Keys: k("g", "home"), Group: "Move", Help: "to the first row", Run: func() tea.Cmd { m.moveTo(0); return nil }},
		{Name: "last", Keys: k("G", "end"), Group: "Move", Help: "to the last row", Run: func() tea.Cmd { m.moveTo(m.pane().Base().N - 1); return nil }},
		{Name: "left", Keys: k("left", "h"), Group: "Move", Panes: m.movers(), Help: "shut the branch; move long lines or the map back", Run: func() tea.Cmd { return m.sideways(-1) }},
		{Name: "right", Keys: k("right", "l"), Group: "Move", Panes: m.movers(), Help: "open the branch; move long lines or the map", Run: func() tea.Cmd { return m.sideways(1) }},
	}
}

// movers names the panes for which the keys left and right do something.
func (m *model) movers() []string {
	var out []string
	for _, p := range m.all {
		if _, ok := p.(pane.Mover); ok {
			out = append(out, p.About().Name)
		}
	}
	return out
}

func (m *model) paneKeys() []pane.Action {
	list := []pane.Action{}
	for i, p := range m.all {
		list = append(list, pane.Action{
			Name: "pane-" + digit(i), Keys: k(digit(i)), Group: "Panes", Help: p.About().Help,
			Run: func() tea.Cmd { return m.visit(i) },
		})
	}
	step := func(by int) func() tea.Cmd {
		return func() tea.Cmd { return m.visit((m.focus + by + len(m.all)) % len(m.all)) }
	}
	lean := func(by int) func() tea.Cmd {
		return func() tea.Cmd { m.lean = max(min(m.lean+by, 24), -16); m.fit(); return nil }
	}
	return append(list,
		pane.Action{Name: "next-pane", Keys: k("tab"), Group: "Panes", Help: "the next pane", Run: step(1)},
		pane.Action{Name: "previous-pane", Keys: k("shift+tab"), Group: "Panes", Help: "the pane before", Run: step(-1)},
		pane.Action{Name: "zoom", Keys: k("z"), Group: "Panes", Label: "zoom", Rank: 14, Help: "give the pane the whole screen; on a small screen, show two", Run: m.toggleZoom},
		pane.Action{Name: "narrower", Keys: k("<"), Group: "Panes", Help: "make the panes at the left narrower", Run: lean(-4)},
		pane.Action{Name: "wider", Keys: k(">"), Group: "Panes", Help: "make the panes at the left wider", Run: lean(4)},
	)
}

func (m *model) otherKeys() []pane.Action {
	return []pane.Action{
		{Name: "dump", Keys: k("D"), Group: "Program", Help: "write routes or the topology to a file; asks what and where", Why: m.whyBusy, Run: m.guided("dump")},
		{Name: "load", Keys: k("L"), Group: "Program", Help: "read routes or a topology from a file; asks which", Why: m.whyBusy, Run: m.guided("load")},
		{Name: "engine", Keys: k("E"), Group: "Program", Help: "choose the routing engine and its options; asks step by step", Why: m.whyBusy, Run: m.guided("engine")},
		{Name: "fail-guided", Keys: k("F"), Group: "Program", Help: "let something fail on paper; asks what: a cable, a switch, a chassis, links at random", Why: m.whyBusy, Run: m.guided("fail")},
		{Name: "shell", Keys: k("!"), Group: "Program", Help: "the shell on the same session, as :shell; exit comes back", Why: m.whyNoShell, Run: m.openShell},
		{Name: "theme", Keys: k("ctrl+t"), Group: "Program", Help: "the next theme: dark, light, contrast, none", Why: m.whyNoTheme, Run: m.nextTheme},
		{Name: "tour", Keys: k("ctrl+g"), Group: "Program", Help: "begin or end the tour", Run: m.toggleTour},
		{Name: "help", Keys: k("?"), Group: "Program", Label: "keys", Rank: 20, Help: "this page; Enter does what is selected", Run: m.openHelp},
		{Name: "suspend", Keys: k("ctrl+z"), Group: "Program", Help: "stop until the shell's fg", Run: func() tea.Cmd { return tea.Suspend }},
		{Name: "interrupt", Keys: k("ctrl+c"), Group: "Program", Help: "cancel what runs; else quit", Run: m.interrupt},
		{Name: "quit", Keys: k("q"), Group: "Program", Label: "quit", Rank: 21, Help: "quit", Run: m.quit},
	}
}

// says runs a command.
func (m *model) says(text string) func() tea.Cmd {
	return func() tea.Cmd { return m.say(text, true) }
}

// action returns the action of a name.
func (m *model) action(name string) *pane.Action {
	for i := range m.actions {
		if m.actions[i].Name == name {
			return &m.actions[i]
		}
	}
	return nil
}

// reason says why the action cannot be done now, "" if it can.
func (m *model) reason(a *pane.Action) string {
	if a.Panes != nil && !slices.Contains(a.Panes, m.pane().About().Name) {
		var names []string
		for _, name := range a.Panes {
			names = append(names, digit(m.named(name))+" "+name)
		}
		return "this is for " + strings.Join(names, ", ")
	}
	if a.Why != nil {
		if why := a.Why(); why != "" {
			return why
		}
	}
	if a.Session {
		return m.whyBusy()
	}
	return ""
}

// keyWord is the first key of an action as the screen writes it, "" for none.
func keyWord(g *draw.Glyphs, a *pane.Action) string {
	if len(a.Keys) == 0 {
		return ""
	}
	return g.KeyName(a.Keys[0])
}
