// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"example.org/ibconsole/shell/repl"
)

// untilSignal returns a context that a signal that ends programs cancels with a
// [*repl.SignalError]; stop leaves signals alone again. The faces take signals
// themselves, besides.
func untilSignal() (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	go func() {
		select {
		case s := <-signals:
			cancel(&repl.SignalError{Signal: s.(syscall.Signal)})
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		cancel(context.Canceled)
	}
}

// butInterrupts returns a context that ends as ctx does, but for an interrupt.
func butInterrupts(ctx context.Context) (context.Context, func()) {
	out, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		if cause := context.Cause(ctx); signalOf(cause) != syscall.SIGINT {
			cancel(cause)
		}
	})
	return out, func() {
		stop()
		cancel(context.Canceled)
	}
}
