// SPDX-License-Identifier: Apache-2.0

package repl

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"example.org/ibconsole/internal/base/signals"
)

const grace = 5 * time.Second // for a command to return after a signal that ends programs

// lineTerminal is the terminal between commands, while a line is read. Its methods are safe for concurrent use.
type lineTerminal interface {
	interrupt() // drops the line
	redraw()    // draws the line after a change of the window
	close()     // ends the reading of a line
	restore()   // restores the mode of the terminal
}

// loop runs the commands of one call of Run, and handles signals.
type loop struct {
	o        *Options
	terminal lineTerminal

	ctx     context.Context // of Run, or cancelled with a [*signals.Error]
	cancel  context.CancelCauseFunc
	unwatch func()
	unclose func()
	late    *time.Timer // kills the process after a signal that ends programs

	mu      sync.Mutex
	command context.CancelCauseFunc // cancels the running command
}

// startLoop returns a loop that handles signals until its method stop is called.
func startLoop(ctx context.Context, o *Options, t lineTerminal) *loop {
	l := &loop{o: o, terminal: t}
	l.ctx, l.cancel = context.WithCancelCause(ctx)
	closed := make(chan struct{})
	unlink := context.AfterFunc(l.ctx, func() {
		defer close(closed)
		t.close()
	})
	l.unclose = func() {
		if !unlink() {
			<-closed
		}
	}
	l.unwatch = signals.Watch(l.handle, append(signals.Termination(), syscall.SIGWINCH, syscall.SIGCONT)...)
	return l
}

func (l *loop) stop() {
	l.unwatch()
	if l.late != nil {
		l.late.Stop()
	}
	l.unclose()
	l.cancel(context.Canceled)
}

func (l *loop) handle(s syscall.Signal) {
	switch s {
	case syscall.SIGINT:
		l.interrupt()
	case syscall.SIGWINCH, syscall.SIGCONT:
		l.terminal.redraw()
	default:
		if l.late != nil {
			l.die(s)
		}
		l.late = time.AfterFunc(grace, func() { l.die(s) })
		l.cancel(&signals.Error{Signal: s})
	}
}

// die ends the process by the signal.
func (l *loop) die(s syscall.Signal) {
	l.terminal.restore()
	signal.Reset(s)
	_ = syscall.Kill(os.Getpid(), s)
}

func (l *loop) interrupt() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.terminal.interrupt()
	if l.command != nil {
		l.command(ErrInterrupted)
	}
}

func (l *loop) setCommand(cancel context.CancelCauseFunc) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.command = cancel
}

// execute runs a line and reports the error of the command. It returns an error only if the loop must end.
func (l *loop) execute(line string) error {
	ctx, cancel := context.WithCancelCause(l.ctx)
	defer cancel(nil)
	l.setCommand(cancel)
	defer l.setCommand(nil)
	err := l.o.execute(ctx, line)
	if errors.Is(err, ErrExit) {
		return ErrExit
	}
	if l.ctx.Err() != nil {
		if !errors.Is(err, context.Canceled) {
			l.o.report(ctx, err)
		}
		return context.Cause(l.ctx)
	}
	l.o.report(ctx, err)
	return nil
}
