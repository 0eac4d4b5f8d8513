// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"context"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/shell"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

// backend is the shell as the screen uses it. No method but Run and Changed may
// take long.
type backend interface {
	State() session.State
	Run(ctx context.Context, text string, out *shell.Output) error
	Complete(line string, cursor int) (start int, candidates []lang.Candidate)
	// Changed waits until the state has changed; false says that ctx has ended.
	Changed(ctx context.Context) bool
}

// model is the state of the screen.
type model struct {
	ctx   context.Context
	back  backend
	shell func(context.Context) error // runs the REPL, nil without
	start func(context.Context) error // reads the subnet first, nil where that is done
	now   func() time.Time
	theme *theme

	actions []action
	byKey   map[string]*action

	width, height int
	focus, aside  paneID // aside is the last pane that was not the topology
	leave         paneID // where Esc goes from a log that came up by itself, 0 for nowhere
	zoom          bool

	sc    *scene
	of    session.Kind
	seen  *fabric.Fabric // the live fabric that lost links are counted from
	lost  int
	tree  *topology
	lft   *lft
	trace *trace
	log   *logbook
	trail []place // where Enter was pressed

	mode    mode
	edit    editor
	comp    *completion
	history history
	help    *helpPage

	jobs     []*job // that run
	lastJob  int
	spin     int
	ticking  bool
	quitting bool // q was pressed while something runs
	status   status
	failure  *panicError // of a command, to be told of at the end
}

// mode says where keys go.
type mode uint8

const (
	modeKeys mode = iota
	modeCommand
	modeFilter
	modeHelp
)

// status is the line below the panes.
type status struct {
	text string
	bad  bool
}

type (
	changedMsg struct{}
	tickMsg    struct{}
	shellMsg   struct{ err error }
)

// tickPause is how often the screen is drawn anew while a command runs.
const tickPause = 120 * time.Millisecond

func newModel(ctx context.Context, back backend, t *theme) *model {
	m := &model{
		ctx: ctx, back: back, theme: t, now: time.Now, focus: paneTopology, aside: paneLFT,
		tree: newTopology(t), lft: newLFT(t), trace: newTrace(t), log: newLog(t), actions: keymap(), byKey: map[string]*action{},
	}
	for i := range m.actions {
		for _, k := range m.actions[i].keys.Keys() {
			m.byKey[k] = &m.actions[i]
		}
	}
	m.refresh()
	return m
}

// Init implements [tea.Model].
func (m *model) Init() tea.Cmd {
	if m.start == nil {
		return m.watch
	}
	return tea.Batch(m.watch, m.do("read the subnet", true, func(ctx context.Context, _ *shell.Output) error { return m.start(ctx) }))
}

// watch waits for the session to change. Changes that come fast are taken together.
func (m *model) watch() tea.Msg {
	if !m.back.Changed(m.ctx) {
		return nil
	}
	select {
	case <-time.After(outputPause):
		return changedMsg{}
	case <-m.ctx.Done():
		return nil
	}
}

// Update implements [tea.Model].
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var cmd tea.Cmd
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		m.fit()
	case tea.KeyMsg:
		cmd = m.key(msg)
	case changedMsg:
		m.refresh()
		cmd = m.watch
	case outputMsg:
		m.drain(msg.job, false)
		cmd = msg.job.listen
	case doneMsg:
		cmd = m.done(msg.job, msg.err)
	case tickMsg:
		m.spin++
		m.ticking = false
		cmd = m.tick()
	case shellMsg:
		m.shellEnded(msg.err)
	}
	return m, cmd
}

func (m *model) tick() tea.Cmd {
	if m.ticking || len(m.jobs) == 0 {
		return nil
	}
	m.ticking = true
	return tea.Tick(tickPause, func(time.Time) tea.Msg { return tickMsg{} })
}

// refresh takes the state of the session.
func (m *model) refresh() {
	before := m.sc
	m.sc = newScene(m.back.State(), m.of, before)
	m.of = m.sc.of
	if before != nil {
		m.tell(before, len(m.jobs) == 0)
	}
	if !m.sc.changed(before) {
		m.tree.sc, m.lft.sc, m.trace.sc = m.sc, m.sc, m.sc
		return
	}
	m.trace.show(m.sc)
	m.tree.path = m.trace.nodes()
	m.tree.show(m.sc)
	if before == nil || len(before.top.f.Nodes) == 0 {
		m.tree.first()
	}
	m.lft.show(m.sc, m.lft.at)
	m.followTree()
	m.fit()
}

// followTree shows the table of the switch that the topology has selected.
func (m *model) followTree() {
	node := m.tree.switchShown()
	if node == fabric.None {
		return
	}
	if at := placeOf(m.sc.top.f, node, fabric.None); at != m.lft.at {
		m.lft.show(m.sc, at)
	}
}

func (m *model) pane() pane { return m.paneOf(m.focus) }

func (m *model) paneOf(id paneID) pane {
	switch id {
	case paneLFT:
		return m.lft
	case paneTrace:
		return m.trace
	case paneLog:
		return m.log
	}
	return m.tree
}

// setFocus gives a pane the keyboard.
func (m *model) setFocus(id paneID) {
	m.focus, m.leave = id, 0
	if id != paneTopology {
		m.aside = id
	}
	m.fit()
}

// body is the part of the screen that the panes share.
func (m *model) body() rect {
	top, bottom := 1, 2
	if m.height < 8 {
		top, bottom = min(m.height/3, 1), min(m.height/2, 1)
	}
	return rect{0, top, m.width, max(m.height-top-bottom, 0)}
}

func (m *model) panes() []placed {
	return arrange(formOf(m.width, m.height), m.body(), m.focus, m.aside, m.zoom)
}

// fit tells the panes how many of their rows are seen.
func (m *model) fit() {
	for _, p := range m.panes() {
		w := m.paneOf(p.id).win()
		w.resize(w.n, max(p.h-2-m.headRows(p.id), 0))
	}
}

// headRows is how many rows of a pane its column heads take.
func (m *model) headRows(id paneID) int {
	if id == paneLFT && len(m.lft.lids) > 0 {
		return 1
	}
	return 0
}

// visible says whether a pane is on the screen.
func (m *model) visible(id paneID) bool {
	for _, p := range m.panes() {
		if p.id == id {
			return true
		}
	}
	return false
}

func (m *model) inform(text string) { m.status = status{text: text} }
func (m *model) warn(text string)   { m.status = status{text: text, bad: true} }
