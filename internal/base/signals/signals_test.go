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
	came := make(chan syscall.Signal)
	stop := signals.Watch(func(s syscall.Signal) { came <- s }, syscall.SIGUSR1, syscall.SIGWINCH)
	defer stop()
	for _, s := range []syscall.Signal{syscall.SIGUSR1, syscall.SIGWINCH} {
		raise(t, s)
		if got := <-came; got != s {
			t.Errorf("%v came, want %v", got, s)
		}
	}
}

// Signals that nohup has programs ignore stay ignored. The signal is of this test alone:
// to Go one that was ignored once is so until somebody asks for it.
func TestIgnoredStaysIgnored(t *testing.T) {
	signal.Ignore(syscall.SIGUSR2)
	defer signal.Reset(syscall.SIGUSR2)
	stop := signals.Watch(func(s syscall.Signal) { t.Errorf("%v came", s) }, syscall.SIGUSR2)
	defer stop()
	if raise(t, syscall.SIGUSR2); !signal.Ignored(syscall.SIGUSR2) {
		t.Error("it is caught")
	}
}

// An interrupt ends the context, and not that of a face which takes interrupts itself.
// The other signals end both.
func TestContext(t *testing.T) {
	ctx, stop := signals.Context()
	defer stop()
	face, leave := signals.ButInterrupts(ctx)
	defer leave()
	for _, c := range []struct {
		ctx    context.Context
		signal syscall.Signal
	}{{ctx, syscall.SIGINT}, {face, syscall.SIGTERM}} {
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
