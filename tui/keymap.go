// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"slices"
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/shell"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

// keymap lists all actions with the keys that they have unless they are rebound,
// in the order of the help page. Those of panes stand behind the ones that they name.
func (m *model) keymap() []pane.Action {
	var all []pane.Action
	for _, a := range slices.Concat(findKeys(), traceKeys(), paperKeys(), listKeys(), moveKeys(&m.layout),
		paneActions(&m.layout), otherKeys()) {
		all = append(all, a.bind(m))
	}
	for _, p := range m.all {
		for _, a := range p.Actions() {
			a.Run = func() tea.Cmd {
				return m.jump(func() tea.Cmd { return m.handle(a.Do()) })
			}
			at := slices.IndexFunc(all, func(x pane.Action) bool {
				return x.Name == a.After || a.After == "" && x.Group == a.Group
			})
			all = slices.Insert(all, at+draw.Btoi(a.After != ""), a)
		}
	}
	return all
}

// keymap lists all actions of any screen.
func keymap() []pane.Action {
	c := &pane.Common{Look: &draw.Theme{}}
	m := &model{Common: c, layout: newLayout(newPanes(c, nil))}
	return m.keymap()
}

// action is what a key of the screen does, as functions of the screen.
type action struct {
	key.Binding // none where a feature has the key
	Name, Group string
	Label       string
	Rank        int
	Panes       []string
	Why         func(m *model) string // returns why the action cannot be done now, "" if it can; nil: always
	Run         func(m *model) tea.Cmd
}

// bind returns the action of one screen.
func (a *action) bind(m *model) pane.Action {
	if len(a.Binding.Keys()) == 0 {
		k := featureKey(func(k *feature.Key) bool { return k.Name == a.Name })
		a.Binding = pane.On(k.Help, strings.Fields(k.Keys)...)
	}
	out := pane.Action{Binding: a.Binding, Name: a.Name, Group: a.Group, Label: a.Label, Rank: a.Rank, Panes: a.Panes}
	out.Run = func() tea.Cmd { return a.Run(m) }
	if a.Why != nil {
		out.Why = func() string { return a.Why(m) }
	}
	return out
}

// featureKey returns the key of a feature that is asked for, a key without a name where there is none.
func featureKey(wanted func(*feature.Key) bool) feature.Key {
	all := shell.Keys()
	if i := slices.IndexFunc(all, func(k feature.Key) bool { return wanted(&k) }); i >= 0 {
		return all[i]
	}
	return feature.Key{}
}

func whyBusy(m *model) string { return m.jobs.whyBusy() }

func findKeys() []action {
	return []action{
		{Name: "command", Binding: pane.On("type a command; Tab completes, Up and Down recall", ":"),
			Group: "Find and say", Label: "command", Rank: 9, Run: func(m *model) tea.Cmd {
				return m.prompt.openCommand("")
			}},
		{Name: "filter", Binding: pane.On("show only rows with a TEXT, /REGEXP or ~LETTERS; ! before it turns it "+
			"round; NODE/PORT goes to that port", "/"), Group: "Find and say", Label: "filter", Rank: 8,
			Why: whyNotFilter, Run: func(m *model) tea.Cmd {
				return m.prompt.openFilter()
			}},
		{Name: "escape", Binding: pane.On("clear the filter, leave the log, or cancel what runs", "esc"),
			Group: "Find and say", Why: whyNoEscape, Run: escape},
		{
			Name: "open", Binding: pane.On("open; go to the next hop, to the thing, to its picture; recall a command",
				"enter"), Group: "Find and say", Label: "open", Rank: 3, Why: whyNotOpen, Run: open,
		},
		{Name: "info", Binding: pane.On("all that is known of what is selected", "i"), Group: "Find and say",
			Label: "info", Rank: 15, Why: whyNoInfo, Run: func(m *model) tea.Cmd {
				return m.pages.openInfo()
			}},
		{Name: "back", Binding: pane.On("back to what was looked at before", "[", "backspace"), Group: "Find and say",
			Why: whyNotBack, Run: func(m *model) tea.Cmd {
				return m.walk(-1)
			}},
		{Name: "forward", Binding: pane.On("forward again", "]"), Group: "Find and say", Why: whyNotForward,
			Run: func(m *model) tea.Cmd {
				return m.walk(1)
			}},
	}
}

func traceKeys() []action {
	return []action{
		{Name: "who-uses", Group: "Trace", Label: "who uses it", Rank: 12, Why: whyNotUses, Run: whoUses},
		{Name: "picture", Group: "Trace", Label: "picture", Rank: 13, Why: whyOnePicture, Run: func(m *model) tea.Cmd {
			return m.choice.next()
		}},
		{
			Name: "time-back",
			Binding: pane.On("what was seen before what is shown; :at TIME goes to any time: 03:12, yesterday 22:00",
				"("), Group: "Trace", Run: step(-1),
		},
		{Name: "time-forward", Binding: pane.On("what was seen after it", ")"), Group: "Trace", Why: whyNotLater,
			Run: step(1)},
		{Name: "now", Binding: pane.On("back to the present, from what was", "B"), Group: "Trace", Label: "now",
			Rank: 12, Why: whyNotNow, Run: showNow},
	}
}

func paperKeys() []action {
	return []action{
		{Name: "fail", Group: "Paper", Label: "fail", Rank: 4, Why: whyNotFail, Run: fail},
		{Name: "undo", Group: "Paper", Label: "undo", Rank: 5, Why: whyNotUndo, Run: undo},
		{Name: "route", Group: "Paper", Label: "route", Rank: 6, Why: whyNotRoute, Run: says("route")},
		{Name: "diff", Group: "Paper", Label: "diff", Rank: 7, Why: whyNotDiff, Run: diffNow},
		{Name: "commit", Group: "Paper", Label: "commit", Rank: 10, Why: whyNotCommit, Run: func(m *model) tea.Cmd {
			return m.pages.openCommit()
		}},
		{Name: "write", Group: "Paper", Why: whyNotWrite, Run: toggleWrite},
		{Name: "sweep", Group: "Paper", Label: "read again", Rank: 16, Why: whyNotSweep, Run: says("sweep")},
		{Name: "watch", Group: "Paper", Why: whyNotWatch, Run: toggleWatch},
	}
}

func listKeys() []action {
	return []action{
		{Name: "sort", Binding: pane.On("sort by the next column, up and then down", "s"), Group: "Lists",
			Label: "sort", Rank: 11, Why: whyNotSort, Run: sort},
		{
			Name: "by", Binding: pane.On("show the list in another manner: by LID or port, as a map, by rank or "+
				"chassis", "b"), Group: "Lists", Label: "by", Rank: 10, Why: whyNoKind, Run: nextKind,
		},
		{Name: "mark", Binding: pane.On("mark the row, or take its mark; f, c and e take all that are marked", "m"),
			Group: "Lists", Why: whyNoRow, Run: markRow},
		{Name: "unmark", Binding: pane.On("take all marks of the list", "M"), Group: "Lists", Why: whyNoMarks,
			Run: unmark},
		{Name: "hosts", Group: "Lists", Why: whyNoSet, Run: nameHosts},
		{
			Name: "copy", Binding: pane.On("copy the row, or those marked, to the clipboard of the terminal (OSC 52)",
				"c"), Group: "Lists", Label: "copy", Rank: 17, Why: whyNoRow, Run: copyRows,
		},
		{Name: "export", Binding: pane.On("write the list as it is shown to a file: .txt, .csv or .json", "e"),
			Group: "Lists", Label: "export", Rank: 18, Why: whyNotExport, Run: openExport},
		{Name: "freeze", Binding: pane.On("let the panes stand still while the subnet changes, or go on", " "),
			Group: "Lists", Run: freeze},
	}
}

func moveKeys(d *layout) []action {
	move := func(by int) func(m *model) tea.Cmd {
		return func(m *model) tea.Cmd { m.moveTo(m.pane().Base().Cursor + by); return nil }
	}
	page := func(by int) func(m *model) tea.Cmd {
		return func(m *model) tea.Cmd { w := m.pane().Base(); m.moveTo(w.Cursor + by*max(w.Height-1, 1)); return nil }
	}
	return []action{
		{Name: "up", Binding: pane.On("up", "up", "k"), Group: "Move", Run: move(-1)},
		{Name: "down", Binding: pane.On("down", "down", "j"), Group: "Move", Run: move(1)},
		{Name: "page-up", Binding: pane.On("a page up", "pgup", "ctrl+b"), Group: "Move", Run: page(-1)},
		{Name: "page-down", Binding: pane.On("a page down", "pgdown", "ctrl+f"), Group: "Move", Run: page(1)},
		{Name: "first", Binding: pane.On("to the first row", "g", "home"), Group: "Move", Run: func(m *model) tea.Cmd {
			m.moveTo(0)
			return nil
		}},
		{Name: "last", Binding: pane.On("to the last row", "G", "end"), Group: "Move", Run: func(m *model) tea.Cmd {
			m.moveTo(m.pane().Base().N - 1)
			return nil
		}},
		{Name: "left", Binding: pane.On("shut the branch; move long lines or the map back; the event before", "left",
			"h"), Group: "Move", Panes: movers(d), Run: func(m *model) tea.Cmd {
			return m.sideways(-1)
		}},
		{Name: "right", Binding: pane.On("open the branch; move long lines or the map; the event after", "right", "l"),
			Group: "Move", Panes: movers(d), Run: func(m *model) tea.Cmd {
				return m.sideways(1)
			}},
	}
}

// movers names the panes for which the keys left and right do something.
func movers(d *layout) []string {
	var out []string
	for _, p := range d.all {
		_, moves := p.(pane.Mover)
		if _, steps := p.(pane.Stepper); moves || steps {
			out = append(out, p.About().Name)
		}
	}
	return out
}

func paneActions(d *layout) []action {
	list := []action{}
	for i := range d.all {
		list = append(list, action{
			Name: d.keys[i].Name, Group: "Panes",
			Run: func(m *model) tea.Cmd { return m.visit(i) },
		})
	}
	step := func(by int) func(m *model) tea.Cmd {
		return func(m *model) tea.Cmd { return m.visit((m.focus + by + len(m.all)) % len(m.all)) }
	}
	leftShare := func(by int) func(m *model) tea.Cmd {
		return func(m *model) tea.Cmd { m.leftShare = max(min(m.leftShare+by, 24), -16); m.fit(); return nil }
	}
	return append(list,
		action{Name: "next-pane", Binding: pane.On("the next pane", "tab"), Group: "Panes", Run: step(1)},
		action{Name: "previous-pane", Binding: pane.On("the pane before", "shift+tab"), Group: "Panes", Run: step(-1)},
		action{Name: "next-subnet", Binding: pane.On("the next subnet of several; :source NAME goes to one", "}"),
			Group: "Panes", Why: whyOneSubnet, Run: nextSubnet(1)},
		action{Name: "previous-subnet", Binding: pane.On("the subnet before", "{"), Group: "Panes", Why: whyOneSubnet,
			Run: nextSubnet(-1)},
		action{Name: "zoom", Binding: pane.On("give the pane the whole screen; on a small screen, show two", "z"),
			Group: "Panes", Label: "zoom", Rank: 14, Run: toggleZoom},
		action{Name: "narrower", Binding: pane.On("make the panes at the left narrower", "<"), Group: "Panes",
			Run: leftShare(-4)},
		action{Name: "wider", Binding: pane.On("make the panes at the left wider", ">"), Group: "Panes", Run: leftShare(4)},
	)
}

func otherKeys() []action {
	return []action{
		{Name: "dump", Group: "Program", Why: whyBusy, Run: openForm("dump")},
		{Name: "load", Group: "Program", Why: whyBusy, Run: openForm("load")},
		{Name: "engine", Group: "Program", Why: whyBusy, Run: openForm("engine")},
		{Name: "fail-guided", Group: "Program", Why: whyBusy, Run: openForm("fail")},
		{Name: "shell", Binding: pane.On("the shell on the same session, as :shell; exit comes back", "!"),
			Group: "Program", Why: whyNoShell, Run: openShell},
		{Name: "theme", Binding: pane.On("the next theme: dark, light, contrast, none", "ctrl+t"), Group: "Program",
			Why: whyNoTheme, Run: nextTheme},
		{Name: "tour", Binding: pane.On("begin or end the tour", "ctrl+g"), Group: "Program", Run: toggleTour},
		{
			Name: "help", Binding: pane.On("this page; Enter does what is selected, ? again goes to what the columns "+
				"of the pane are", "?"), Group: "Program", Label: "keys", Rank: 20, Run: openHelp,
		},
		{Name: "suspend", Binding: pane.On("stop until the shell's fg", "ctrl+z"), Group: "Program",
			Run: func(m *model) tea.Cmd {
				return tea.Suspend
			}},
		{Name: "interrupt", Binding: pane.On("cancel what runs; else quit", "ctrl+c"), Group: "Program",
			Run: interrupt},
		{Name: "quit", Binding: pane.On("quit", "q"), Group: "Program", Label: "quit", Rank: 21, Run: quit},
	}
}

// says runs a command.
func says(text string) func(m *model) tea.Cmd {
	return func(m *model) tea.Cmd { return m.jobs.runCommand(text, true) }
}

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
		return "this is for " + strings.Join(prose.Words(a.Panes, func(name string) string {
			return m.digit(m.named(name)) + " " + name
		}), ", ")
	}
	if a.Why != nil {
		if why := a.Why(); why != "" {
			return why
		}
	}
	if a.Session {
		return m.jobs.whyBusy()
	}
	return ""
}

// keyWord is the first key of an action as the screen writes it, "" for none.
func keyWord(g *draw.Glyphs, a *pane.Action) string {
	if len(a.Keys()) == 0 {
		return ""
	}
	return g.KeyName(a.Keys()[0])
}
