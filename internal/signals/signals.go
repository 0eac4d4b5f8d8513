// SPDX-License-Identifier: Apache-2.0

// Package signals listens to signals as a program has to that others start.
package signals

import (
	"context"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
)

// Error says which signal ended the program. Whoever gets it is to finish, and to leave with status 128+Signal.
type Error struct{ Signal syscall.Signal }

func (e *Error) Error() string { return "ended by the signal " + e.Signal.String() }

// Ending are the signals by which people and systems end a program.
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

// urgent is the key of the context within that of [Context] which ends with the signals that are no interrupts.
type urgent struct{}

// Context returns a context that a signal that ends programs cancels with an [*Error];
// stop leaves signals alone again. The faces take signals themselves, besides.
func Context() (ctx context.Context, stop func()) {
	still, end := context.WithCancelCause(context.Background())
	ctx, cancel := context.WithCancelCause(context.WithValue(context.Background(), urgent{}, still))
	leave := Watch(func(s syscall.Signal) {
		err := &Error{s}
		cancel(err)
		if s != syscall.SIGINT {
			end(err)
		}
	}, append(Ending(), syscall.SIGPIPE)...) // who read the output has enough: what is held is given back first
	return ctx, func() {
		leave()
		cancel(context.Canceled)
		end(context.Canceled)
	}
}

// ButInterrupts returns a context for a face that takes interrupts itself: the other signals cancel it.
func ButInterrupts(ctx context.Context) (out context.Context, stop func()) {
	out, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	unlink := func() bool { return true }
	if still, ok := ctx.Value(urgent{}).(context.Context); ok {
		unlink = context.AfterFunc(still, func() { cancel(context.Cause(still)) })
	}
	return out, func() {
		unlink()
		cancel(context.Canceled)
	}
}
