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

// keymap returns all actions with their default keys, in the order of the help page. Each action of a pane comes after
// the action that it names.
func (m *model) keymap() []pane.Action {
	var all []pane.Action
	for _, a := range slices.Concat(findKeys(), traceKeys(), writeKeys(), listKeys(), moveKeys(&m.layout),
		paneActions(&m.layout), otherKeys()) {
		all = append(all, a.bind(m))
	}
	for _, p := range m.all {
		for _, a := range p.Actions() {
			if a.Own {
				a.Panes = []string{p.About().Name}
			}
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

// action is an action of the screen with its keys.
type action struct {
	key.Binding // empty if a feature has the key
	Name, Group string
	Label       string
	Rank        int
	Panes       []string
	Why         func(m *model) string // why the action is not possible now, "" if it is; nil: always possible
	Run         func(m *model) tea.Cmd
	// Command returns the command that the action runs, or the reason why the action is not possible. If Command is
	// set, Why and Run are not used.
	Command func(m *model) (command, why string)
	Session bool // needs the session for itself
}

// bind returns the action of one screen.
func (a *action) bind(m *model) pane.Action {
	if len(a.Binding.Keys()) == 0 {
		k := featureKey(func(k *feature.Key) bool { return k.Name == a.Name })
		a.Binding = pane.On(k.Help, strings.Fields(k.Keys)...)
	}
	out := pane.Action{Binding: a.Binding, Name: a.Name, Group: a.Group, Label: a.Label, Rank: a.Rank, Panes: a.Panes,
		Session: a.Session}
	out.Run = func() tea.Cmd { return a.Run(m) }
	switch {
	case a.Command != nil:
		out.Why = func() string { _, why := a.Command(m); return why }
		out.Run = func() tea.Cmd { command, _ := a.Command(m); return m.jobs.runCommand(command, true) }
	case a.Why != nil:
		out.Why = func() string { return a.Why(m) }
	}
	return out
}

// featureKey returns the key of a feature that wanted accepts, or the zero Key if there is none.
func featureKey(wanted func(*feature.Key) bool) feature.Key {
	all := shell.Keys()
	if i := slices.IndexFunc(all, func(k feature.Key) bool { return wanted(&k) }); i >= 0 {
		return all[i]
	}
	return feature.Key{}
}

func whyBusy(m *model) string { return m.jobs.whyBusy() }

// group returns actions that belong to one group of the help page.
func group(name string, all ...action) []action {
	for i := range all {
		all[i].Group = name
	}
	return all
}

func findKeys() []action {
	return group("Find and open",
		action{Name: "command", Binding: pane.On("type a command; Tab completes, Up and Down recall", ":"),
			Label: "command", Rank: 9, Run: func(m *model) tea.Cmd { return m.prompt.openCommand("") }},
		action{Name: "filter", Binding: pane.On("show only rows with a TEXT, /REGEXP or ~LETTERS; ! inverts it; "+
			"NODE/PORT goes to that port", "/"), Label: "filter", Rank: 8, Why: whyNotFilter,
			Run: func(m *model) tea.Cmd { return m.prompt.openFilter() }},
		action{Name: "next-match", Binding: pane.On("go to the next row with the text of the last filter", "n"),
			Why: whyNotSearched, Run: again(1)},
		action{Name: "previous-match", Binding: pane.On("go to the previous row with the text of the last filter", "N"),
			Why: whyNotSearched, Run: again(-1)},
		action{Name: "escape", Binding: pane.On("clear the filter, go back, or cancel the running command", "esc"),
			Why: whyNoEscape, Run: escape},
		action{Name: "open", Binding: pane.On("open the selected row; in the log, recall the command", "enter"),
			Label: "open", Rank: 3, Why: whyNotOpen, Run: open},
		action{Name: "info", Binding: pane.On("show the details of the selection", "i"), Label: "info", Rank: 15,
			Why: whyNoInfo, Run: func(m *model) tea.Cmd { return m.pages.openInfo() }},
		action{Name: "back", Binding: pane.On("go back to the previous place", "[", "backspace"), Why: whyNotBack,
			Run: func(m *model) tea.Cmd { return m.walk(-1) }},
		action{Name: "forward", Binding: pane.On("go forward to the next place", "]"), Why: whyNotForward,
			Run: func(m *model) tea.Cmd { return m.walk(1) }},
	)
}

func traceKeys() []action {
	return group("Trace",
		action{Name: "who-uses", Label: "paths over it", Rank: 12, Command: usesCommand},
		action{Name: "jobs-on", Command: jobsCommand},
		action{Name: "why", Command: whyCommand},
		action{Name: "congestion", Why: whyNotRoute, Run: runs("congestion")},
		action{Name: "picture", Label: "state", Rank: 13, Why: whyOneState,
			Run: func(m *model) tea.Cmd { return m.choice.next() }},
		action{Name: "time-back",
			Binding: pane.On("go to the previous state of the history; :at TIME goes to any time: "+
				"03:12, yesterday 22:00; :at TIME TIME compares two", "("), Run: step(-1)},
		action{Name: "time-forward", Binding: pane.On("go to the next state of the history", ")"), Why: whyNotLater,
			Run: step(1)},
		action{Name: "now", Binding: pane.On("return to the present state", "B"), Label: "now", Rank: 12,
			Why: whyNotNow,
			Run: showNow},
	)
}

func writeKeys() []action {
	return group("Simulate and write",
		action{Name: "fail", Label: "fail", Rank: 4, Why: whyNotFail, Run: fail},
		action{Name: "undo", Label: "undo", Rank: 5, Session: true, Command: undoCommand},
		action{Name: "route", Label: "route", Rank: 6, Why: whyNotRoute, Run: runs("route")},
		action{Name: "diff", Label: "diff", Rank: 7, Why: whyNotDiff, Run: diffNow},
		action{Name: "commit", Label: "commit", Rank: 10, Why: whyNotCommit,
			Run: func(m *model) tea.Cmd { return m.pages.openCommit() }},
		action{Name: "drain", Why: whyNotDrainNow,
			Run: func(m *model) tea.Cmd { return m.pages.openDrain("drain") }},
		action{Name: "undrain", Why: whyNotDrain,
			Run: func(m *model) tea.Cmd { return m.pages.openDrain("undrain") }},
		action{Name: "write", Why: whyNotWrite, Run: toggleWrite},
		action{Name: "sweep", Label: "read again", Rank: 16, Why: whyNotSweep, Run: runs("sweep")},
		action{Name: "watch", Why: whyNotWatch, Run: toggleWatch},
	)
}

func listKeys() []action {
	return group("Lists",
		action{Name: "sort", Binding: pane.On("sort by the next column, up and then down", "s"),
			Label: "sort", Rank: 11,
			Why: whyNotSort, Run: sort},
		action{Name: "by", Binding: pane.On("switch the view of the list: by LID or port, as a map, by rank or chassis",
			"b"), Label: "by", Rank: 10, Why: whyNoKind, Run: nextKind},
		action{Name: "mark", Binding: pane.On("mark or unmark the row; f, c and e work on the marked rows", " ",
			"m"), Why: whyNoRow, Run: markRow},
		action{Name: "mark-range", Binding: pane.On("mark the rows from the nearest marked row to the cursor",
			"ctrl+@"), Why: whyNoMarks, Run: markRange},
		action{Name: "unmark", Binding: pane.On("unmark all rows of the list", "M"), Why: whyNoMarks, Run: unmark},
		action{Name: "hosts", Why: whyNoSet, Run: nameHosts},
		action{Name: "copy",
			Binding: pane.On("copy the row, or the marked rows, to the clipboard of the terminal (OSC 52)",
				"c"), Label: "copy", Rank: 17, Why: whyNoRow, Run: copyRows},
		action{Name: "export", Binding: pane.On("write the list to a file: .txt, .csv or .json", "e"), Label: "export",
			Rank: 18, Why: whyNotExport, Run: openExport},
		action{Name: "work-list", Why: whyNotCabling, Run: workList},
		action{Name: "freeze", Binding: pane.On("stop or continue updates of the panes", "Z"), Run: freeze},
	)
}

func moveKeys(d *layout) []action {
	move := func(by func(t *draw.Table) int) func(m *model) tea.Cmd {
		return func(m *model) tea.Cmd {
			t := m.pane().Base()
			if pic, ok := m.pane().(pane.Pictured); ok && pic.IsPicture() {
				pic.Walk(0, by(t))
				m.follow()
				return nil
			}
			m.moveTo(t.Cursor + by(t))
			return nil
		}
	}
	page := func(by int) func(*draw.Table) int {
		return func(t *draw.Table) int { return t.Jump(by, t.Height-1) }
	}
	half := func(by int) func(*draw.Table) int {
		return func(t *draw.Table) int { return t.Jump(by, t.Height/2) }
	}
	all := func(t *draw.Table) int { return t.N }
	sideways := func(by int) func(m *model) tea.Cmd { return func(m *model) tea.Cmd { return m.sideways(by) } }
	return group("Move",
		action{
			Name: "up", Binding: pane.On("move up", "up", "k"), Run: move(func(*draw.Table) int { return -1 }),
		},
		action{Name: "down", Binding: pane.On("move down", "down", "j"),
			Run: move(func(*draw.Table) int { return 1 })},
		action{Name: "page-up", Binding: pane.On("page up", "pgup", "ctrl+b"),
			Run: move(page(-1))},
		action{Name: "page-down", Binding: pane.On("page down", "pgdown", "ctrl+f"),
			Run: move(page(1))},
		action{Name: "half-up", Binding: pane.On("half a page up", "ctrl+u"),
			Run: move(half(-1))},
		action{Name: "half-down", Binding: pane.On("half a page down", "ctrl+d"), Run: move(half(1))},
		action{Name: "first", Binding: pane.On("go to the first row", "g", "home"),
			Run: move(func(t *draw.Table) int { return -all(t) })},
		action{Name: "last", Binding: pane.On("go to the last row", "G", "end"),
			Run: move(all)},
		action{Name: "left", Binding: pane.On("close the branch; scroll long lines, columns or the map back; previous "+
			"event",
			"left", "h"), Panes: movers(d), Run: sideways(-1)},
		action{Name: "right", Binding: pane.On("open the branch; scroll long lines, columns or the map; next event",
			"right", "l"),
			Panes: movers(d), Run: sideways(1)},
		action{Name: "wrap", Binding: pane.On("wrap the long lines of the log or of the text of an answer, or cut them",
			`\`), Panes: wrappers(d), Why: whyNotWrap, Run: toggleWrap},
	)
}

// wrappers returns the names of the panes whose long lines can be wrapped.
func wrappers(d *layout) []string {
	var out []string
	for _, p := range d.all {
		if _, ok := p.(pane.Wrapper); ok {
			out = append(out, p.About().Name)
		}
	}
	return out
}

// movers returns the names of the panes in which the keys left and right have an effect.
func movers(d *layout) []string {
	var out []string
	for _, p := range d.all {
		_, moves := p.(pane.Mover)
		_, draws := p.(pane.Pictured)
		if _, steps := p.(pane.Stepper); moves || steps || draws {
			out = append(out, p.About().Name)
		}
	}
	return out
}

func paneActions(d *layout) []action {
	var list []action
	for i := range d.all {
		list = append(list, action{Name: d.keys[i].Name, Run: func(m *model) tea.Cmd { return m.visit(i) }})
	}
	step := func(by int) func(m *model) tea.Cmd {
		return func(m *model) tea.Cmd { return m.visit((m.focus + by + len(m.all)) % len(m.all)) }
	}
	widen := func(by int) func(m *model) tea.Cmd {
		return func(m *model) tea.Cmd { m.leftShare = max(min(m.leftShare+by, 24), -16); m.fit(); return nil }
	}
	return group("Panes", append(list,
		action{Name: "next-pane", Binding: pane.On("go to the next pane", "tab"), Run: step(1)},
		action{Name: "previous-pane", Binding: pane.On("go to the previous pane", "shift+tab"), Run: step(-1)},
		action{Name: "next-subnet", Binding: pane.On("go to the next subnet (:source NAME goes to subnet NAME)", "}"),
			Why: whyOneSubnet, Run: nextSubnet(1)},
		action{Name: "previous-subnet", Binding: pane.On("go to the previous subnet", "{"), Why: whyOneSubnet,
			Run: nextSubnet(-1)},
		action{Name: "zoom", Binding: pane.On("show the pane on the whole screen; on a small screen, show two panes",
			"z"),
			Label: "zoom", Rank: 14, Run: toggleZoom},
		action{Name: "narrower", Binding: pane.On("make the panes on the left narrower", "<"), Run: widen(-4)},
		action{Name: "wider", Binding: pane.On("make the panes on the left wider", ">"), Run: widen(4)},
	)...)
}

func otherKeys() []action {
	return group("Program",
		action{Name: "dump", Why: whyBusy, Run: openForm("dump")},
		action{Name: "load", Why: whyBusy, Run: openForm("load")},
		action{Name: "engine", Why: whyBusy, Run: openForm("engine")},
		action{Name: "fail-guided", Why: whyBusy, Run: openForm("fail")},
		action{Name: "shell", Binding: pane.On("open the shell on the same session, as :shell; exit returns", "!"),
			Why: whyNoShell, Run: openShell},
		action{Name: "theme", Binding: pane.On("switch the theme: dark, light, contrast, none", "ctrl+t"),
			Why: whyNoTheme,
			Run: nextTheme},
		action{Name: "tour", Binding: pane.On("start or end the tour", "ctrl+g"), Run: toggleTour},
		action{Name: "help",
			Binding: pane.On("list all keys; Enter runs the selected one, ? again lists the columns of "+
				"the pane", "?"), Label: "keys", Rank: 20, Run: openHelp},
		action{Name: "save-screen", Binding: pane.On("write the screen to a file: .svg or .txt", "ctrl+p"),
			Why: whyNotSaved, Run: openPicture},
		action{Name: "suspend", Binding: pane.On("suspend the program; fg continues it", "ctrl+z"),
			Run: func(*model) tea.Cmd { return tea.Suspend }},
		action{Name: "interrupt", Binding: pane.On("cancel the running command; else quit", "ctrl+c"), Run: interrupt},
		action{Name: "quit", Binding: pane.On("quit", "q"), Label: "quit", Rank: 21, Run: quit},
	)
}

// runs returns the function of an action that runs a command.
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

// reason returns the reason why an action is not possible at present, or "" if it is possible.
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

// keyWord returns the first key of an action, in the form in which the screen shows keys. It returns "" if the action
// has no key.
func keyWord(g *draw.Glyphs, a *pane.Action) string {
	if len(a.Keys()) == 0 {
		return ""
	}
	return g.KeyName(a.Keys()[0])
}
