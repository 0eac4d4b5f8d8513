// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"slices"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"
)

// action is something that a key does. The footer and the help page are made of
// these.
type action struct {
	name  string // by which it can be bound
	keys  key.Binding
	group string
	// label stands in the footer, those of low rank first; "" keeps it out of there.
	label string
	rank  int
	help  string
	// panes are where the key works; nil for everywhere.
	panes []paneID
	// why says why the action cannot be done now, "" if it can; nil: always.
	why func(*model) string
	run func(*model) tea.Cmd
}

// on binds an action to keys, the first of which stands for them in the footer.
func on(keys ...string) key.Binding { return key.NewBinding(key.WithKeys(keys...)) }

// keymap lists all actions, in the order of the help page.
func keymap() []action {
	return slices.Concat(findKeys(), traceKeys(), paperKeys(), moveKeys(), otherKeys())
}

func traceKeys() []action {
	tree, table := []paneID{paneTopology, paneLFT, paneTrace}, []paneID{paneLFT}
	return []action{
		{name: "trace-from", keys: on("t"), group: "Trace", label: "from", rank: 1, panes: tree, help: "trace packets from what is selected", why: (*model).whyNoEnd, run: func(m *model) tea.Cmd { return m.mark(0) }},
		{name: "trace-to", keys: on("T"), group: "Trace", label: "to", rank: 2, panes: tree, help: "trace packets to what is selected", why: (*model).whyNoEnd, run: func(m *model) tea.Cmd { return m.mark(1) }},
		{name: "trace-back", keys: on("x"), group: "Trace", help: "exchange source and destination", why: (*model).whyNoTrace, run: (*model).exchange},
		{name: "picture", keys: on("v"), group: "Trace", label: "picture", rank: 13, help: "show another picture: live, base, whatif, staged", why: (*model).whyOnePicture, run: (*model).nextPicture},
		{name: "changed", keys: on("c"), group: "Trace", label: "changed only", rank: 10, panes: table, help: "show changed entries only, or all again", why: func(m *model) string { return m.lft.whyNotChanged() }, run: (*model).toggleChanged},
	}
}

func paperKeys() []action {
	tree := []paneID{paneTopology, paneLFT, paneTrace}
	return []action{
		{name: "fail", keys: on("f"), group: "Paper", label: "fail", rank: 3, panes: tree, help: "let the selected link, switch or host fail on paper", why: (*model).whyNotFail, run: (*model).fail},
		{name: "restore", keys: on("u"), group: "Paper", label: "restore", rank: 4, panes: tree, help: "take that failure back", why: (*model).whyNotRestore, run: (*model).restore},
		{name: "whatif", keys: on("w"), group: "Paper", label: "what-if", rank: 12, help: "say what has failed on paper", run: says("whatif")},
		{name: "route", keys: on("r"), group: "Paper", label: "route", rank: 5, help: "compute routes for it; they are staged, not written", why: (*model).whyNotRoute, run: says("route")},
		{name: "diff", keys: on("d"), group: "Paper", label: "diff", rank: 6, help: "say what changes from the base to what is staged", why: (*model).whyNotDiff, run: says("diff")},
		{name: "sweep", keys: on("s"), group: "Paper", label: "sweep", rank: 11, help: "read the subnet again", why: (*model).whyNotSweep, run: says("sweep")},
	}
}

func findKeys() []action {
	return []action{
		{name: "command", keys: on(":"), group: "Find and say", label: "command", rank: 8, help: "type a command; Tab completes, Up and Down recall", run: (*model).openCommand},
		{name: "filter", keys: on("/"), group: "Find and say", label: "filter", rank: 7, help: "show only rows that hold a text", run: (*model).openFilter},
		{name: "escape", keys: on("esc"), group: "Find and say", help: "clear the filter, leave the log, or cancel what runs", why: (*model).whyNoEscape, run: (*model).escape},
		{name: "open", keys: on("enter"), group: "Find and say", label: "open", rank: 9, help: "open; go to the next hop, to a switch; recall a command", why: (*model).whyNotOpen, run: (*model).open},
		{name: "back", keys: on("backspace"), group: "Find and say", help: "go back to where Enter was pressed", why: (*model).whyNotBack, run: (*model).goBack},
	}
}

func moveKeys() []action {
	move := func(by int) func(*model) tea.Cmd {
		return func(m *model) tea.Cmd { w := m.pane().win(); m.moveTo(w.cursor + by); return nil }
	}
	page := func(by int) func(*model) tea.Cmd {
		return func(m *model) tea.Cmd { w := m.pane().win(); m.moveTo(w.cursor + by*max(w.height-1, 1)); return nil }
	}
	return []action{
		{name: "up", keys: on("up", "k"), group: "Move", help: "up", run: move(-1)},
		{name: "down", keys: on("down", "j"), group: "Move", help: "down", run: move(1)},
		{name: "page-up", keys: on("pgup", "ctrl+b"), group: "Move", help: "a page up", run: page(-1)},
		{name: "page-down", keys: on("pgdown", "ctrl+f"), group: "Move", help: "a page down", run: page(1)},
		{name: "first", keys: on("g", "home"), group: "Move", help: "to the first row", run: func(m *model) tea.Cmd { m.moveTo(0); return nil }},
		{name: "last", keys: on("G", "end"), group: "Move", help: "to the last row", run: func(m *model) tea.Cmd { m.moveTo(m.pane().win().n - 1); return nil }},
		{name: "left", keys: on("left", "h"), group: "Move", panes: []paneID{paneTopology, paneLog}, help: "shut the branch; move long lines back", run: func(m *model) tea.Cmd { m.sideways(-1); return nil }},
		{name: "right", keys: on("right", "l"), group: "Move", panes: []paneID{paneTopology, paneLog}, help: "open the branch; move long lines", run: func(m *model) tea.Cmd { m.sideways(1); return nil }},
	}
}

func otherKeys() []action {
	focus := func(id paneID) func(*model) tea.Cmd {
		return func(m *model) tea.Cmd { m.setFocus(id); return nil }
	}
	return []action{
		{name: "pane-1", keys: on("1"), group: "Panes", help: "the topology", run: focus(paneTopology)},
		{name: "pane-2", keys: on("2"), group: "Panes", help: "the forwarding table of the selected switch", run: focus(paneLFT)},
		{name: "pane-3", keys: on("3"), group: "Panes", help: "the trace", run: focus(paneTrace)},
		{name: "pane-4", keys: on("4"), group: "Panes", help: "the log", run: focus(paneLog)},
		{name: "next-pane", keys: on("tab"), group: "Panes", help: "the next pane", run: func(m *model) tea.Cmd { m.setFocus(m.focus%paneID(paneCount) + 1); return nil }},
		{name: "previous-pane", keys: on("shift+tab"), group: "Panes", help: "the pane before", run: func(m *model) tea.Cmd {
			m.setFocus((m.focus+paneID(paneCount)-2)%paneID(paneCount) + 1)
			return nil
		}},
		{name: "zoom", keys: on("z"), group: "Panes", label: "zoom", rank: 14, help: "give the pane the whole screen; on a small screen, show two", run: func(m *model) tea.Cmd { m.zoom = !m.zoom; return nil }},
		{name: "shell", keys: on("!"), group: "Program", help: "the shell on the same session, as :shell; exit comes back", why: (*model).whyNoShell, run: (*model).openShell},
		{name: "help", keys: on("?"), group: "Program", label: "keys", rank: 20, help: "this page; Enter does what is selected", run: (*model).openHelp},
		{name: "suspend", keys: on("ctrl+z"), group: "Program", help: "stop until the shell's fg", run: func(*model) tea.Cmd { return tea.Suspend }},
		{name: "interrupt", keys: on("ctrl+c"), group: "Program", help: "cancel what runs; else quit", run: (*model).interrupt},
		{name: "quit", keys: on("q"), group: "Program", label: "quit", rank: 21, help: "quit", run: (*model).quit},
	}
}

// says runs a command.
func says(text string) func(*model) tea.Cmd {
	return func(m *model) tea.Cmd { return m.say(text, true) }
}

// here says whether the action works in a pane.
func (a *action) here(id paneID) bool { return a.panes == nil || slices.Contains(a.panes, id) }

// reason says why the action cannot be done now, "" if it can.
func (a *action) reason(m *model) string {
	switch {
	case !a.here(m.focus):
		return "not in the " + paneNames[m.focus] + " pane"
	case a.why == nil:
		return ""
	}
	return a.why(m)
}

// keyNames are keys in the words of the footer and the help page.
func (g *glyphs) keyName(key string) string {
	switch key {
	case "up":
		return g.up
	case "down":
		return g.down
	case "left":
		return g.left
	case "right":
		return g.right
	case "pgup":
		return "PgUp"
	case "pgdown":
		return "PgDn"
	case "enter":
		return "Enter"
	case "esc":
		return "Esc"
	case "tab":
		return "Tab"
	case "shift+tab":
		return "Shift-Tab"
	case "home":
		return "Home"
	case "end":
		return "End"
	case "backspace":
		return "Backspace"
	}
	if len(key) > 5 && key[:5] == "ctrl+" {
		return "Ctrl-" + string(key[5]-'a'+'A')
	}
	return key
}
