// SPDX-License-Identifier: Apache-2.0

// Package tui is the screen of ibconsole, with panes for one session.
//
// A key represents a command of package shell, and the log shows this command. Commands run in the background. Update
// and View draw only visible rows. They compute nothing whose cost grows with the subnet, except once for each state.
// The input is a [session.State], whose parts are immutable values; results derived from a part are cached by its
// pointer.
package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"
	"github.com/muesli/termenv"

	"example.org/ibconsole/internal/base/signals"
	"example.org/ibconsole/shell"
	"example.org/ibconsole/tui/draw"
)

// Options are the options of [Run].
type Options struct {
	Subnets *shell.Subnets // with the commands and sessions
	// Start makes the screen read the subnets after it has appeared. If the screen has a single subnet, a
	// [*connection.OpenError] ends the screen.
	Start bool
	// RunShell runs the shell on the same session, if it is not nil. It uses the terminal in the mode that the terminal
	// had before Run, and restores this mode.
	RunShell      func(ctx context.Context) error
	Theme         string // one of [draw.Themes], "" for the theme that suits the terminal
	NoColor       bool
	Config        Config   // see [ReadConfig]
	Save          Saver    // creates exported files, nil for none
	Welcome, Tour bool     // show the welcome page, start the tour
	SeenKeys      string   // the file that remembers which changes of keys were shown, "" to show none
	LastPane      string   // the file that remembers the pane with the focus, "" for none
	In, Out       *os.File // the terminal, nil for standard input and output
}

// ErrTerminal is returned if the screen cannot be drawn on the terminal.
var ErrTerminal = errors.New("no terminal for the screen")

const closingTime = 5 * time.Second // how long Run waits for cancelled commands

// Run shows the screen until it is quit, and restores the terminal. SIGINT, SIGTERM, SIGHUP and SIGQUIT end it with a
// [*signals.Error]. A panic of a command ends it with an error that contains the stack. Any other panic ends it with a
// [*CrashError]. If In or Out is not a terminal, or the terminal cannot move its cursor, Run returns [ErrTerminal].
func Run(ctx context.Context, opt Options) error {
	var all []backend
	for i, n := range opt.Subnets.All() {
		back := &shellBackend{Shell: n.Shell, watcher: n.Session().Watch(), among: opt.Subnets, here: i}
		defer back.watcher.Stop()
		all = append(all, back)
	}
	return run(ctx, opt, all...)
}

func run(ctx context.Context, opt Options, backs ...backend) error {
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
	left := signals.BeforeKill(ctx, func() {
		_ = term.Restore(opt.In.Fd(), before)
		_, _ = opt.Out.WriteString(leaveScreen)
	})

	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	quit := func(s syscall.Signal) { cancel(&signals.Error{Signal: s}) }
	defer signals.Watch(quit, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)()
	i := interrupts{quit, signals.Watch(quit, syscall.SIGINT)}
	defer func() { i.unwatch() }()

	all := opt.screens(ctx, t, &i, backs)
	if err := openFirst(ctx, all, opt.Config.Pane, opt.LastPane); err != nil {
		noteError(all[0], err)
	}
	switch {
	case opt.Tour:
		toggleTour(all[0])
	case opt.Welcome:
		all[0].pages.firstPage()
	}
	showNewKeys(all[0], opt.SeenKeys, opt.Tour || opt.Welcome)
	var root tea.Model = all[0]
	if len(all) > 1 {
		root = newScreens(opt.Subnets, all)
	}
	err = program(ctx, root, all, opt.In, opt.Out, !opt.Config.NoMouse)
	left()
	end(opt.Out, all)
	opt.savePane(ctx, root)
	return outcome(ctx, all, err)
}

// interrupts handles SIGINT while the screen has the terminal.
type interrupts struct {
	handle  func(syscall.Signal)
	unwatch func()
}

// leaveTo leaves SIGINT to the function run. An interrupt that arrives while run works is never handled afterwards.
func (i *interrupts) leaveTo(run func() error) error {
	unheard := signals.Watch(func(syscall.Signal) {}, syscall.SIGINT) // otherwise it would end the process
	i.unwatch()
	defer func() {
		i.unwatch = signals.Watch(i.handle, syscall.SIGINT)
		unheard()
	}()
	return run()
}

// screens returns the screens of the subnets. While the shell uses the terminal, it handles the interrupts.
func (opt *Options) screens(ctx context.Context, t *draw.Theme, sigint *interrupts, backs []backend) (all []*model) {
	for i, back := range backs {
		m := newModel(ctx, back, t)
		if opt.Start {
			m.start = starting(opt.Subnets.All()[i])
		}
		m.save, m.config = opt.Save, &opt.Config
		opt.Config.pickColumns(m.all)
		m.actions = append(opt.Config.rebound(m.keymap()), opt.Config.actions(m)...)
		m.retheme = func(name string) (*draw.Theme, error) {
			o := *opt
			o.Theme = name
			return checkTerminal(&o, os.Getenv)
		}
		if opt.RunShell != nil {
			m.shell = func(ctx context.Context) error {
				return sigint.leaveTo(func() error { return opt.RunShell(ctx) })
			}
		}
		all = append(all, m)
	}
	return all
}

// starting returns a function that reads a subnet for the first time.
func starting(n *shell.Subnet) func(context.Context) error {
	return func(ctx context.Context) error {
		err := n.Session().Start(ctx)
		n.Troubled(err)
		return err
	}
}

// leaveScreen undoes the changes of Bubble Tea to the terminal, in case Bubble Tea cannot undo them: the mouse,
// bracketed paste, the alternate screen and the hidden cursor.
const leaveScreen = ansi.ResetModeMouseButtonEvent + ansi.ResetModeMouseAnyEvent + ansi.ResetModeMouseExtSgr +
	ansi.ResetModeBracketedPaste +
	ansi.ResetModeAltScreenSaveCursor + ansi.ShowCursor

// program runs Bubble Tea without its signal handler. With other signals, that handler would leave the terminal in raw
// mode.
func program(ctx context.Context, root tea.Model, all []*model, in *os.File, out *os.File, mouse bool) error {
	slow := newSlowWriter(out)
	defer func() {
		limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), closingTime)
		defer cancel()
		slow.stop(limit)
	}()
	for _, m := range all {
		m.out = slow
		m.clip = clipboard{tmux: os.Getenv("TMUX") != "", screen: os.Getenv("STY") != "", write: func(s string) {
			_, _ = slow.Write([]byte(s))
		}}
	}
	options := []tea.ProgramOption{tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(slow), tea.WithAltScreen(),
		tea.WithoutSignalHandler()}
	if mouse {
		options = append(options, tea.WithMouseCellMotion())
	}
	g := &guard{inside: root}
	p := tea.NewProgram(g, options...)
	g.quit = func() { go p.Quit() }
	slow.mu.Lock()
	slow.drained = func() { go p.Send(drainedMsg{}) }
	slow.mu.Unlock()
	_, err := p.Run()
	if crash := g.crash.Load(); crash != nil {
		return crash
	}
	return err
}

// end cancels the running commands and waits for them.
func end(out io.Writer, all []*model) {
	limit := time.After(closingTime)
	var jobs []*job
	for _, m := range all {
		jobs = append(jobs, m.jobs.running...)
	}
	for _, j := range jobs {
		j.cancel()
	}
	for i, j := range jobs {
		select {
		case <-j.done:
			continue
		default:
		}
		if i == 0 {
			fmt.Fprintf(out, "cancelling %s\n", draw.Clean(j.text, true))
		}
		select {
		case <-j.done:
		case <-limit:
			return
		}
	}
}

// outcome returns the error of Run.
func outcome(ctx context.Context, all []*model, err error) error {
	if ctx.Err() != nil && signalled(ctx) {
		return context.Cause(ctx)
	}
	if crash, ok := errors.AsType[*CrashError](err); ok {
		return crash
	}
	for _, m := range all {
		switch {
		case m.jobs.unopened != nil:
			return m.jobs.unopened
		case m.jobs.failure != nil:
			return fmt.Errorf("%w\n%s", m.jobs.failure, m.jobs.failure.Stack)
		}
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return err
}

func signalled(ctx context.Context) bool {
	_, ok := errors.AsType[*signals.Error](context.Cause(ctx))
	return ok
}

func checkTerminal(opt *Options, env draw.Environment) (*draw.Theme, error) {
	switch name := env("TERM"); {
	case !term.IsTerminal(opt.In.Fd()) || !term.IsTerminal(opt.Out.Fd()):
		return nil, fmt.Errorf("%w: input and output must be a terminal", ErrTerminal)
	case name == "" || name == "dumb":
		return nil, fmt.Errorf("%w: TERM=%s cannot move its cursor; use the shell", ErrTerminal, name)
	}
	profile := env.Profile()
	if opt.NoColor {
		profile = termenv.Ascii
	}
	name := opt.Theme
	if name == "" {
		name = env.Theme()
	}
	return draw.NewTheme(name, profile, env.Glyphs(), opt.Config.Look)
}
