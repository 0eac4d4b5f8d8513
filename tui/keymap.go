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

// keymap returns all actions with their default keys, in the order of the help page. Those of a pane follow the actions
// that they name.
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

// keymap returns the actions of any screen.
func keymap() []pane.Action {
	c := &pane.Common{Look: &draw.Theme{}}
	m := &model{Common: c, layout: newLayout(newPanes(c, nil))}
	return m.keymap()
}

// action is a key of the screen and what it does.
type action struct {
	key.Binding // empty if a feature has the key
	Name, Group string
	Label       string
	Rank        int
	Panes       []string
	Why         func(m *model) string // why the action is not possible now, "" if it is; nil: always possible
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

// featureKey returns a key of a feature, the zero key if there is none.
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
			Group: "Find and open", Label: "command", Rank: 9, Run: func(m *model) tea.Cmd {
				return m.prompt.openCommand("")
			}},
		{Name: "filter", Binding: pane.On("show only rows with a TEXT, /REGEXP or ~LETTERS; ! inverts it; "+
			"NODE/PORT goes to that port", "/"), Group: "Find and open", Label: "filter", Rank: 8,
			Why: whyNotFilter, Run: func(m *model) tea.Cmd {
				return m.prompt.openFilter()
			}},
		{Name: "escape", Binding: pane.On("clear the filter, go back, or cancel the running command", "esc"),
			Group: "Find and open", Why: whyNoEscape, Run: escape},
		{
			Name: "open", Binding: pane.On("open the selected row; in the log, recall the command",
				"enter"), Group: "Find and open", Label: "open", Rank: 3, Why: whyNotOpen, Run: open,
		},
		{Name: "info", Binding: pane.On("show the details of the selection", "i"), Group: "Find and open",
			Label: "info", Rank: 15, Why: whyNoInfo, Run: func(m *model) tea.Cmd {
				return m.pages.openInfo()
			}},
		{Name: "back", Binding: pane.On("go back to the previous stop", "[", "backspace"), Group: "Find and open",
			Why: whyNotBack, Run: func(m *model) tea.Cmd {
				return m.walk(-1)
			}},
		{Name: "forward", Binding: pane.On("go forward again", "]"), Group: "Find and open", Why: whyNotForward,
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
			Binding: pane.On("go to the previous state of the history; :at TIME goes to any time: 03:12, yesterday 22:00",
				"("), Group: "Trace", Run: step(-1),
		},
		{Name: "time-forward", Binding: pane.On("go to the next state of the history", ")"), Group: "Trace", Why: whyNotLater,
			Run: step(1)},
		{Name: "now", Binding: pane.On("return to the present state", "B"), Group: "Trace", Label: "now",
			Rank: 12, Why: whyNotNow, Run: showNow},
	}
}

func paperKeys() []action {
	return []action{
		{Name: "fail", Group: "Simulate and write", Label: "fail", Rank: 4, Why: whyNotFail, Run: fail},
		{Name: "undo", Group: "Simulate and write", Label: "undo", Rank: 5, Why: whyNotUndo, Run: undo},
		{Name: "route", Group: "Simulate and write", Label: "route", Rank: 6, Why: whyNotRoute, Run: runs("route")},
		{Name: "diff", Group: "Simulate and write", Label: "diff", Rank: 7, Why: whyNotDiff, Run: diffNow},
		{Name: "commit", Group: "Simulate and write", Label: "commit", Rank: 10, Why: whyNotCommit, Run: func(m *model) tea.Cmd {
			return m.pages.openCommit()
		}},
		{Name: "write", Group: "Simulate and write", Why: whyNotWrite, Run: toggleWrite},
		{Name: "sweep", Group: "Simulate and write", Label: "read again", Rank: 16, Why: whyNotSweep, Run: runs("sweep")},
		{Name: "watch", Group: "Simulate and write", Why: whyNotWatch, Run: toggleWatch},
	}
}

func listKeys() []action {
	return []action{
		{Name: "sort", Binding: pane.On("sort by the next column, up and then down", "s"), Group: "Lists",
			Label: "sort", Rank: 11, Why: whyNotSort, Run: sort},
		{
			Name: "by", Binding: pane.On("switch the view of the list: by LID or port, as a map, by rank or chassis", "b"), Group: "Lists", Label: "by", Rank: 10, Why: whyNoKind, Run: nextKind,
		},
		{Name: "mark", Binding: pane.On("mark or unmark the row; f, c and e work on the marked rows", "m"),
			Group: "Lists", Why: whyNoRow, Run: markRow},
		{Name: "unmark", Binding: pane.On("unmark all rows of the list", "M"), Group: "Lists", Why: whyNoMarks,
			Run: unmark},
		{Name: "hosts", Group: "Lists", Why: whyNoSet, Run: nameHosts},
		{
			Name: "copy", Binding: pane.On("copy the row, or the marked rows, to the clipboard of the terminal (OSC 52)",
				"c"), Group: "Lists", Label: "copy", Rank: 17, Why: whyNoRow, Run: copyRows,
		},
		{Name: "export", Binding: pane.On("write the list to a file: .txt, .csv or .json", "e"),
			Group: "Lists", Label: "export", Rank: 18, Why: whyNotExport, Run: openExport},
		{Name: "freeze", Binding: pane.On("stop or continue updates of the panes", " "),
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
		{Name: "page-up", Binding: pane.On("page up", "pgup", "ctrl+b"), Group: "Move", Run: page(-1)},
		{Name: "page-down", Binding: pane.On("page down", "pgdown", "ctrl+f"), Group: "Move", Run: page(1)},
		{Name: "first", Binding: pane.On("go to the first row", "g", "home"), Group: "Move", Run: func(m *model) tea.Cmd {
			m.moveTo(0)
			return nil
		}},
		{Name: "last", Binding: pane.On("go to the last row", "G", "end"), Group: "Move", Run: func(m *model) tea.Cmd {
			m.moveTo(m.pane().Base().N - 1)
			return nil
		}},
		{Name: "left", Binding: pane.On("close the branch; scroll long lines or the map back; previous event", "left",
			"h"), Group: "Move", Panes: movers(d), Run: func(m *model) tea.Cmd {
			return m.sideways(-1)
		}},
		{Name: "right", Binding: pane.On("open the branch; scroll long lines or the map; next event", "right", "l"),
			Group: "Move", Panes: movers(d), Run: func(m *model) tea.Cmd {
				return m.sideways(1)
			}},
	}
}

// movers returns the panes in which the keys left and right do something.
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
		action{Name: "next-pane", Binding: pane.On("go to the next pane", "tab"), Group: "Panes", Run: step(1)},
		action{Name: "previous-pane", Binding: pane.On("go to the previous pane", "shift+tab"), Group: "Panes", Run: step(-1)},
		action{Name: "next-subnet", Binding: pane.On("go to the next subnet; :source NAME goes to one", "}"),
			Group: "Panes", Why: whyOneSubnet, Run: nextSubnet(1)},
		action{Name: "previous-subnet", Binding: pane.On("go to the previous subnet", "{"), Group: "Panes", Why: whyOneSubnet,
			Run: nextSubnet(-1)},
		action{Name: "zoom", Binding: pane.On("show the pane on the whole screen; on a small screen, show two panes", "z"),
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
		{Name: "shell", Binding: pane.On("open the shell on the same session, as :shell; exit returns", "!"),
			Group: "Program", Why: whyNoShell, Run: openShell},
		{Name: "theme", Binding: pane.On("switch the theme: dark, light, contrast, none", "ctrl+t"), Group: "Program",
			Why: whyNoTheme, Run: nextTheme},
		{Name: "tour", Binding: pane.On("start or end the tour", "ctrl+g"), Group: "Program", Run: toggleTour},
		{
			Name: "help", Binding: pane.On("list all keys; Enter runs the selected one, ? again lists the columns of "+
				"the pane", "?"), Group: "Program", Label: "keys", Rank: 20, Run: openHelp,
		},
		{Name: "suspend", Binding: pane.On("suspend until fg", "ctrl+z"), Group: "Program",
			Run: func(m *model) tea.Cmd {
				return tea.Suspend
			}},
		{Name: "interrupt", Binding: pane.On("cancel the running command; else quit", "ctrl+c"), Group: "Program",
			Run: interrupt},
		{Name: "quit", Binding: pane.On("quit", "q"), Group: "Program", Label: "quit", Rank: 21, Run: quit},
	}
}

// runs returns an action that runs a command.
func runs(text string) func(m *model) tea.Cmd {
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

// reason returns why the action is not possible now, "" if it is.
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

// keyWord returns the first key of an action as the screen writes it, "" for none.
func keyWord(g *draw.Glyphs, a *pane.Action) string {
	if len(a.Keys()) == 0 {
		return ""
	}
	return g.KeyName(a.Keys()[0])
}
