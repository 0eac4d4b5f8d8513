// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"context"
	"slices"
	"time"

	"github.com/charmbracelet/bubbles/spinner"
	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/shell"
	"example.org/ibconsole/shell/guided"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/form"
	"example.org/ibconsole/tui/pane"
	"example.org/ibconsole/tui/pane/history"
	"example.org/ibconsole/tui/pane/problems"
	"example.org/ibconsole/tui/pane/resilience"
	"example.org/ibconsole/tui/pane/trace"
)

// backend is the shell as the screen and its panes use it. Only State and Complete must
// be quick.
type backend interface {
	problems.Source
	trace.Source
	history.Source
	resilience.Source
	State() session.State
	Run(ctx context.Context, text string, out *shell.Output) error
	Complete(line string, cursor int) (start int, candidates []lang.Candidate)
	// Changed waits until the state has changed; false says that ctx has ended.
	Changed(ctx context.Context) bool
	// Recall is the picture of an entry of the history.
	Recall(id int64) (*session.Picture, error)
	// Flow begins the questions that a command asks: dump, load, engine or fail.
	Flow(ctx context.Context, what string) (*guided.Flow, error)
}

// host is what the program gives the screen.
type host struct {
	shell func(context.Context) error // runs the REPL, nil without
	start func(context.Context) error // reads the subnet first, nil where that is done
	save  Saver                       // nil where nothing can be exported
	out   *slowWriter                 // nil where nobody counts what was written
	clip  clipboard
	// retheme makes another theme for the same terminal, nil where there is but one.
	retheme func(name string) (*draw.Theme, error)
}

// sight is what the panes show.
type sight struct {
	st      session.State // the newest, which the panes may lag behind
	sc      *pane.Scene
	of      session.Kind
	old     *session.Picture // out of the history, shown instead of of; nil for none
	frozen  time.Time        // since when the panes stand still, zero where they do not
	indexes pane.Indexes
}

// work is what runs beside the screen.
type work struct {
	jobs     []*job // that run
	lastJob  int
	spinner  spinner.Model
	ticking  bool
	pace     pace
	quitting bool               // q was pressed while something runs
	failure  *pane.PanicError   // of a command, to be told of at the end
	starting *job               // reads the subnet for the first time
	unopened *session.OpenError // why that failed
}

// model is the state of the screen.
type model struct {
	*pane.Common
	host
	desk
	sight
	work

	back  backend
	now   func() time.Time
	theme *draw.Theme

	actions []pane.Action

	trail     trail
	over      overlay // nil for none
	typed     *typed  // the line that is being typed, nil for none
	comp      *completion
	history   typedLines
	lastFile  string // that was written or read last
	tour      *tour
	question  *question // that is being answered
	zones     []zone    // of the frame drawn last, that can be clicked
	status    status
	untouched bool

	drawn     string // the frame drawn last
	drawnSize [2]int
}

// status is the line below the panes.
type status struct {
	text string
	bad  bool
	// warned says that the text is a warning of what was done.
	warned bool
}

type (
	changedMsg struct{}
	minuteMsg  struct{}
	shellMsg   struct{ err error }
	drainedMsg struct{}
)

// tickPause is how often the screen is drawn anew while a command runs.
const tickPause = 120 * time.Millisecond

// ageing is how often it is looked whether what is shown has become old.
const ageing = 30 * time.Second

func newModel(ctx context.Context, back backend, t *draw.Theme) *model {
	c := &pane.Common{Ctx: ctx}
	m := &model{Common: c, desk: newDesk(newPanes(c, t, back)), back: back, theme: t, now: time.Now, untouched: true}
	c.Focused = func() pane.Subject { return m.pane().Subject() }
	m.actions = m.keymap()
	m.spinner = spinner.New(spinner.WithSpinner(spinner.Spinner{Frames: t.Spin, FPS: tickPause}))
	m.refresh()
	return m
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
	if !m.back.Changed(m.Ctx) {
		return nil
	}
	select {
	case <-time.After(outputPause):
		m.indexes.Foresee(m.back.State())
		return changedMsg{}
	case <-m.Ctx.Done():
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
	case pane.ResultMsg:
		msg.Deliver()
		m.collect()
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
	case form.Msg:
		return m.questioned(msg)
	case spinner.TickMsg:
		m.ticking = false
		m.spinner, _ = m.spinner.Update(msg)
		m.collect()
		return m.tick()
	case minuteMsg:
		return m.age()
	case shellMsg:
		m.shellEnded(msg.err)
	}
	return nil
}

func (m *model) tick() tea.Cmd {
	if m.ticking || len(m.jobs)+m.Common.Running == 0 {
		return nil
	}
	m.ticking = true
	return func() tea.Msg {
		time.Sleep(tickPause)
		return m.spinner.Tick()
	}
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
	m.sc = pane.NewScene(m.st, m.of, m.old, m.indexes.Of)
	m.sc.Clock = m.now
	m.sc.Lose(before)
	m.of = m.sc.Of
	if before != nil {
		m.tell(before, len(m.jobs) == 0)
	}
	changed := m.sc.Changed(before)
	for _, p := range m.all {
		p.Show(m.sc, changed)
	}
	if !changed {
		return
	}
	if before == nil || len(before.Top.Fabric.Nodes) == 0 {
		m.welcomeSubnet()
	}
	m.follow()
	m.collect()
}

// welcomeSubnet goes to the head where a subnet that was just read has any errors.
func (m *model) welcomeSubnet() {
	if head := m.at(pane.SeatHead); m.untouched && len(m.sc.Top.Fabric.Nodes) > 0 && m.all[head].Alarm() > 0 {
		m.setFocus(head)
	}
}

// Follow shows what is selected where that is followed.
func (m *model) follow() {
	for _, p := range m.all {
		to, ok := p.(pane.Pointer)
		if !ok {
			continue
		}
		for _, q := range m.all {
			if f, ok := q.(pane.Follower); ok {
				f.Follow(to.Pointed())
			}
		}
	}
}

// Collect lets the panes take what was computed for them.
func (m *model) collect() {
	for _, p := range m.all {
		p.Collect()
	}
	m.fit()
}

// Seek begins to compute what the panes on the screen want and have not got.
func (m *model) seek() tea.Cmd {
	if !m.frozen.IsZero() || len(m.sc.Picture.Fabric.Nodes) == 0 {
		return nil
	}
	var cmds []tea.Cmd
	idle := m.st.Busy == "" && len(m.jobs) == 0 && !m.onPage()
	for i, p := range m.all {
		if c := p.Seek(pane.Stage{Visible: m.visible(i), Focused: i == m.focus, Idle: idle}); c != nil {
			cmds = append(cmds, c)
		}
	}
	if cmds == nil {
		return nil
	}
	m.collect()
	return tea.Batch(append(cmds, m.tick())...)
}

// tell tells all panes.
func (m *model) tellPanes(msg tea.Msg) {
	for _, p := range m.all {
		p.Update(msg)
	}
}

// note adds lines to the log.
func (m *model) note(lines ...pane.Line) { m.tellPanes(pane.Log{Lines: lines}) }

// heed does what a pane asks for.
func (m *model) heed(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case nil:
	case pane.Several:
		var cmds []tea.Cmd
		for _, x := range msg {
			cmds = append(cmds, m.heed(x))
		}
		return tea.Batch(cmds...)
	case pane.Run:
		return m.say(msg.Command, true)
	case pane.Inform:
		m.inform(msg.Text)
	case pane.Warn:
		m.warn(msg.Text)
	case pane.Open:
		m.setFocus(m.named(msg.Name))
	case pane.GoTo:
		m.setFocus(m.at(pane.SeatHome))
		m.tellPanes(pane.Visit{At: msg.At})
	case pane.Follow:
		if node, _ := pane.PlaceOf(msg.Fabric, msg.Node, fabric.None).In(m.sc.Top.Fabric); node == fabric.None {
			m.warn(msg.Fabric.NodeName(msg.Node) + " is not in the topology that is shown")
		}
		m.tellPanes(msg)
	case pane.Choose:
		return m.choosePicture(msg.Kind)
	case pane.Recall:
		return m.recallPicture(msg.ID)
	case pane.ShowKind:
		return m.setKind(msg.Kind, msg.Row)
	case pane.Type:
		return m.openCommand(draw.When(msg.Text == reading, "sweep", msg.Text))
	default:
		m.tellPanes(msg)
	}
	m.follow()
	m.fit()
	return nil
}

// setFocus gives a pane the keyboard.
func (m *model) setFocus(at int) {
	m.take(at)
	m.fit()
}

// body is the part of the screen that the panes share: below the header and the
// names of the panes, above the status line and the keys, and above the tour.
func (m *model) body() draw.Rect {
	top, bottom := 1, 2
	switch {
	case m.height < 8:
		top, bottom = min(m.height/3, 1), min(m.height/2, 1)
	case m.height >= tabsFrom:
		top = 2
	}
	bottom += m.tourRows()
	return draw.Rect{X: 0, Y: top, W: m.width, H: max(m.height-top-bottom, 0)}
}

// tabsFrom is how many lines a screen has that names all panes in one of them.
const tabsFrom = 16

func (m *model) panes() []placed { return m.arrange(m.body()) }

// fit tells the panes how many of their rows are seen.
func (m *model) fit() {
	for _, p := range m.panes() {
		x := m.all[p.at]
		t := x.Base()
		t.Resize(t.N, max(p.H-2-draw.Btoi(x.HasHead()), 0))
	}
}

// visible reports whether a pane is on the screen.
func (m *model) visible(at int) bool {
	return slices.ContainsFunc(m.panes(), func(p placed) bool { return p.at == at })
}

func (m *model) inform(text string) { m.status = status{text: text} }
func (m *model) warn(text string)   { m.status = status{text: text, bad: true} }
