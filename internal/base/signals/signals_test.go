// SPDX-License-Identifier: Apache-2.0

package signals_test

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"example.org/ibconsole/internal/base/signals"
)

func raise(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(os.Getpid(), s); err != nil {
		t.Fatal(err)
	}
}

func TestWatch(t *testing.T) {
	received := make(chan syscall.Signal)
	stop := signals.Watch(func(s syscall.Signal) { received <- s }, syscall.SIGUSR1, syscall.SIGWINCH)
	defer stop()
	for _, s := range []syscall.Signal{syscall.SIGUSR1, syscall.SIGWINCH} {
		raise(t, s)
		if got := <-received; got != s {
			t.Errorf("received %v, want %v", got, s)
		}
	}
}

// Signals that nohup makes programs ignore stay ignored. Only this test uses SIGUSR2: for Go an ignored signal stays
// ignored until the program asks for it.
func TestIgnoredStaysIgnored(t *testing.T) {
	signal.Ignore(syscall.SIGUSR2)
	defer signal.Reset(syscall.SIGUSR2)
	stop := signals.Watch(func(s syscall.Signal) { t.Errorf("received %v", s) }, syscall.SIGUSR2)
	defer stop()
	if raise(t, syscall.SIGUSR2); !signal.Ignored(syscall.SIGUSR2) {
		t.Error("the signal is not ignored")
	}
}

// An interrupt cancels the context, but not one of WithoutInterrupts. The other signals cancel both.
func TestContext(t *testing.T) {
	ctx, stop := signals.Context()
	defer stop()
	other, leave := signals.WithoutInterrupts(ctx)
	defer leave()
	for _, c := range []struct {
		ctx    context.Context
		signal syscall.Signal
	}{{ctx, syscall.SIGINT}, {other, syscall.SIGTERM}} {
		if err := c.ctx.Err(); err != nil {
			t.Fatalf("before %v: %v", c.signal, err)
		}
		raise(t, c.signal)
		<-c.ctx.Done()
		if ended, ok := errors.AsType[*signals.Error](context.Cause(c.ctx)); !ok || ended.Signal != c.signal {
			t.Errorf("after %v: %v", c.signal, context.Cause(c.ctx))
		}
	}
}
