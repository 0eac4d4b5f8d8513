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

const grace = 5 * time.Second // how long a command may take to return after a signal that ends programs

// face is the terminal while nothing runs. Its methods may be called at any time.
type face interface {
	interrupt() // drops the line
	redraw()    // after the window has changed
	close()     // ends the reading of a line
	restore()   // puts the terminal's mode back
}

// loop runs the commands of one Run and listens to signals meanwhile.
type loop struct {
	o    *Options
	face face

	ctx     context.Context // of Run, or cancelled with a [*signals.Error]
	cancel  context.CancelCauseFunc
	unwatch func()
	unclose func()
	late    *time.Timer // since a signal that ends programs

	mu      sync.Mutex
	command context.CancelCauseFunc // of the command that runs
}

// startLoop begins to listen; stop ends it.
func startLoop(ctx context.Context, o *Options, f face) *loop {
	l := &loop{o: o, face: f}
	l.ctx, l.cancel = context.WithCancelCause(ctx)
	closed := make(chan struct{})
	unlink := context.AfterFunc(l.ctx, func() {
		defer close(closed)
		f.close()
	})
	l.unclose = func() {
		if !unlink() {
			<-closed
		}
	}
	l.unwatch = signals.Watch(l.heed, append(signals.Termination(), syscall.SIGWINCH, syscall.SIGCONT)...)
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

func (l *loop) heed(s syscall.Signal) {
	switch s {
	case syscall.SIGINT:
		l.interrupt()
	case syscall.SIGWINCH, syscall.SIGCONT:
		l.face.redraw()
	default:
		if l.late != nil {
			l.die(s)
		}
		l.late = time.AfterFunc(grace, func() { l.die(s) })
		l.cancel(&signals.Error{Signal: s})
	}
}

// die ends the process as the signal would have done.
func (l *loop) die(s syscall.Signal) {
	l.face.restore()
	signal.Reset(s)
	_ = syscall.Kill(os.Getpid(), s)
}

func (l *loop) interrupt() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.face.interrupt()
	if l.command != nil {
		l.command(ErrInterrupted)
	}
}

func (l *loop) setCommand(cancel context.CancelCauseFunc) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.command = cancel
}

// execute runs a line and reports its error. It returns what ends the loop.
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
