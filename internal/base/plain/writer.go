// SPDX-License-Identifier: Apache-2.0

// Package plain says what may leave the program in text that people read, and is the last net before it does.
package plain

import (
	"io"
	"sync"
	"unicode/utf8"
)

// Writer writes text of which no control or format character but newline and tab is left, whatever it is given: the
// others are escaped as [EscapeText] does. It may be used by many goroutines. It cannot know that a newline
// belongs to a name, so values are escaped where they are put into a line.
type Writer struct {
	mu sync.Mutex
	w  io.Writer
	// begun is a rune of which the rest is to come.
	begun []byte
}

// New makes a writer to w.
func New(w io.Writer) *Writer { return &Writer{w: w} }

// Write implements [io.Writer].
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := p
	if len(w.begun) > 0 {
		text = append(w.begun, p...)
	}
	n := whole(text)
	if err := w.put(text[:n]); err != nil {
		return 0, err
	}
	w.begun = append([]byte(nil), text[n:]...)
	return len(p), nil
}

// Flush writes what was begun and is not going on.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := w.begun
	w.begun = nil
	return w.put(text)
}

func (w *Writer) put(text []byte) error {
	if len(text) == 0 {
		return nil
	}
	_, err := io.WriteString(w.w, EscapeText(string(text)))
	return err
}

// whole is how much of the text does not end within a rune.
func whole(text []byte) int {
	for i := len(text) - 1; i >= 0 && i > len(text)-utf8.UTFMax; i-- {
		if utf8.RuneStart(text[i]) {
			if !utf8.FullRune(text[i:]) {
				return i
			}
			break
		}
	}
	return len(text)
}

// Text has write write to w as plain text.
func Text(w io.Writer, write func(io.Writer) error) error {
	p := New(w)
	if err := write(p); err != nil {
		return err
	}
	return p.Flush()
}
