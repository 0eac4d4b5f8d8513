// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"example.org/ibconsole/internal/heed"
	"example.org/ibconsole/shell/repl"
)

// graveKey is the key of the context within that of untilSignal which ends with the
// signals that are no interrupts.
type graveKey struct{}

// untilSignal returns a context that a signal that ends programs cancels with a
// [*repl.SignalError]; stop leaves signals alone again. The faces take signals
// themselves, besides.
func untilSignal() (ctx context.Context, stop func()) {
	grave, end := context.WithCancelCause(context.Background())
	ctx, cancel := context.WithCancelCause(context.WithValue(context.Background(), graveKey{}, grave))
	signals := make(chan os.Signal, 4)
	heed.Signals(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT,
		syscall.SIGPIPE) // who read the output has enough: what is held is given back first
	go func() {
		for {
			select {
			case s := <-signals:
				err := &repl.SignalError{Signal: s.(syscall.Signal)}
				cancel(err)
				if err.Signal != syscall.SIGINT {
					end(err)
				}
			case <-grave.Done():
				return
			}
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		cancel(context.Canceled)
		end(context.Canceled)
	}
}

// butInterrupts returns a context for a face that takes interrupts itself: of
// untilSignal's one that the other signals cancel.
func butInterrupts(ctx context.Context) (out context.Context, stop func()) {
	out, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	unlink := func() bool { return true }
	if grave, ok := ctx.Value(graveKey{}).(context.Context); ok {
		unlink = context.AfterFunc(grave, func() { cancel(context.Cause(grave)) })
	}
	return out, func() {
		unlink()
		cancel(context.Canceled)
	}
}
