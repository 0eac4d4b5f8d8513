// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"context"
	"sync/atomic"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/routing/changes/diff"
	"example.org/ibconsole/routing/changes/resilience"
	"example.org/ibconsole/routing/checks/reach"
	"example.org/ibconsole/shell"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/connection"
)

// backend is the shell as the screen uses it. Only State and Complete must be
// quick.
type backend interface {
	State() session.State
	Run(ctx context.Context, text string, out *shell.Output) error
	Complete(line string, cursor int) (start int, candidates []lang.Candidate)
	// Changed waits until the state has changed; false says that ctx has ended.
	Changed(ctx context.Context) bool
	// Entries are the newest entries of the history, and Recall the picture of one.
	Entries(ctx context.Context) ([]pastEntry, error)
	Recall(id int64) (*session.Picture, error)
	// Problems says what is wrong with the live subnet; quick leaves out what takes
	// long. Nil says that nobody knows more than the state does.
	Problems(ctx context.Context, quick bool) (*problemsReport, error)
	// Flow begins the questions that a command asks: dump, load, engine or fail.
	Flow(ctx context.Context, what string) (*shell.Flow, error)
	// Study prepares what failures of a kind do to a picture with tables.
	Study(ctx context.Context, p *session.Picture, kind resilience.Kind) (*resilience.Study, error)
	// Counters reads the counters of ports of the live fabric.
	Counters(ctx context.Context, ports ...fabric.PortIndex) (*counters.Reading, error)
}

// model is the state of the screen.
type model struct {
	ctx   context.Context
	back  backend
	shell func(context.Context) error // runs the REPL, nil without
	start func(context.Context) error // reads the subnet first, nil where that is done
	save  Saver                       // nil where nothing can be exported
	out   *slowWriter                 // nil where nobody counts what was written
	clip  clipboard
	now   func() time.Time
	theme *theme
	// retheme makes another theme for the same terminal, nil where there is but one.
	retheme func(name string) (*theme, error)

	actions []action
	byKey   map[string]*action

	width, height int
	focus         paneID
	slots         slots
	leave         paneID // where Esc goes from a log that came up by itself, 0 for nowhere
	zoom          bool
	lean          int // how many hundredths wider the panes at the left are
	untouched     bool

	st     session.State // the newest, which the panes may lag behind
	sc     *scene
	of     session.Kind
	old    *session.Picture // out of the history, shown instead of of; nil for none
	frozen time.Time        // since when the panes stand still, zero where they do not
	seen   *fabric.Fabric   // the live fabric that lost links are counted from
	lost   int

	problems *problems
	tree     *topology
	lft      *lft
	trace    *trace
	whatIf   *whatIf
	load     *loadPane
	past     *past
	resil    *resilient
	groups   *groupsPane
	log      *logbook
	trail    trail

	indexes indexes
	loading errand[*loading]
	diff    errand[*diff.Result]
	reach   errand[*reach.Result]
	entries errand[[]pastEntry]
	errs    errand[map[place]uint64]
	hops    errand[hopCounts]
	report  errand[*problemsReport]
	study   errand[*studied]
	soFar   *atomic.Pointer[studied] // of the study that runs
	mcast   errand[*grouping]
	drawing errand[*groupTree]
	errands int // that run

	mode     mode
	edit     editor
	comp     *completion
	history  typedLines
	help     *helpPage
	page     *page
	form     *guide
	lastFile string // that was written or read last
	tour     *tour
	question *question // that is being answered
	zones    []zone    // of the frame drawn last, that can be clicked

	jobs     []*job // that run
	lastJob  int
	spin     int
	ticking  bool
	pace     pace
	quitting bool // q was pressed while something runs
	status   status
	failure  *panicError           // of a command, to be told of at the end
	starting *job                  // reads the subnet for the first time
	unopened *connection.OpenError // why that failed

	drawn     string // the frame drawn last
	drawnSize [2]int
}

// mode says where keys go.
type mode uint8

const (
	modeKeys mode = iota
	modeCommand
	modeFilter
	modeExport
	modeHelp
	modePage
	modeAsk
	modeForm
)

// status is the line below the panes.
type status struct {
	text string
	bad  bool
	// warned says that the text is a warning of what was done.
	warned bool
}

type (
	changedMsg struct{}
	tickMsg    struct{}
	minuteMsg  struct{}
	shellMsg   struct{ err error }
	drainedMsg struct{}
)

// tickPause is how often the screen is drawn anew while a command runs.
const tickPause = 120 * time.Millisecond

// ageing is how often it is looked whether what is shown has become old.
const ageing = 30 * time.Second

func newModel(ctx context.Context, back backend, t *theme) *model {
	m := &model{
		ctx: ctx, back: back, theme: t, now: time.Now, untouched: true,
		slots: slots{home: paneTopology, main: paneLFT, side: paneWhatIf, aside: paneLFT}, focus: paneTopology,
		problems: newProblems(t), tree: newTopology(t), lft: newLFT(t), trace: newTrace(t), whatIf: newWhatIf(t), load: newLoadPane(t),
		past: newPast(t), log: newLog(t), resil: newResilient(t), groups: newGroupsPane(t),
	}
	m.problems.checking = m.reach.progress
	m.resil.busy, m.groups.busy = m.study.progress, m.mcast.progress
	m.whatIf.busy, m.load.busy, m.past.busy = m.diff.progress, m.loading.progress, m.entries.progress
	m.bind(keymap())
	m.refresh()
	return m
}

// bind takes a key map.
func (m *model) bind(actions []action) {
	m.actions, m.byKey = actions, map[string]*action{}
	for i := range m.actions {
		for _, k := range m.actions[i].keys {
			m.byKey[k] = &m.actions[i]
		}
	}
}

// Init implements [tea.Model].
func (m *model) Init() tea.Cmd {
	cmds := []tea.Cmd{m.watch, m.age()}
	if m.start != nil {
		cmds = append(cmds, m.do(reading, true, func(ctx context.Context, _ *shell.Output) error { return m.start(ctx) }))
		m.starting = m.jobs[len(m.jobs)-1]
	}
	return tea.Batch(append(cmds, m.seek())...)
}

// watch waits for the session to change. Changes that come fast are taken
// together, and indexes of new fabrics are made before the screen hears of them.
func (m *model) watch() tea.Msg {
	if !m.back.Changed(m.ctx) {
		return nil
	}
	select {
	case <-time.After(outputPause):
		m.indexes.foresee(m.back.State())
		return changedMsg{}
	case <-m.ctx.Done():
		return nil
	}
}

func (m *model) age() tea.Cmd {
	return tea.Tick(ageing, func(time.Time) tea.Msg { return minuteMsg{} })
}

// Update implements [tea.Model].
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	cmd := m.update(msg)
	if more := m.seek(); more != nil {
		cmd = tea.Batch(cmd, more)
	}
	m.tourStep()
	return m, cmd
}

func (m *model) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		m.fit()
	case tea.KeyMsg:
		return m.key(msg)
	case tea.MouseMsg:
		return m.mouse(msg)
	case changedMsg:
		m.refresh()
		return m.watch
	case errandMsg:
		msg.deliver()
		m.spread()
	case outputMsg:
		m.drain(msg.job, false)
		return msg.job.listen
	case doneMsg:
		return m.done(msg.job, msg.err)
	case recalledMsg:
		m.recalled(msg)
	case *question:
		m.openQuestion(msg)
	case pageMsg:
		m.fillPage(msg)
	case formMsg:
		return m.questioned(msg)
	case tickMsg:
		m.spin++
		m.ticking = false
		m.spreadStudy()
		return m.tick()
	case minuteMsg:
		return m.age()
	case shellMsg:
		m.shellEnded(msg.err)
	}
	return nil
}

func (m *model) tick() tea.Cmd {
	if m.ticking || len(m.jobs)+m.errands == 0 {
		return nil
	}
	m.ticking = true
	return tea.Tick(tickPause, func(time.Time) tea.Msg { return tickMsg{} })
}

// refresh takes the state of the session. While the panes are frozen they keep
// what they show.
func (m *model) refresh() {
	m.st = m.back.State()
	m.pace.note(&m.st, m.now())
	if !m.frozen.IsZero() {
		return
	}
	before := m.sc
	m.sc = newScene(m.st, m.of, m.old, m.indexes.of)
	m.sc.clock = m.now
	m.of = m.sc.of
	if before != nil {
		m.tell(before, len(m.jobs) == 0)
	} else {
		m.seen = m.sc.st.Live.Fabric
	}
	m.tree.sc, m.lft.sc, m.trace.sc, m.whatIf.sc, m.load.sc = m.sc, m.sc, m.sc, m.sc, m.sc
	m.resil.sc, m.groups.sc = m.sc, m.sc
	m.problems.show(m.sc)
	m.past.show(m.sc)
	if !m.sc.changed(before) {
		return
	}
	m.trace.show(m.sc)
	m.tree.path = m.trace.nodes()
	m.tree.show(m.sc)
	if before == nil || len(before.top.f.Nodes) == 0 {
		m.tree.first()
		m.welcomeSubnet()
	}
	m.lft.show(m.sc)
	m.whatIf.show(m.sc)
	m.load.show(m.sc)
	m.resil.show(m.sc)
	m.groups.show(m.sc)
	m.followTree()
	m.spread()
}

// welcomeSubnet goes to the problems where a subnet that was just read has any.
func (m *model) welcomeSubnet() {
	if m.untouched && len(m.sc.top.f.Nodes) > 0 && m.problems.worst() > 0 {
		m.setFocus(paneProblems)
	}
}

// followTree shows the table of the switch that the topology has selected.
func (m *model) followTree() {
	node := m.tree.switchShown()
	if node == fabric.None {
		return
	}
	if at := placeOf(m.sc.top.f, node, fabric.None); at != m.lft.place {
		m.lft.showSwitch(m.sc, at)
	}
}

func (m *model) pane() pane { return m.paneOf(m.focus) }

func (m *model) paneOf(id paneID) pane {
	switch id {
	case paneProblems:
		return m.problems
	case paneLFT:
		return m.lft
	case paneTrace:
		return m.trace
	case paneWhatIf:
		return m.whatIf
	case paneLoad:
		return m.load
	case paneHistory:
		return m.past
	case paneLog:
		return m.log
	case paneResilience:
		return m.resil
	case paneGroups:
		return m.groups
	}
	return m.tree
}

// setFocus gives a pane the keyboard.
func (m *model) setFocus(id paneID) {
	m.focus, m.leave = id, 0
	m.slots.take(id)
	m.fit()
}

// body is the part of the screen that the panes share: below the header and the
// names of the panes, above the status line and the keys, and above the tour.
func (m *model) body() rect {
	top, bottom := 1, 2
	switch {
	case m.height < 8:
		top, bottom = min(m.height/3, 1), min(m.height/2, 1)
	case m.height >= tabsFrom:
		top = 2
	}
	bottom += m.tourRows()
	return rect{0, top, m.width, max(m.height-top-bottom, 0)}
}

// tabsFrom is how many lines a screen has that names all panes in one of them.
const tabsFrom = 16

func (m *model) panes() []placed {
	s := m.slots
	s.problems = m.problems.n
	return arrange(formOf(m.width, m.height), m.body(), m.focus, s, m.zoom, m.lean)
}

// fit tells the panes how many of their rows are seen.
func (m *model) fit() {
	for _, p := range m.panes() {
		x := m.paneOf(p.id)
		t := x.base()
		t.resize(t.n, max(p.h-2-btoi(x.hasHead()), 0))
	}
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
