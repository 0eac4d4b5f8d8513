// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"context"
	"os"
	"sync"
)

// slowWriter writes to a terminal that may be slow, such as a terminal on a remote connection. It reports whether the
// terminal has unwritten output. The screen then skips frames, so that keys do not wait for old frames.
type slowWriter struct {
	*os.File // for its descriptor; only the writer's goroutine writes to it

	mu      sync.Mutex
	pending []byte
	err     error
	wake    chan struct{}
	idle    chan struct{} // closed when nothing is pending
	drained func()
	ended   chan struct{}
}

const chunk = 1024 // how many bytes are written at a time

func newSlowWriter(f *os.File) *slowWriter {
	w := &slowWriter{File: f, wake: make(chan struct{}, 1), ended: make(chan struct{}), idle: make(chan struct{})}
	close(w.idle)
	go w.run()
	return w
}

// Write takes bytes and returns at once.
func (w *slowWriter) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return 0, w.err
	}
	if len(w.pending) == 0 && len(b) > 0 {
		w.idle = make(chan struct{})
	}
	w.pending = append(w.pending, b...)
	select {
	case w.wake <- struct{}{}:
	default:
	}
	return len(b), nil
}

func (w *slowWriter) run() {
	defer close(w.ended)
	for range w.wake {
		for w.step() {
		}
		if f := w.onDrained(); f != nil {
			f()
		}
	}
}

func (w *slowWriter) onDrained() func() {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.drained
}

// step writes a part of the output and reports whether more is left.
func (w *slowWriter) step() bool {
	w.mu.Lock()
	part := append([]byte(nil), w.pending[:min(chunk, len(w.pending))]...)
	w.mu.Unlock()
	if len(part) == 0 {
		return false
	}
	_, err := w.File.Write(part)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pending = w.pending[len(part):]
	if err != nil {
		w.err, w.pending = err, nil
	}
	if len(w.pending) == 0 {
		w.pending = nil
		close(w.idle)
		return false
	}
	return true
}

// behind reports whether bytes are pending.
func (w *slowWriter) behind() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.pending) > 0
}

// flush waits until all output is written or ctx ends.
func (w *slowWriter) flush(ctx context.Context) {
	w.mu.Lock()
	idle := w.idle
	w.mu.Unlock()
	select {
	case <-idle:
	case <-ctx.Done():
	}
}

// stop ends the writer when all output is written or ctx has ended.
func (w *slowWriter) stop(ctx context.Context) {
	w.flush(ctx)
	close(w.wake)
	select {
	case <-w.ended:
	case <-ctx.Done():
	}
}
