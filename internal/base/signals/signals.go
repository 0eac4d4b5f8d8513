// SPDX-License-Identifier: Apache-2.0

// Package signals listens to signals as a program has to that others start.
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

// Error says which signal ended the program. Whoever gets it is to finish, and to leave with status 128+Signal.
type Error struct{ Signal syscall.Signal }

func (e *Error) Error() string { return "ended by the signal " + e.Signal.String() }

// Ending returns the signals by which people and systems end a program.
func Ending() []os.Signal {
	return []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}
}

// Watch calls heed with each of these signals that comes, one after the other, until stop, which waits for the
// last call. Signals that the program was started to ignore, as nohup has programs ignore SIGHUP, stay ignored.
func Watch(heed func(syscall.Signal), all ...os.Signal) (stop func()) {
	come, quit := make(chan os.Signal, 8), make(chan struct{})
	if all = slices.DeleteFunc(slices.Clone(all), signal.Ignored); len(all) > 0 { // none are all
		signal.Notify(come, all...)
	}
	var watching sync.WaitGroup
	watching.Go(func() {
		for {
			select {
			case s := <-come:
				heed(s.(syscall.Signal))
			case <-quit:
				return
			}
		}
	})
	return func() {
		signal.Stop(come)
		close(quit)
		watching.Wait()
	}
}

// urgent is the key of a context's [program].
type urgent struct{}

// program is what signals have come to.
type program struct {
	still context.Context // ends with the signals that are no interrupts
	faces atomic.Int32    // that take interrupts themselves

	first time.Time // when the program was told to end
	last  *time.Timer

	mu   sync.Mutex
	died map[*func()]bool // what is to be done before a second signal ends the program
}

// grace is what the program has from the first signal on where a second one comes: some senders send two at once.
const grace = 500 * time.Millisecond

// Context returns a context that a signal that ends programs cancels with an [*Error];
// stop leaves signals alone again. A second one ends the program as if nobody listened,
// whatever it does. The faces take signals themselves, besides.
func Context() (ctx context.Context, stop func()) {
	still, end := context.WithCancelCause(context.Background())
	p := &program{still: still, died: map[*func()]bool{}}
	ctx, cancel := context.WithCancelCause(context.WithValue(context.Background(), urgent{}, p))
	leave := Watch(func(s syscall.Signal) {
		err := &Error{s}
		cancel(err)
		if s != syscall.SIGINT {
			end(err)
		}
		if s != syscall.SIGPIPE && (s != syscall.SIGINT || p.faces.Load() == 0) {
			p.told(s)
		}
	}, append(Ending(), syscall.SIGPIPE)...) // who read the output has enough: what is held is given back first
	return ctx, func() {
		leave()
		if p.last != nil {
			p.last.Stop()
		}
		cancel(context.Canceled)
		end(context.Canceled)
	}
}

// told counts the signals that tell the program to end.
func (p *program) told(s syscall.Signal) {
	switch {
	case p.first.IsZero():
		p.first = time.Now()
	case p.last == nil:
		p.last = time.AfterFunc(grace-time.Since(p.first), func() { p.die(s) })
	}
}

// BeforeDeath has something done before a second signal ends the program, whatever that does then, until undone is
// called. It is waited for no longer than [lastWords].
func BeforeDeath(ctx context.Context, do func()) (undone func()) {
	p, ok := ctx.Value(urgent{}).(*program)
	if !ok {
		return func() {}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.died[&do] = true
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.died, &do)
	}
}

// lastWords is how long what is done before the program is ended may take: a terminal may take nothing any more.
const lastWords = 200 * time.Millisecond

// die ends the process as the signal would have done.
func (p *program) die(s syscall.Signal) {
	p.mu.Lock()
	all := slices.Collect(maps.Keys(p.died))
	p.mu.Unlock()
	done := make(chan struct{})
	go func() { // what it waits for ends with the process
		defer close(done)
		for _, do := range all {
			(*do)()
		}
	}()
	select {
	case <-done:
	case <-time.After(lastWords):
	}
	signal.Reset(s)
	_ = syscall.Kill(os.Getpid(), s)
}

// ButInterrupts returns a context for a face that takes interrupts itself: the other signals cancel it.
func ButInterrupts(ctx context.Context) (out context.Context, stop func()) {
	out, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	leave := func() {}
	if p, ok := ctx.Value(urgent{}).(*program); ok {
		unlink := context.AfterFunc(p.still, func() { cancel(context.Cause(p.still)) })
		p.faces.Add(1)
		leave = func() { p.faces.Add(-1); unlink() }
	}
	return out, func() {
		leave()
		cancel(context.Canceled)
	}
}
