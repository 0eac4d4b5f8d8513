// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

// visit gives a pane the keyboard, so that there is a way back.
func (m *model) visit(at int) tea.Cmd {
	return m.jump(func() tea.Cmd {
		m.setFocus(at)
		return nil
	})
}

func (m *model) toggleZoom() tea.Cmd {
	m.zoom = !m.zoom
	m.fit()
	return nil
}

func (m *model) whyOnePicture() string {
	if len(m.pictures()) < 2 && m.old == nil {
		return "there is no other picture: route, or let something fail"
	}
	return ""
}

// pictures are those that there are to choose from, "" for the default first.
func (m *model) pictures() []session.Kind {
	st := &m.sc.State
	out := []session.Kind{""}
	for _, k := range session.Kinds {
		p, err := st.Of(k)
		if err == nil && p != st.Default() && (k != session.Base || st.Base != nil) {
			out = append(out, k)
		}
	}
	return out
}

func (m *model) nextPicture() tea.Cmd {
	all := m.pictures()
	next := session.Kind("")
	if m.old == nil {
		next = all[(slices.Index(all, m.of)+1)%len(all)]
	}
	return m.choosePicture(next)
}

// choosePicture shows a picture of the session's state.
func (m *model) choosePicture(of session.Kind) tea.Cmd {
	m.of, m.old = of, nil
	m.shown()
	return nil
}

func (m *model) shown() {
	m.refresh()
	m.inform("the panes show " + m.sc.State.Title(m.sc.Picture))
}

// recalledMsg brings a picture out of the history.
type recalledMsg struct {
	pic *session.Picture
	err error
}

// recallPicture shows the picture of an entry of the history.
func (m *model) recallPicture(id int64) tea.Cmd {
	m.inform(fmt.Sprintf("reading entry %d", id))
	m.Common.Running++
	return func() tea.Msg {
		pic, err := pane.Shielded(func() (*session.Picture, error) { return m.back.Recall(id) })
		if err == nil {
			m.indexes.Of(pic.Fabric)
		}
		return recalledMsg{pic, err}
	}
}

func (m *model) recalled(msg recalledMsg) {
	m.Common.Running--
	if msg.err != nil {
		m.warn("history: " + msg.err.Error())
		return
	}
	m.old = msg.pic
	m.shown()
	m.inform(fmt.Sprintf("the panes show %s, as it was at %s: v shows the present", msg.pic.Kind, msg.pic.When.Format("2006-01-02 15:04")))
}

// counting is what the session calls the reading of counters. What is read for the
// trace gives way to every command.
const counting = "counters"

// whyBusy says what keeps the session from another operation.
func (m *model) whyBusy() string {
	if busy := m.back.State().Busy; busy != "" && (busy != counting || !m.holding()) {
		return busy + " is running: Esc cancels it"
	}
	return ""
}

func (m *model) whyNotRoute() string {
	if len(m.sc.State.Live.Fabric.Nodes) == 0 && m.sc.State.WhatIf == nil {
		return cmp.Or(m.whyBusy(), "there is no subnet to route: R reads it")
	}
	return m.whyBusy()
}

// Holding reports whether a pane keeps the session from other work.
func (m *model) holding() bool {
	return slices.ContainsFunc(m.all, func(p pane.Pane) bool {
		h, ok := p.(pane.Holder)
		return ok && h.Holding()
	})
}

// Yield ends what panes keep the session with, and returns a function that waits for that.
func (m *model) yield() (wait func()) {
	wait = func() {}
	for _, p := range m.all {
		if h, ok := p.(pane.Holder); ok && h.Holding() {
			before, ended := wait, h.Yield()
			wait = func() { before(); ended() }
		}
	}
	return wait
}

// rowDiff is the command that compares what is selected, if there is one.
func (m *model) rowDiff() (command string, ok bool) {
	if d, has := m.pane().(pane.Differ); has {
		return d.Diff()
	}
	return "", false
}

func (m *model) whyNotDiff() string {
	if _, ok := m.rowDiff(); !ok && m.sc.State.Staged == nil && m.sc.State.WhatIf == nil {
		return "there is only the live picture: f lets something fail, r routes"
	}
	return m.whyBusy()
}

func (m *model) diffNow() tea.Cmd {
	command, ok := m.rowDiff()
	return m.say(draw.When(ok, command, "diff"), true)
}

func (m *model) whyNotSweep() string {
	if m.sc.State.Source.Offline() {
		return "a file cannot be swept"
	}
	return m.whyBusy()
}

func (m *model) whyNotOpen() string {
	_, why := m.pane().Enter()
	return why
}

// open is Enter: it goes to what the selected row leads to.
func (m *model) open() tea.Cmd {
	act, _ := m.pane().Enter()
	return m.jump(func() tea.Cmd { return m.heed(act()) })
}

func (m *model) whyNotSort() string { return m.pane().WhyNotSort() }

func (m *model) sort() tea.Cmd {
	m.inform(cmp.Or(m.pane().Base().NextSort(), "in the order that they come in"))
	return nil
}

func (m *model) whyNoKind() string {
	if len(m.pane().Base().Kinds) == 0 {
		return "there is one manner of showing this"
	}
	return ""
}

func (m *model) nextKind() tea.Cmd {
	t := m.pane().Base()
	return m.setKind((t.Kind+1)%len(t.Kinds), 0)
}

// setKind shows the list in one of its manners, with the cursor on a row.
func (m *model) setKind(kind int, row uint64) tea.Cmd {
	p := m.pane()
	t := p.Base()
	p.Leaving()
	t.Show(kind)
	p.Renew()
	if row != 0 {
		t.Find(row)
	}
	m.inform(t.Kinds[t.Kind])
	m.follow()
	m.fit()
	return nil
}

func (m *model) whyNoRow() string {
	if m.pane().Base().N == 0 {
		return "there are no rows"
	}
	return ""
}

func (m *model) markRow() tea.Cmd {
	t := m.pane().Base()
	t.ToggleMark()
	m.inform(draw.Count(len(t.Marks), "row") + " marked")
	return nil
}

func (m *model) whyNoMarks() string {
	if len(m.pane().Base().Marks) == 0 {
		return "no row of this list is marked"
	}
	return ""
}

func (m *model) unmark() tea.Cmd {
	m.pane().Base().Marks = nil
	m.inform("")
	return nil
}

// freeze lets the panes stand still, or go on with the newest state.
func (m *model) freeze() tea.Cmd {
	if m.frozen.IsZero() {
		m.frozen = m.now()
		m.inform("frozen: the panes stand still until Space is pressed again")
		return nil
	}
	m.frozen = time.Time{}
	m.refresh()
	m.inform("the panes follow the subnet again")
	return nil
}

func (m *model) whyNoTheme() string {
	if m.retheme == nil || m.theme.Name == "none" && m.theme.Fixed {
		return "this terminal, or NO_COLOR, allows no colours"
	}
	return ""
}

func (m *model) nextTheme() tea.Cmd {
	next := draw.Themes[(slices.Index(draw.Themes, m.theme.Name)+1)%len(draw.Themes)]
	t, err := m.retheme(next)
	if err != nil {
		m.warn(err.Error())
		return nil
	}
	*m.theme = *t
	m.inform("theme " + next)
	return nil
}

func (m *model) whyNoShell() string {
	if m.shell == nil {
		return "there is no shell on this terminal"
	}
	if len(m.jobs) > 0 {
		return m.jobs[len(m.jobs)-1].text + " is running: Esc cancels it"
	}
	return ""
}

// repl runs the shell on the terminal while the screen is away.
type repl struct {
	ctx context.Context
	run func(context.Context) error
	out *slowWriter
}

func (r repl) Run() (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &pane.PanicError{Value: v}
		}
	}()
	if r.out != nil {
		r.out.flush(r.ctx)
	}
	return r.run(r.ctx)
}

func (repl) SetStdin(io.Reader)  {}
func (repl) SetStdout(io.Writer) {}
func (repl) SetStderr(io.Writer) {}

func (m *model) openShell() tea.Cmd {
	return tea.Exec(repl{m.Ctx, m.shell, m.out}, func(err error) tea.Msg { return shellMsg{err} })
}

func (m *model) shellEnded(err error) {
	m.refresh()
	if err != nil {
		m.note(pane.Line{When: m.now(), Kind: pane.LineError, Text: "shell: " + err.Error()})
		m.warn("shell: " + err.Error())
		return
	}
	m.inform("back from the shell")
}
