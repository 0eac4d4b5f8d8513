// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"context"
	"fmt"
	"sync/atomic"

	"example.org/ibconsole/fabric"
	tea "github.com/charmbracelet/bubbletea"
)

// asyncResult computes beside the screen what a pane shows, for what it was asked
// about last. Until it is back there is what the one before brought.
type asyncResult[T any] struct {
	// of is what value was computed for, and value what that gave, or err.
	of    any
	value T
	err   error

	doing       any // what is computed now, nil for nothing
	cancel      context.CancelFunc
	done, total *atomic.Int64
	ended       chan struct{} // closed when the one begun last has ended
}

// resultMsg brings the result of an asyncResult.
type resultMsg struct{ deliver func() }

// want begins to compute the value for something that can be compared, unless it
// is there or under way.
func (e *asyncResult[T]) want(c *common, of any, work func(ctx context.Context, progress func(done, total int)) (T, error)) tea.Cmd {
	if of == nil || e.of == of || e.doing == of {
		return nil
	}
	e.drop()
	ctx, cancel := context.WithCancel(c.ctx)
	done, total := new(atomic.Int64), new(atomic.Int64)
	ended := make(chan struct{})
	e.doing, e.cancel, e.done, e.total, e.ended = of, cancel, done, total, ended
	c.running++
	return func() tea.Msg {
		defer close(ended)
		value, err := shielded(func() (T, error) {
			return work(ctx, func(d, t int) { done.Store(int64(d)); total.Store(int64(t)) })
		})
		cancel()
		return resultMsg{func() {
			c.running--
			if e.doing == of && e.done == done {
				e.of, e.value, e.err, e.doing = of, value, err, nil
			}
		}}
	}
}

// shielded makes a panic an error.
func shielded[T any](work func() (T, error)) (value T, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &panicError{value: v}
		}
	}()
	return work()
}

// drop ends what is under way.
func (e *asyncResult[T]) drop() {
	if e.doing != nil {
		e.cancel()
		e.doing = nil
	}
}

// halt ends what is under way and returns a function that waits for that.
func (e *asyncResult[T]) halt() (wait func()) {
	if e.doing == nil {
		return func() {}
	}
	ended := e.ended
	e.drop()
	return func() { <-ended }
}

// ready says that the value is that for something.
func (e *asyncResult[T]) ready(of any) bool { return of != nil && e.of == of && e.err == nil }

// progress says how far it is, "" where nothing is under way.
func (e *asyncResult[T]) progress() string {
	switch {
	case e.doing == nil:
		return ""
	case e.total.Load() > 0:
		return fmt.Sprintf("computing %d%%", 100*e.done.Load()/e.total.Load())
	}
	return "computing"
}

// panicError is a command that panicked.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string {
	return fmt.Sprintf("internal error: %v (a bug; the session goes on, what ran last may be half done)", e.value)
}

// quick is how many table entries are looked through unasked: a fraction of a
// second. Where there are more a pane must be opened that wants it.
const quick = 40_000_000

func entriesOf(t *fabric.Tables) int { return len(t.Fabric.Switches) * (int(t.Fabric.MaxLID) + 1) }
