// SPDX-License-Identifier: Apache-2.0

package pane

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync/atomic"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
)

// AsyncResult computes beside the screen what a pane shows, for what it was asked
// about last. Until it is back there is what the one before brought.
type AsyncResult[T any] struct {
	// Of is what Value was computed for, which that gave, or Err.
	Of    any
	Value T
	Err   error

	Doing       any // what is computed now, nil for nothing
	cancel      context.CancelFunc
	done, total *atomic.Int64
	ended       chan struct{} // closed when the one begun last has ended
}

// ResultMsg brings the result of an AsyncResult.
type ResultMsg struct{ Deliver func() }

// Want begins to compute the value for something that can be compared, unless it is there or under way.
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

// Shielded makes a panic an error.
func Shielded[T any](work func() (T, error)) (value T, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	return work()
}

// Drop ends what is under way.
func (e *AsyncResult[T]) Cancel() {
	if e.Doing != nil {
		e.cancel()
		e.Doing = nil
	}
}

// Halt ends what is under way and returns a function that waits for that.
func (e *AsyncResult[T]) CancelAndWait() (wait func()) {
	if e.Doing == nil {
		return func() {}
	}
	ended := e.ended
	e.Cancel()
	return func() { <-ended }
}

// Ready says that the value is that for something.
func (e *AsyncResult[T]) Ready(of any) bool { return of != nil && e.Of == of && e.Err == nil }

// Progress says how far it is, "" where nothing is under way.
func (e *AsyncResult[T]) Progress() string {
	switch {
	case e.Doing == nil:
		return ""
	case e.total.Load() > 0:
		return fmt.Sprintf("computing %d%%", 100*e.done.Load()/e.total.Load())
	}
	return "computing"
}

// PanicError is a command that panicked.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string {
	return fmt.Sprintf("internal error: %v (a bug; the session goes on, what ran last may be half done)", e.Value)
}

// Quick is how many table entries are looked through unasked: a fraction of a
// second. Where there are more a pane must be opened that wants it.
const Quick = 40_000_000

// EntriesOf is how many entries tables have.
func EntriesOf(t *fabric.Tables) int { return len(t.Fabric.Switches) * (int(t.Fabric.MaxLID) + 1) }
