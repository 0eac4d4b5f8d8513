// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"context"
	"time"

	"github.com/charmbracelet/bubbles/spinner"
	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/classify"
	"example.org/ibconsole/shell"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/form"
	"example.org/ibconsole/tui/pane"
)

// host is the environment of the screen.
type host struct {
	shell func(context.Context) error // runs the shell, nil without one
	start func(context.Context) error // reads the subnet first, nil if that is done
	save  Saver                       // nil if nothing can be exported
	// config has the user's aliases.
	config *Config
	out    *slowWriter // nil in tests
	clip   clipboard
	// retheme returns another theme for the same terminal. It is nil if there are no other themes.
	retheme func(name string) (*draw.Theme, error)
}

// model is the complete state of the screen. Its parts have pointers to it.
type model struct {
	*pane.Common
	host
	layout

	view   view
	prompt prompt
	jobs   jobs
	pages  pages
	choice choice
	mouse  mouse
	events events
	trail  trail
	tour   *tour // nil for none

	back    backend
	now     func() time.Time
	actions []pane.Action

	st      session.State // the newest state, which the panes may lag behind
	sc      *pane.Scene   // the scene of the panes
	frozen  time.Time     // since when updates are stopped, zero if they are not
	indexes pane.Indexes

	status    status
	spinner   spinner.Model
	ticking   bool
	sifting   bool // a siftMsg is on its way
	untouched bool // no key, click or setting has chosen a pane
	welcome   bool // the subnet was just read for the first time

	pointed  map[int]pane.Place // the last selection, by pane
	followed pane.Place         // the last selection

	screens *screens // of all subnets, nil for a single one
	subnet  string   // the name of this one among them
}

// status is the line below the panes.
type status struct {
	text   string
	bad    bool
	warned bool // the text is a warning
	view   bool // the text is about the view of the focused pane, and ends with the focus
}

type (
	changedMsg struct{}
	minuteMsg  struct{}
	// shellMsg is sent when the shell or another program has returned the terminal.
	shellMsg struct {
		what string
		err  error
	}
	drainedMsg struct{}
	siftMsg    struct{} // continues filters and sorts
)

const tickPause = 120 * time.Millisecond // interval of redraws while a command runs

// The intervals at which the age of the live state is checked: normally, and while the subnet is watched.
const (
	ageing   = 30 * time.Second
	watching = 5 * time.Second
)

func newModel(ctx context.Context, back backend, t *draw.Theme) *model {
	c := &pane.Common{Ctx: ctx, Look: t, Memo: back.Facts()}
	m := &model{Common: c, layout: newLayout(newPanes(c, back)), back: back, now: time.Now, untouched: true,
		host:    host{config: &Config{}},
		pointed: map[int]pane.Place{}}
	m.view = view{m: m, hinted: map[[4]string]string{}}
	m.prompt, m.jobs, m.pages = prompt{m: m}, jobs{m: m}, pages{m: m}
	m.choice, m.mouse, m.events = choice{m: m}, mouse{m: m}, events{m: m}
	c.Focused = func() pane.Subject { return m.pane().Subject() }
	c.MarkedNodes = func() (*fabric.Fabric, []fabric.NodeIndex) { return markedNodes(m) }
	c.Unmark = func() { m.pane().Base().Marks = nil }
	c.JobSet = func() (set, create string) {
		if p, names := m.pane().(pane.JobNamer); names {
			return p.JobSet()
		}
		return "", ""
	}
	m.actions = m.keymap()
	m.spinner = spinner.New(spinner.WithSpinner(spinner.Spinner{Frames: t.Spin, FPS: tickPause}))
	m.indexes.Structure = func(f *fabric.Fabric) *classify.Structure { return back.Facts().Structure(f) }
	m.refresh()
	return m
}

// Init implements [tea.Model].
func (m *model) Init() tea.Cmd {
	cmds := []tea.Cmd{m.watch, m.age()}
	if m.start != nil {
		cmds = append(cmds, m.jobs.start(reading, true, func(ctx context.Context, _ *shell.Output) error {
			return m.start(ctx)
		}))
		m.jobs.starting = m.jobs.latest()
	}
	return tea.Batch(append(cmds, m.seek())...)
}

// watch waits until the session has changed. Changes in quick succession give a single message. The indexes of new
// fabrics are computed before the message is sent.
func (m *model) watch() tea.Msg {
	if !m.back.Changed(m.Ctx) {
		return nil
	}
	select {
	case <-time.After(outputPause):
		m.indexes.Prepare(m.back.State())
		return changedMsg{}
	case <-m.Ctx.Done():
		return nil
	}
}

func (m *model) age() tea.Cmd {
	every := prose.When(m.st.Every > 0 || !m.st.Source.Offline(), watching, ageing)
	return tea.Tick(every, func(time.Time) tea.Msg { return minuteMsg{} })
}

// Update implements [tea.Model].
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	cmd := m.update(msg)
	for _, more := range []tea.Cmd{m.seek(), m.sift()} {
		if more != nil {
			cmd = tea.Batch(cmd, more)
		}
	}
	tourStep(m)
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
		return m.mouse.event(msg)
	case changedMsg:
		m.refresh()
		return m.watch
	case pane.ResultMsg:
		msg.Deliver()
		m.collect()
		m.welcomeSubnet()
	case outputMsg:
		m.jobs.drain(msg.job, false)
		return msg.job.listen
	case doneMsg:
		return m.jobs.done(msg.job, msg.err)
	case recalledMsg:
		m.choice.recalled(msg)
	case momentMsg:
		m.choice.openedMoment(msg)
	case *question:
		m.jobs.openQuestion(msg)
	case nearMsg:
		m.prompt.near(msg)
	case siftMsg:
		return m.sifted()
	case pageMsg:
		return m.pages.fillPage(msg)
	case form.Msg:
		return m.pages.questioned(msg)
	case spinner.TickMsg:
		m.ticking = false
		m.spinner, _ = m.spinner.Update(msg)
		m.collect()
		return m.tick()
	case minuteMsg:
		return m.age()
	case shellMsg:
		shellEnded(m, msg)
	}
	return nil
}

func (m *model) tick() tea.Cmd {
	if m.ticking || len(m.jobs.running)+m.Common.Running == 0 {
		return nil
	}
	m.ticking = true
	next := m.spinner.Tick
	return tea.Tick(tickPause, func(time.Time) tea.Msg { return next() })
}

func (m *model) inform(text string) { m.status = status{text: text} }

// informView is [model.inform] for a text about the view of the focused pane.
func informView(m *model, text string) { m.status = status{text: text, view: true} }

func (m *model) warn(text string) { m.status = status{text: text, bad: true} }
