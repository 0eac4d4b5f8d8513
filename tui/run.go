// SPDX-License-Identifier: Apache-2.0

// Package tui is the screen of ibconsole: panes over one session.
//
// A key is a short way to say a command of package shell, and the log shows what it said. Commands run beside
// the screen: Update and View compute nothing that grows with the subnet but once a picture, and draw only
// the rows that are seen. What the session holds comes in as a [session.State], whose pictures are values;
// everything derived from one is kept by its pointer.
package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"
	"github.com/muesli/termenv"

	"example.org/ibconsole/internal/signals"
	"example.org/ibconsole/shell"
	"example.org/ibconsole/tui/draw"
)

// Options say what [Run] shows, and where.
type Options struct {
	Shell *shell.Shell // has the commands and the session
	// Start, where set, reads the subnet beside the first screen, which a [*connection.OpenError] of it ends.
	Start func(ctx context.Context) error
	// RunShell, where set, runs the shell on the same session. It has the terminal
	// for itself, as the terminal was before Run, and gives it back as it was.
	RunShell      func(ctx context.Context) error
	Theme         string // one of [Themes], "" for the one that suits the terminal
	NoColor       bool
	Config        Config   // what the user's file says; see [ReadConfig]
	Save          Saver    // makes the files that lists are exported to, nil for none
	Welcome, Tour bool     // Welcome shows a page first that explains the screen; Tour begins the tour
	In, Out       *os.File // In and Out are the terminal; nil for standard input and output
}

// ErrTerminal says that there is no terminal that the screen can be drawn on.
var ErrTerminal = errors.New("no terminal for the screen")

const closingTime = 5 * time.Second // how long Run waits for commands that it cancelled

// Run shows the screen until it is quit. The terminal is then as it was before, also after SIGINT, SIGTERM,
// SIGHUP and SIGQUIT, which give a [*signals.Error], and after a panic of a command, which gives an error with
// its stack. It fails with [ErrTerminal] where In or Out is no terminal, or one that cannot move its cursor.
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
	left := signals.BeforeDeath(ctx, func() {
		_ = term.Restore(opt.In.Fd(), before)
		_, _ = opt.Out.WriteString(leaveScreen)
	})

	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var away atomic.Bool // the shell has the terminal, and interrupts are for it
	defer signals.Watch(func(s syscall.Signal) {
		if s != syscall.SIGINT || !away.Load() {
			cancel(&signals.Error{Signal: s})
		}
	}, signals.Ending()...)()

	m := newModel(ctx, back, t)
	m.start, m.save = opt.Start, opt.Save
	m.actions = opt.Config.rebound(m.keymap())
	m.retheme = func(name string) (*draw.Theme, error) {
		o := opt
		o.Theme = name
		return checkTerminal(&o, os.Getenv)
	}
	if opt.RunShell != nil {
		m.shell = func(ctx context.Context) error {
			away.Store(true)
			defer away.Store(false)
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
	left()
	m.end(opt.Out)
	return outcome(ctx, m, err)
}

// leaveScreen is what Bubble Tea does to a terminal at its end, for one that does not come to it: the mouse and
// bracketed paste off, the screen left, the cursor shown.
const leaveScreen = ansi.ResetModeMouseButtonEvent + ansi.ResetModeMouseAnyEvent + ansi.ResetModeMouseExtSgr + ansi.ResetModeBracketedPaste +
	ansi.ResetModeAltScreenSaveCursor + ansi.ShowCursor

// program runs Bubble Tea, which handles no signals: those that it leaves alone would leave the terminal raw.
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
			fmt.Fprintf(out, "cancelling %s\n", draw.Clean(j.text, true))
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
		return fmt.Errorf("%w\n%s", m.failure, m.failure.Stack)
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
		return nil, fmt.Errorf("%w: input and output must be one", ErrTerminal)
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
	return draw.NewTheme(name, profile, env.Glyphs())
}
