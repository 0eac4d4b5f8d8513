// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
)

// action is something that a key does. The footer, the help page, the list of keys
// in the documents and what a configuration file can rebind are made of these.
type action struct {
	name  string   // by which it is bound
	keys  []string // the first stands for them in the footer
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

func on(keys ...string) []string { return keys }

// keymap lists all actions with the keys that they have unless they are rebound,
// in the order of the help page.
func keymap() []action {
	return slices.Concat(findKeys(), traceKeys(), paperKeys(), listKeys(), moveKeys(), paneKeys(), otherKeys())
}

func findKeys() []action {
	return []action{
		{name: "command", keys: on(":"), group: "Find and say", label: "command", rank: 9, help: "type a command; Tab completes, Up and Down recall", run: (*model).openCommand},
		{name: "filter", keys: on("/"), group: "Find and say", label: "filter", rank: 8, help: "show only rows with a TEXT, /REGEXP or ~LETTERS; ! before it turns it round", why: (*model).whyNotFilter, run: (*model).openFilter},
		{name: "escape", keys: on("esc"), group: "Find and say", help: "clear the filter, leave the log, or cancel what runs", why: (*model).whyNoEscape, run: (*model).escape},
		{name: "open", keys: on("enter"), group: "Find and say", label: "open", rank: 3, help: "open; go to the next hop, to the thing, to its picture; recall a command", why: (*model).whyNotOpen, run: (*model).open},
		{name: "info", keys: on("i"), group: "Find and say", label: "info", rank: 15, help: "all that is known of what is selected", why: (*model).whyNoInfo, run: (*model).openInfo},
		{name: "back", keys: on("[", "backspace"), group: "Find and say", help: "back to what was looked at before", why: (*model).whyNotBack, run: func(m *model) tea.Cmd { return m.walk(-1) }},
		{name: "forward", keys: on("]"), group: "Find and say", help: "forward again", why: (*model).whyNotForward, run: func(m *model) tea.Cmd { return m.walk(1) }},
	}
}

func traceKeys() []action {
	return []action{
		{name: "trace-from", keys: on("t"), group: "Trace", label: "from", rank: 1, help: "trace packets from what is selected", why: (*model).whyNoEnd, run: func(m *model) tea.Cmd { return m.mark(0) }},
		{name: "trace-to", keys: on("T"), group: "Trace", label: "to", rank: 2, help: "trace packets to what is selected", why: (*model).whyNoEnd, run: func(m *model) tea.Cmd { return m.mark(1) }},
		{name: "trace-back", keys: on("x"), group: "Trace", label: "way back", rank: 12, help: "exchange source and destination", why: (*model).whyNoTrace, run: (*model).exchange},
		{name: "who-uses", keys: on("p"), group: "Trace", label: "who uses it", rank: 12, help: "whose packets go over the selected link or switch", why: (*model).whyNotUses, run: (*model).whoUses},
		{name: "picture", keys: on("v"), group: "Trace", label: "picture", rank: 13, help: "show another picture: live, base, whatif, staged", why: (*model).whyOnePicture, run: (*model).nextPicture},
	}
}

func paperKeys() []action {
	return []action{
		{name: "fail", keys: on("f"), group: "Paper", label: "fail", rank: 4, help: "let the selected link, switch or host fail on paper; all that are marked", why: (*model).whyNotFail, run: (*model).fail},
		{name: "undo", keys: on("u"), group: "Paper", label: "undo", rank: 5, help: "take a failure back: that of what is selected, or else the last one", why: (*model).whyNotUndo, run: (*model).undo},
		{name: "route", keys: on("r"), group: "Paper", label: "route", rank: 6, help: "compute routes for it; they are staged, not written", why: (*model).whyNotRoute, run: says("route")},
		{name: "diff", keys: on("d"), group: "Paper", label: "diff", rank: 7, help: "say what changes from the base to what is staged; of an entry of the history, what changed since", why: (*model).whyNotDiff, run: (*model).diffNow},
		{name: "whatif", keys: on("w"), group: "Paper", help: "say in the log what has failed on paper", run: says("whatif")},
		{name: "diff-before", keys: on("P"), group: "Paper", label: "diff before", rank: 6, help: "say what changed between the entry that it came from and the selected one", panes: []paneID{paneHistory}, why: (*model).whyNotDiffBefore, run: (*model).diffBefore},
		{name: "study", keys: on("S"), group: "Paper", label: "try all", rank: 3, help: "let everything fail in turn, and stop or go on with that", panes: []paneID{paneResilience}, why: (*model).whyNotStudy, run: (*model).studyNow},
		{name: "commit", keys: on("C"), group: "Paper", label: "commit", rank: 10, help: "read what a commit would write, and where; only from there can it be written", why: (*model).whyNotCommit, run: (*model).openCommit},
		{name: "sweep", keys: on("R"), group: "Paper", label: "read again", rank: 16, help: "read the subnet again", why: (*model).whyNotSweep, run: says("sweep")},
	}
}

func listKeys() []action {
	return []action{
		{name: "sort", keys: on("s"), group: "Lists", label: "sort", rank: 11, help: "sort by the next column, up and then down", why: (*model).whyNotSort, run: (*model).sort},
		{name: "by", keys: on("b"), group: "Lists", label: "by", rank: 10, help: "show the list in another manner: by LID or port, as a map, by rank or chassis", why: (*model).whyNoKind, run: (*model).nextKind},
		{name: "changed", keys: on("o"), group: "Lists", label: "changed", rank: 11, help: "show changed entries only, or all again", panes: []paneID{paneLFT}, why: func(m *model) string { return m.lft.whyNotChanged() }, run: (*model).toggleChanged},
		{name: "mark", keys: on("m"), group: "Lists", help: "mark the row, or take its mark; f, c and e take all that are marked", why: (*model).whyNoRow, run: (*model).markRow},
		{name: "unmark", keys: on("M"), group: "Lists", help: "take all marks of the list", why: (*model).whyNoMarks, run: (*model).unmark},
		{name: "copy", keys: on("c"), group: "Lists", label: "copy", rank: 17, help: "copy the row, or those marked, to the clipboard of the terminal (OSC 52)", why: (*model).whyNoRow, run: (*model).copyRows},
		{name: "export", keys: on("e"), group: "Lists", label: "export", rank: 18, help: "write the list as it is shown to a file: .txt, .csv or .json", why: (*model).whyNotExport, run: (*model).openExport},
		{name: "freeze", keys: on(" "), group: "Lists", help: "let the panes stand still while the subnet changes, or go on", run: (*model).freeze},
	}
}

func moveKeys() []action {
	move := func(by int) func(*model) tea.Cmd {
		return func(m *model) tea.Cmd { m.moveTo(m.pane().base().cursor + by); return nil }
	}
	page := func(by int) func(*model) tea.Cmd {
		return func(m *model) tea.Cmd { w := m.pane().base(); m.moveTo(w.cursor + by*max(w.height-1, 1)); return nil }
	}
	aside := []paneID{paneTopology, paneLoad, paneLog}
	return []action{
		{name: "up", keys: on("up", "k"), group: "Move", help: "up", run: move(-1)},
		{name: "down", keys: on("down", "j"), group: "Move", help: "down", run: move(1)},
		{name: "page-up", keys: on("pgup", "ctrl+b"), group: "Move", help: "a page up", run: page(-1)},
		{name: "page-down", keys: on("pgdown", "ctrl+f"), group: "Move", help: "a page down", run: page(1)},
		{name: "first", keys: on("g", "home"), group: "Move", help: "to the first row", run: func(m *model) tea.Cmd { m.moveTo(0); return nil }},
		{name: "last", keys: on("G", "end"), group: "Move", help: "to the last row", run: func(m *model) tea.Cmd { m.moveTo(m.pane().base().n - 1); return nil }},
		{name: "left", keys: on("left", "h"), group: "Move", panes: aside, help: "shut the branch; move long lines or the map back", run: func(m *model) tea.Cmd { m.sideways(-1); return nil }},
		{name: "right", keys: on("right", "l"), group: "Move", panes: aside, help: "open the branch; move long lines or the map", run: func(m *model) tea.Cmd { m.sideways(1); return nil }},
	}
}

func paneKeys() []action {
	list := []action{}
	words := [...]string{
		paneProblems: "what is wrong with the subnet", paneTopology: "switches, and hosts below them", paneLFT: "the forwarding table of the selected switch",
		paneTrace: "the path of packets, hop by hop", paneWhatIf: "what has failed on paper, and what follows", paneLoad: "how many paths take each link",
		paneHistory: "what the subnet was", paneLog: "what was run, and what it said", paneResilience: "what becomes of the routes when each link, switch or pair of links fails",
		paneGroups: "multicast groups, their members and trees",
	}
	for id := paneProblems; int(id) <= paneCount; id++ {
		list = append(list, action{
			name: "pane-" + id.key(), keys: on(id.key()), group: "Panes", help: words[id],
			run: func(m *model) tea.Cmd { return m.visit(id) },
		})
	}
	step := func(by int) func(*model) tea.Cmd {
		return func(m *model) tea.Cmd { return m.visit((m.focus+paneID(paneCount+by)-1)%paneID(paneCount) + 1) }
	}
	lean := func(by int) func(*model) tea.Cmd {
		return func(m *model) tea.Cmd { m.lean = max(min(m.lean+by, 24), -16); m.fit(); return nil }
	}
	return append(list,
		action{name: "next-pane", keys: on("tab"), group: "Panes", help: "the next pane", run: step(1)},
		action{name: "previous-pane", keys: on("shift+tab"), group: "Panes", help: "the pane before", run: step(-1)},
		action{name: "zoom", keys: on("z"), group: "Panes", label: "zoom", rank: 14, help: "give the pane the whole screen; on a small screen, show two", run: (*model).toggleZoom},
		action{name: "narrower", keys: on("<"), group: "Panes", help: "make the panes at the left narrower", run: lean(-4)},
		action{name: "wider", keys: on(">"), group: "Panes", help: "make the panes at the left wider", run: lean(4)},
	)
}

func otherKeys() []action {
	return []action{
		{name: "dump", keys: on("D"), group: "Program", help: "write routes or the topology to a file; asks what and where", why: (*model).whyBusy, run: opensForm("dump")},
		{name: "load", keys: on("L"), group: "Program", help: "read routes or a topology from a file; asks which", why: (*model).whyBusy, run: opensForm("load")},
		{name: "engine", keys: on("E"), group: "Program", help: "choose the routing engine and its options; asks step by step", why: (*model).whyBusy, run: opensForm("engine")},
		{name: "fail-guided", keys: on("F"), group: "Program", help: "let something fail on paper; asks what: a cable, a switch, a chassis, links at random", why: (*model).whyBusy, run: opensForm("fail")},
		{name: "shell", keys: on("!"), group: "Program", help: "the shell on the same session, as :shell; exit comes back", why: (*model).whyNoShell, run: (*model).openShell},
		{name: "theme", keys: on("ctrl+t"), group: "Program", help: "the next theme: dark, light, contrast, none", why: (*model).whyNoTheme, run: (*model).nextTheme},
		{name: "tour", keys: on("ctrl+g"), group: "Program", help: "begin or end the tour", run: (*model).toggleTour},
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

// action returns the action of a name.
func (m *model) action(name string) *action {
	for i := range m.actions {
		if m.actions[i].name == name {
			return &m.actions[i]
		}
	}
	return nil
}

// here says whether the action works in a pane.
func (a *action) here(id paneID) bool { return a.panes == nil || slices.Contains(a.panes, id) }

// reason says why the action cannot be done now, "" if it can.
func (a *action) reason(m *model) string {
	switch {
	case !a.here(m.focus):
		var names []string
		for _, id := range a.panes {
			names = append(names, id.key()+" "+paneNames[id])
		}
		return "this is for " + strings.Join(names, ", ")
	case a.why == nil:
		return ""
	}
	return a.why(m)
}

// keyWord is the first key of an action as the screen writes it, "" for none.
func (g *glyphs) keyWord(a *action) string {
	if len(a.keys) == 0 {
		return ""
	}
	return g.keyName(a.keys[0])
}

// keyName is a key as the footer and the help page write it.
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
	}
	return plainKeyName(key)
}

// plainKeyName is a key in words.
func plainKeyName(key string) string {
	words := map[string]string{
		" ": "Space", "pgup": "PgUp", "pgdown": "PgDn", "enter": "Enter", "esc": "Esc", "tab": "Tab", "shift+tab": "Shift-Tab",
		"home": "Home", "end": "End", "backspace": "Backspace", "up": "Up", "down": "Down", "left": "Left", "right": "Right", "delete": "Delete",
		"insert": "Insert",
	}
	if w, ok := words[key]; ok {
		return w
	}
	if rest, found := strings.CutPrefix(key, "ctrl+"); found {
		return "Ctrl-" + strings.ToUpper(rest)
	}
	if rest, found := strings.CutPrefix(key, "alt+"); found {
		return "Alt-" + rest
	}
	if len(key) > 1 && key[0] == 'f' {
		return strings.ToUpper(key)
	}
	return key
}
