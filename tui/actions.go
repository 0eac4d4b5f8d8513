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

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/tui/draw"
)

// visit gives a pane the keyboard, so that there is a way back.
func (m *model) visit(id paneID) tea.Cmd {
	return m.jump(func() tea.Cmd {
		m.setFocus(id)
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
	st := &m.sc.st
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
	m.tree.path = m.trace.nodes()
	m.inform("the panes show " + m.sc.st.Title(m.sc.pic))
}

// recalledMsg brings a picture out of the history.
type recalledMsg struct {
	pic *session.Picture
	err error
}

// recallPicture shows the picture of an entry of the history.
func (m *model) recallPicture(id int64) tea.Cmd {
	m.inform(fmt.Sprintf("reading entry %d", id))
	m.errands++
	return func() tea.Msg {
		pic, err := shielded(func() (*session.Picture, error) { return m.back.Recall(id) })
		if err == nil {
			m.indexes.of(pic.Fabric)
		}
		return recalledMsg{pic, err}
	}
}

func (m *model) recalled(msg recalledMsg) {
	m.errands--
	if msg.err != nil {
		m.warn("history: " + msg.err.Error())
		return
	}
	m.old = msg.pic
	m.shown()
	m.inform(fmt.Sprintf("the panes show %s, as it was at %s: v shows the present", msg.pic.Kind, msg.pic.When.Format("2006-01-02 15:04")))
}

func (m *model) toggleChanged() tea.Cmd {
	m.lft.changedOnly = !m.lft.changedOnly
	m.lft.renew()
	m.fit()
	return nil
}

// counting is what the session calls the reading of counters. What is read for the
// trace gives way to every command.
const counting = "counters"

// whyBusy says what keeps the session from another operation.
func (m *model) whyBusy() string {
	if busy := m.back.State().Busy; busy != "" && (busy != counting || m.errs.doing == nil) {
		return busy + " is running: Esc cancels it"
	}
	return ""
}

func (m *model) whyNotRoute() string {
	if len(m.sc.st.Live.Fabric.Nodes) == 0 && m.sc.st.WhatIf == nil {
		return cmp.Or(m.whyBusy(), "there is no subnet to route: R reads it")
	}
	return m.whyBusy()
}

func (m *model) whyNotDiff() string {
	if m.focus == paneHistory && m.past.Kind == pastEntries && m.past.N > 0 {
		return m.whyBusy()
	}
	if m.sc.st.Staged == nil && m.sc.st.WhatIf == nil {
		return "there is only the live picture: f lets something fail, r routes"
	}
	return m.whyBusy()
}

func (m *model) diffNow() tea.Cmd {
	if row, ok := m.past.Selected(); ok && m.focus == paneHistory && m.past.Kind == pastEntries {
		return m.say(fmt.Sprintf("diff %d live", m.past.entries[row].ID), true)
	}
	return m.say("diff", true)
}

func (m *model) whyNotDiffBefore() string {
	row, ok := m.past.Selected()
	switch {
	case !ok || m.past.Kind != pastEntries:
		return "no entry of the history is selected"
	case m.past.parents[row] == 0:
		return "nothing is known from before this entry: d compares it with live"
	}
	return m.whyBusy()
}

// diffBefore compares the selected entry with the one that it came from.
func (m *model) diffBefore() tea.Cmd {
	row, _ := m.past.Selected()
	return m.say(fmt.Sprintf("diff %d %d", m.past.parents[row], m.past.entries[row].ID), true)
}

func (m *model) whyNotSweep() string {
	if m.sc.st.Source.Offline() {
		return "a file cannot be swept"
	}
	return m.whyBusy()
}

func (m *model) whyNotOpen() string {
	_, why := m.pane().enter(m)
	return why
}

// open is Enter: it goes to what the selected row leads to.
func (m *model) open() tea.Cmd {
	act, _ := m.pane().enter(m)
	return m.jump(act)
}

// visitNode goes to a node, or a port of one, in the topology.
func (m *model) visitNode(at place) func() tea.Cmd {
	return func() tea.Cmd {
		m.setFocus(paneTopology)
		m.tree.visitPort(at)
		m.followTree()
		return nil
	}
}

func (m *model) openTree() {
	s := m.tree.subject()
	switch {
	case s.link != fabric.None && s.node != m.tree.switchShown():
		m.follow(s.f, s.node)
	case s.port != fabric.None:
		m.setFocus(paneLFT)
		m.lft.findLID(m.sc.lid(s.port))
	default:
		m.tree.toggle()
		m.followTree()
	}
}

// follow selects a node of a fabric in the topology, so that its table is shown.
func (m *model) follow(f *fabric.Fabric, node fabric.NodeIndex) {
	target, _ := placeOf(f, node, fabric.None).in(m.sc.top.f)
	if target == fabric.None {
		m.warn(f.NodeName(node) + " is not in the topology that is shown")
		return
	}
	lid, keep := m.lft.lid()
	m.tree.visit(target)
	m.followTree()
	if keep {
		m.lft.findLID(lid)
	}
	m.fit()
}

func (m *model) whyNotSort() string {
	p := m.pane()
	if x, ok := p.(interface{ sortWhyNot() string }); ok {
		return x.sortWhyNot()
	}
	if m.focus == paneLoad && m.load.isMap() {
		return "a map is not sorted: b shows a list"
	}
	if p.base().N == 0 {
		return "there are no rows to sort"
	}
	return ""
}

func (m *model) sort() tea.Cmd {
	word := m.pane().(interface{ NextSort() string }).NextSort()
	m.inform(cmp.Or(word, "in the order that they come in"))
	if m.focus == paneTopology {
		m.followTree()
	}
	return nil
}

func (m *model) whyNoKind() string {
	if len(m.pane().base().Kinds) == 0 {
		return "there is one manner of showing this"
	}
	return ""
}

func (m *model) nextKind() tea.Cmd {
	t := m.pane().base()
	return m.setKind((t.Kind + 1) % len(t.Kinds))
}

// setKind shows the list in one of its manners.
func (m *model) setKind(kind int) tea.Cmd {
	t := m.pane().base()
	if x, ok := m.pane().(interface{ leave() }); ok {
		x.leave()
	}
	t.Kind = kind
	t.Sorted, t.Marks, t.Aside = 0, nil, 0
	t.Cursor, t.Top, t.Order, t.Held = 0, 0, t.Order[:0], false
	m.pane().renew()
	if m.focus == paneTopology {
		m.tree.findPlace(m.lft.place)
		m.followTree()
	}
	m.inform(t.Kinds[t.Kind])
	m.fit()
	return nil
}

func (m *model) whyNoRow() string {
	if m.pane().base().N == 0 {
		return "there are no rows"
	}
	return ""
}

func (m *model) markRow() tea.Cmd {
	t := m.pane().base()
	t.ToggleMark()
	m.inform(draw.Count(len(t.Marks), "row") + " marked")
	if m.focus == paneTopology {
		m.followTree()
	}
	return nil
}

func (m *model) whyNoMarks() string {
	if len(m.pane().base().Marks) == 0 {
		return "no row of this list is marked"
	}
	return ""
}

func (m *model) unmark() tea.Cmd {
	m.pane().base().Marks = nil
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
			err = &panicError{value: v}
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
	return tea.Exec(repl{m.ctx, m.shell, m.out}, func(err error) tea.Msg { return shellMsg{err} })
}

func (m *model) shellEnded(err error) {
	m.refresh()
	if err != nil {
		m.log.add(logLine{when: m.now(), kind: lineError, text: "shell: " + err.Error()})
		m.warn("shell: " + err.Error())
		return
	}
	m.inform("back from the shell")
}
