// SPDX-License-Identifier: Apache-2.0

package pane

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync/atomic"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/tui/draw"
)

// AsyncResult computes data for a pane in the background. Until a new result arrives, the previous result remains.
type AsyncResult[T any] struct {
	// Of identifies the input from which Value or Err was computed.
	Of    any
	Value T
	Err   error

	Doing       any // the input of the computation that runs, nil for none
	cancel      context.CancelFunc
	done, total *atomic.Int64
	ended       chan struct{} // closed when the last computation has ended
}

// ResultMsg delivers the result of an AsyncResult to the screen.
type ResultMsg struct{ Deliver func() }

// Start computes the value for an input, unless this value is already known or being computed. Inputs must be
// comparable.
func (e *AsyncResult[T]) Start(c *Common, of any, work func(ctx context.Context, progress func(done, total int)) (T,
	error)) tea.Cmd {
	if of == nil || e.Of == of || e.Doing == of {
		return nil
	}
	e.Cancel()
	ctx, cancel := context.WithCancel(c.Ctx)
	done, total := new(atomic.Int64), new(atomic.Int64)
	ended := make(chan struct{})
	e.Doing, e.cancel, e.done, e.total, e.ended = of, cancel, done, total, ended
	c.Running++
	return func() tea.Msg {
		defer close(ended)
		value, err := Shielded(func() (T, error) {
			return work(ctx, func(d, t int) { done.Store(int64(d)); total.Store(int64(t)) })
		})
		cancel()
		return ResultMsg{func() {
			c.Running--
			if e.Doing == of && e.done == done {
				e.Of, e.Value, e.Err, e.Doing = of, value, err, nil
			}
		}}
	}
}

// Shielded converts a panic to an error.
func Shielded[T any](work func() (T, error)) (value T, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	return work()
}

// Cancel ends the computation that runs.
func (e *AsyncResult[T]) Cancel() {
	if e.Doing != nil {
		e.cancel()
		e.Doing = nil
	}
}

// CancelAndWait cancels the running computation and returns a function that waits until it has ended.
func (e *AsyncResult[T]) CancelAndWait() (wait func()) {
	if e.Doing == nil {
		return func() {}
	}
	ended := e.ended
	e.Cancel()
	return func() { <-ended }
}

// Ready reports whether the value is the result for the given input.
func (e *AsyncResult[T]) Ready(of any) bool { return of != nil && e.Of == of && e.Err == nil }

// Progress returns a text with the progress of the computation, or "" if none is running.
func (e *AsyncResult[T]) Progress() string {
	switch {
	case e.Doing == nil:
		return ""
	case e.total.Load() > 0:
		return "computing " + draw.Done(e.done.Load(), e.total.Load())
	}
	return "computing"
}

// PanicError is the panic of a command.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string {
	return fmt.Sprintf("internal error: %v (a bug; the session continues, the last command may be incomplete)", e.Value)
}

// Quick is the maximum number of table entries that are examined for a pane that is not visible, which takes a fraction
// of a second. If there are more entries, the pane must be visible.
const Quick = 40_000_000

// EntriesOf returns the number of entries in tables.
func EntriesOf(t *fabric.Tables) int { return len(t.Fabric.Switches) * (int(t.Fabric.MaxLID) + 1) }
