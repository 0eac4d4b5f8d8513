// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/term"
	"github.com/muesli/termenv"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/internal/heed"
	"example.org/ibconsole/routing/changes/resilience"
	"example.org/ibconsole/shell"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

// Options say what [Run] shows, and where.
type Options struct {
	// Shell has the commands and the session.
	Shell *shell.Shell
	// Start, where set, reads the subnet. It runs beside the first screen, which ends
	// where that gives a [*connection.OpenError].
	Start func(ctx context.Context) error
	// RunShell, where set, runs the shell on the same session. It has the terminal
	// for itself, as the terminal was before Run, and gives it back as it was.
	RunShell func(ctx context.Context) error
	// Theme is one of [Themes], "" for the one that suits the terminal.
	Theme   string
	NoColor bool
	// Config is what the user's file says; see [ReadConfig].
	Config Config
	// Save makes the files that lists are exported to, nil for none.
	Save Saver
	// Welcome shows a page first that explains the screen; Tour begins the tour.
	Welcome, Tour bool
	// In and Out are the terminal; nil for standard input and output.
	In, Out *os.File
}

// SignalError says that a signal ended the program.
type SignalError struct{ Signal syscall.Signal }

func (e *SignalError) Error() string { return "ended by signal: " + e.Signal.String() }

// ErrTerminal says that there is no terminal that the screen can be drawn on.
var ErrTerminal = errors.New("no terminal for the screen")

// closingTime is how long Run waits for commands that it cancelled.
const closingTime = 5 * time.Second

// Run shows the screen until it is quit. The terminal is then as it was before,
// also after SIGINT, SIGTERM, SIGHUP and SIGQUIT, which give a [*SignalError],
// and after a panic of a command, which gives an error with its stack. It fails
// with [ErrTerminal] where In or Out is no terminal, or one that cannot move its
// cursor.
func Run(ctx context.Context, opt Options) error {
	back := &shellBackend{Shell: opt.Shell, watcher: opt.Shell.Session().Watch()}
	defer back.watcher.Stop()
	return run(ctx, opt, back)
}

func run(ctx context.Context, opt Options, back backend) error {
	if opt.In == nil {
		opt.In = os.Stdin
	}
	if opt.Out == nil {
		opt.Out = os.Stdout
	}
	if opt.Theme == "" {
		opt.Theme = opt.Config.Theme
	}
	t, err := checkTerminal(&opt, os.Getenv)
	if err != nil {
		return err
	}
	before, err := term.GetState(opt.In.Fd())
	if err != nil {
		return fmt.Errorf("%w: %w", ErrTerminal, err)
	}
	defer func() { _ = term.Restore(opt.In.Fd(), before) }()

	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	signals := catchSignals(cancel)
	defer signals.stop()

	m := newModel(ctx, back, t)
	m.start, m.save = opt.Start, opt.Save
	m.bind(opt.Config.rebound(keymap()))
	m.retheme = func(name string) (*theme, error) {
		o := opt
		o.Theme = name
		return checkTerminal(&o, os.Getenv)
	}
	if opt.RunShell != nil {
		m.shell = func(ctx context.Context) error {
			signals.away(true)
			defer signals.away(false)
			return opt.RunShell(ctx)
		}
	}
	switch {
	case opt.Tour:
		m.toggleTour()
	case opt.Welcome:
		m.firstPage()
	}
	err = m.program(ctx, opt.In, opt.Out, !opt.Config.NoMouse)
	m.end(opt.Out)
	return outcome(ctx, m, err)
}

// program runs Bubble Tea. It handles no signals of its own: those that it
// leaves alone would leave the terminal raw.
func (m *model) program(ctx context.Context, in *os.File, out *os.File, mouse bool) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("internal error: %v", v)
		}
	}()
	m.out = newSlowWriter(out)
	defer func() {
		limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), closingTime)
		defer cancel()
		m.out.stop(limit)
	}()
	m.clip = clipboard{tmux: os.Getenv("TMUX") != "", screen: os.Getenv("STY") != "", write: func(s string) { _, _ = m.out.Write([]byte(s)) }}
	options := []tea.ProgramOption{tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(m.out), tea.WithAltScreen(), tea.WithoutSignalHandler()}
	if mouse {
		options = append(options, tea.WithMouseCellMotion())
	}
	p := tea.NewProgram(m, options...)
	m.out.mu.Lock()
	m.out.drained = func() { go p.Send(drainedMsg{}) }
	m.out.mu.Unlock()
	_, err = p.Run()
	return err
}

// end cancels the commands that run and waits for them.
func (m *model) end(out io.Writer) {
	limit := time.After(closingTime)
	for i, j := range m.jobs {
		j.cancel()
		select {
		case <-j.done:
			continue
		default:
		}
		if i == 0 {
			fmt.Fprintf(out, "cancelling %s\n", clean(j.text, true))
		}
		select {
		case <-j.done:
		case <-limit:
			return
		}
	}
}

// outcome is the error of Run.
func outcome(ctx context.Context, m *model, err error) error {
	switch {
	case ctx.Err() != nil && signalled(ctx):
		return context.Cause(ctx)
	case m.unopened != nil:
		return m.unopened
	case m.failure != nil:
		return fmt.Errorf("%w\n%s", m.failure, m.failure.stack)
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return err
}

func signalled(ctx context.Context) bool {
	_, ok := errors.AsType[*SignalError](context.Cause(ctx))
	return ok
}

// catcher ends the screen where a signal would end the program.
type catcher struct {
	ends chan os.Signal
	// kept takes interrupts that are not for the screen, so that they do not end the
	// program.
	kept chan os.Signal
	done chan struct{}
}

func catchSignals(cancel context.CancelCauseFunc) *catcher {
	c := &catcher{ends: make(chan os.Signal, 1), kept: make(chan os.Signal, 1), done: make(chan struct{})}
	heed.Signals(c.kept, syscall.SIGINT)
	heed.Signals(c.ends, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	go func() {
		for {
			select {
			case s := <-c.ends:
				cancel(&SignalError{s.(syscall.Signal)})
			case <-c.kept:
			case <-c.done:
				return
			}
		}
	}()
	return c
}

// away leaves interrupts to the shell while that has the terminal.
func (c *catcher) away(yes bool) {
	signal.Stop(c.ends)
	heed.Signals(c.ends, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	if !yes {
		heed.Signals(c.ends, syscall.SIGINT)
	}
}

// stop leaves signals alone again.
func (c *catcher) stop() {
	signal.Stop(c.ends)
	signal.Stop(c.kept)
	close(c.done)
}

func checkTerminal(opt *Options, env environment) (*theme, error) {
	switch name := env("TERM"); {
	case !term.IsTerminal(opt.In.Fd()) || !term.IsTerminal(opt.Out.Fd()):
		return nil, fmt.Errorf("%w: input and output must be one", ErrTerminal)
	case name == "" || name == "dumb":
		return nil, fmt.Errorf("%w: TERM=%s cannot move its cursor; use the shell", ErrTerminal, name)
	}
	profile := env.profile()
	if opt.NoColor {
		profile = termenv.Ascii
	}
	name := opt.Theme
	if name == "" {
		name = env.theme()
	}
	return newTheme(name, profile, env.glyphs())
}

// shellBackend is the shell of a session.
type shellBackend struct {
	*shell.Shell
	watcher *session.Watcher
}

func (b *shellBackend) State() session.State { return b.Session().State() }

func (b *shellBackend) Run(ctx context.Context, text string, out *shell.Output) error {
	return b.Shell.Run(ctx, "screen", text, out)
}

// maxEntries is how many entries of the history are listed.
const maxEntries = 500

func (b *shellBackend) Entries(ctx context.Context) ([]pastEntry, error) {
	store, err := b.Session().History()
	if err != nil {
		return nil, err
	}
	subnet := b.Session().Subnet()
	list, err := store.List(ctx, subnet, maxEntries)
	if err != nil {
		return nil, err
	}
	journal, err := store.Journal(ctx, subnet)
	if err != nil {
		return nil, err
	}
	return joinJournal(list, journal), nil
}

func (b *shellBackend) Recall(id int64) (*session.Picture, error) {
	st := b.State()
	return st.Of(session.Kind(fmt.Sprint(id)))
}

func (b *shellBackend) Problems(ctx context.Context, quick bool) (*problemsReport, error) {
	return b.Session().Problems(ctx, session.ProblemOptions{Quick: quick})
}

func (b *shellBackend) Flow(ctx context.Context, what string) (*shell.Flow, error) {
	s := b.Session()
	switch what {
	case "dump":
		return shell.DumpFlow(s), nil
	case "load":
		return shell.LoadFlow(ctx, s), nil
	case "engine":
		return shell.EngineFlow(s), nil
	}
	return shell.FailFlow(s), nil
}

func (b *shellBackend) Study(ctx context.Context, p *session.Picture, kind resilience.Kind) (*resilience.Study, error) {
	return b.Session().Study(ctx, p, kind)
}

func (b *shellBackend) Counters(ctx context.Context, ports ...fabric.PortIndex) (*counters.Reading, error) {
	r, _, err := b.Session().Counters(ctx, ports...)
	return r, err
}

func (b *shellBackend) Complete(line string, cursor int) (int, []lang.Candidate) {
	return b.Shell.Complete(line, cursor)
}

func (b *shellBackend) Changed(ctx context.Context) bool {
	select {
	case <-b.watcher.C:
		b.watcher.Take()
		return true
	case <-ctx.Done():
		return false
	}
}
