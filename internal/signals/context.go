// SPDX-License-Identifier: Apache-2.0

package signals

import (
	"context"
	"syscall"
)

// urgent is the key of the context within that of [Context] which ends with the signals
// that are no interrupts.
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

// ButInterrupts returns a context for a face that takes interrupts itself: of
// [Context]'s one that the other signals cancel.
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
