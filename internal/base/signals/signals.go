// SPDX-License-Identifier: Apache-2.0

// Package signals handles the signals that end a program.
package signals

import (
	"context"
	"maps"
	"os"
	"os/signal"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Error is the signal that ended the program. The program must finish and exit with status 128+Signal.
type Error struct{ Signal syscall.Signal }

func (e *Error) Error() string { return "ended by the signal " + e.Signal.String() }

// Termination returns the signals by which users and systems end a program.
func Termination() []os.Signal {
	return []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}
}

// Watch calls the function handle for each of the given signals, sequentially. The function stop ends this and waits
// for the last call. Watch leaves signals ignored that were ignored when the program started, as nohup does with
// SIGHUP.
func Watch(handle func(syscall.Signal), all ...os.Signal) (stop func()) {
	received, quit := make(chan os.Signal, 8), make(chan struct{})
	// signal.Notify without signals would mean all signals.
	if all = slices.DeleteFunc(slices.Clone(all), signal.Ignored); len(all) > 0 {
		signal.Notify(received, all...)
	}
	var watching sync.WaitGroup
	watching.Go(func() {
		for {
			select {
			case s := <-received:
				handle(s.(syscall.Signal))
			case <-quit:
				return
			}
		}
	})
	return func() {
		signal.Stop(received)
		close(quit)
		watching.Wait()
	}
}

// programKey is the key under which a context holds its [program].
type programKey struct{}

// program is the state of signal handling.
type program struct {
	noInterrupts context.Context // ends with all signals but SIGINT
	handlers     atomic.Int32    // number of contexts of [WithoutInterrupts]

	first time.Time // of the first signal
	last  *time.Timer

	mu      sync.Mutex
	cleanup map[*func()]bool // called before a second signal ends the program
}

// grace is the minimum time between a first signal and a second signal that ends the program. Some senders send two
// signals at once.
const grace = 500 * time.Millisecond

// Context returns a context that a termination signal cancels with an [*Error]. The function stop ends the handling of
// signals. A second signal ends the program as if there were no handler. Contexts from [WithoutInterrupts] ignore
// interrupts.
func Context() (ctx context.Context, stop func()) {
	noInterrupts, end := context.WithCancelCause(context.Background())
	p := &program{noInterrupts: noInterrupts, cleanup: map[*func()]bool{}}
	ctx, cancel := context.WithCancelCause(context.WithValue(context.Background(), programKey{}, p))
	unwatch := Watch(func(s syscall.Signal) {
		err := &Error{s}
		cancel(err)
		if s != syscall.SIGINT {
			end(err)
		}
		if s != syscall.SIGPIPE && (s != syscall.SIGINT || p.handlers.Load() == 0) {
			p.count(s)
		}
	}, append(Termination(), syscall.SIGPIPE)...) // after SIGPIPE locks are released before the end
	return ctx, func() {
		unwatch()
		if p.last != nil {
			p.last.Stop()
		}
		cancel(context.Canceled)
		end(context.Canceled)
	}
}

// count counts the signals that end the program.
func (p *program) count(s syscall.Signal) {
	switch {
	case p.first.IsZero():
		p.first = time.Now()
	case p.last == nil:
		p.last = time.AfterFunc(grace-time.Since(p.first), func() { p.kill(s) })
	}
}

// BeforeKill arranges that the function do is called before a second signal ends the program. The function undone
// cancels this. The program waits at most [maxCleanup] for do.
func BeforeKill(ctx context.Context, do func()) (undone func()) {
	p, ok := ctx.Value(programKey{}).(*program)
	if !ok {
		return func() {}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cleanup[&do] = true
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.cleanup, &do)
	}
}

// maxCleanup is the maximum time for the cleanup before the program ends, because writing to a terminal may block.
const maxCleanup = 200 * time.Millisecond

// kill ends the process as the signal would do if it had no handler.
func (p *program) kill(s syscall.Signal) {
	p.mu.Lock()
	all := slices.Collect(maps.Keys(p.cleanup))
	p.mu.Unlock()
	done := make(chan struct{})
	go func() { // it may block until the process ends
		defer close(done)
		for _, do := range all {
			(*do)()
		}
	}()
	select {
	case <-done:
	case <-time.After(maxCleanup):
	}
	signal.Reset(s)
	_ = syscall.Kill(os.Getpid(), s)
}

// WithoutInterrupts returns a context for code that handles interrupts itself. Other termination signals cancel the
// context.
func WithoutInterrupts(ctx context.Context) (out context.Context, stop func()) {
	out, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	leave := func() {}
	if p, ok := ctx.Value(programKey{}).(*program); ok {
		unlink := context.AfterFunc(p.noInterrupts, func() { cancel(context.Cause(p.noInterrupts)) })
		p.handlers.Add(1)
		leave = func() { p.handlers.Add(-1); unlink() }
	}
	return out, func() {
		leave()
		cancel(context.Canceled)
	}
}
