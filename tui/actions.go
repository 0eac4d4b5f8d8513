// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"context"
	"fmt"
	"io"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/shell/session"
)

func (m *model) whyNoEnd() string {
	if m.pane().subject().node == fabric.None {
		return "no switch or host is selected"
	}
	return ""
}

// mark makes what is selected the source (0) or the destination (1) of the trace.
func (m *model) mark(which int) tea.Cmd {
	s := m.pane().subject()
	port := fabric.None
	if s.f.Nodes[s.node].Switch == fabric.None {
		port = s.port
	}
	m.trace.mark(which, placeOf(s.f, s.node, port), 0)
	return m.traced()
}

// traced shows the trace between the marked ends, and says the command for it
// where there are both.
func (m *model) traced() tea.Cmd {
	m.retrace()
	if !m.trace.ok {
		m.inform(m.trace.why)
		return nil
	}
	if !m.visible(paneTrace) {
		m.setFocus(paneTrace)
	}
	return m.say(m.traceCommand(), true)
}

func (m *model) traceCommand() string {
	f := m.sc.pic.Fabric
	return fmt.Sprintf("trace %s %s%s", portWord(f, m.trace.ends[0].endPort(f)), portWord(f, m.trace.ends[1].endPort(f)), m.sc.ofWord())
}

// retrace follows the path anew and marks it in the topology.
func (m *model) retrace() {
	if m.of != m.sc.of {
		m.refresh()
	}
	m.trace.show(m.sc)
	m.trace.to(0)
	m.tree.ends, m.tree.path = m.trace.ends, m.trace.nodes()
}

func (m *model) whyNoTrace() string {
	if m.trace.ends[0].guid == 0 || m.trace.ends[1].guid == 0 {
		return "there is no trace: t and T mark its ends"
	}
	return ""
}

func (m *model) exchange() tea.Cmd {
	e := m.trace.ends
	m.trace.mark(0, e[1], 0)
	m.trace.mark(1, e[0], 0)
	return m.traced()
}

func (m *model) whyOnePicture() string {
	if len(m.pictures()) < 2 {
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
	for i, k := range all {
		if k == m.of {
			next = all[(i+1)%len(all)]
		}
	}
	m.of = next
	m.refresh()
	m.tree.path = m.trace.nodes()
	m.inform("the panes show " + m.sc.st.Title(m.sc.pic))
	return nil
}

func (m *model) toggleChanged() tea.Cmd {
	m.lft.changedOnly = !m.lft.changedOnly
	m.lft.rebuild()
	m.fit()
	return nil
}

// whyBusy says what keeps the session from another operation.
func (m *model) whyBusy() string {
	if busy := m.sc.st.Busy; busy != "" {
		return busy + " is running: Esc cancels it"
	}
	return ""
}

func (m *model) whyNotFail() string {
	if why := m.whyBusy(); why != "" {
		return why
	}
	_, why := m.sc.fail(m.pane().subject())
	return why
}

func (m *model) fail() tea.Cmd {
	command, _ := m.sc.fail(m.pane().subject())
	return m.say(command, true)
}

func (m *model) whyNotRestore() string {
	if why := m.whyBusy(); why != "" {
		return why
	}
	_, why := m.sc.restore(m.pane().subject())
	return why
}

func (m *model) restore() tea.Cmd {
	command, _ := m.sc.restore(m.pane().subject())
	return m.say(command, true)
}

func (m *model) whyNotRoute() string {
	if len(m.sc.st.Live.Fabric.Nodes) == 0 && m.sc.st.WhatIf == nil {
		return orElse(m.whyBusy(), "there is no subnet to route: s reads it")
	}
	return m.whyBusy()
}

func (m *model) whyNotDiff() string {
	if m.sc.st.Staged == nil && m.sc.st.WhatIf == nil {
		return "there is only the live picture: f lets something fail, r routes"
	}
	return ""
}

func (m *model) whyNotSweep() string {
	if m.sc.st.Source.Kind == session.SourceFile {
		return "a file cannot be swept"
	}
	return m.whyBusy()
}

func (m *model) whyNotOpen() string {
	switch m.focus {
	case paneLFT:
		if m.lft.next() == fabric.None {
			return "the selected entry leads to no other node"
		}
	case paneTrace:
		if _, ok := m.trace.hop(); !ok {
			return "no hop is selected"
		}
	case paneLog:
		if m.log.n == 0 {
			return "the log is empty"
		}
	}
	return ""
}

// open is Enter: it goes to what the selected row leads to.
func (m *model) open() tea.Cmd {
	switch m.focus {
	case paneTopology:
		m.openTree()
	case paneLFT:
		m.follow(m.sc.pic.Fabric, m.lft.next())
	case paneTrace:
		h, _ := m.trace.hop()
		m.follow(m.sc.pic.Fabric, h.Node)
		if m.trace.path.DstLID > 0 {
			m.lft.find(m.trace.path.DstLID)
		}
	case paneLog:
		m.recall()
	}
	return nil
}

func (m *model) openTree() {
	s := m.tree.subject()
	switch {
	case s.link != fabric.None && s.node != m.tree.switchShown():
		m.follow(s.f, s.node)
	case s.port != fabric.None:
		m.setFocus(paneLFT)
		m.lft.find(m.sc.lid(s.port))
	default:
		m.tree.toggle()
		m.followTree()
	}
}

// follow selects a node of a fabric in the topology, so that its table is shown.
func (m *model) follow(f *fabric.Fabric, node int32) {
	target, _ := placeOf(f, node, fabric.None).in(m.sc.top.f)
	if target == fabric.None {
		m.warn(f.NodeName(node) + " is not in the topology that is shown")
		return
	}
	lid, keep := m.lft.lid()
	if at, ok := m.tree.here(); ok {
		m.trail = append(m.trail, at)
	}
	m.tree.visit(target)
	m.followTree()
	if keep {
		m.lft.find(lid)
	}
	m.fit()
}

func (m *model) whyNotBack() string {
	if len(m.trail) == 0 {
		return "there is no way back: Enter has not led anywhere"
	}
	return ""
}

func (m *model) goBack() tea.Cmd {
	at := m.trail[len(m.trail)-1]
	m.trail = m.trail[:len(m.trail)-1]
	if node, _ := at.in(m.sc.top.f); node != fabric.None {
		m.tree.visit(node)
		m.tree.find(at)
		m.followTree()
	}
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
}

func (r repl) Run() (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &panicError{value: v}
		}
	}()
	return r.run(r.ctx)
}

func (repl) SetStdin(io.Reader)  {}
func (repl) SetStdout(io.Writer) {}
func (repl) SetStderr(io.Writer) {}

func (m *model) openShell() tea.Cmd {
	return tea.Exec(repl{m.ctx, m.shell}, func(err error) tea.Msg { return shellMsg{err} })
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
