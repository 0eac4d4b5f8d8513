// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"example.org/ibconsole/internal/heed"
)

// SignalError says that a signal ended the program.
type SignalError struct{ Signal syscall.Signal }

func (e *SignalError) Error() string { return "ended by signal: " + e.Signal.String() }

// catcher ends the screen where a signal would end the program.
type catcher struct {
	ends chan os.Signal
	// kept takes interrupts that are not for the screen, so that they do not end the
	// program.
	kept chan os.Signal
	done chan struct{}
}

func catchSignals(cancel context.CancelCauseFunc) *catcher {
	c := &catcher{ends: make(chan os.Signal, 1), kept: make(chan os.Signal, 1), done: make(chan struct{})}
	heed.Signals(c.kept, syscall.SIGINT)
	heed.Signals(c.ends, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	go func() {
		for {
			select {
			case s := <-c.ends:
				cancel(&SignalError{s.(syscall.Signal)})
			case <-c.kept:
			case <-c.done:
				return
			}
		}
	}()
	return c
}

// away leaves interrupts to the shell while that has the terminal.
func (c *catcher) away(yes bool) {
	signal.Stop(c.ends)
	heed.Signals(c.ends, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	if !yes {
		heed.Signals(c.ends, syscall.SIGINT)
	}
}

// stop leaves signals alone again.
func (c *catcher) stop() {
	signal.Stop(c.ends)
	signal.Stop(c.kept)
	close(c.done)
}
