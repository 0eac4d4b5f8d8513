// SPDX-License-Identifier: Apache-2.0

// Package plain makes text safe to print. Its Writer is the last check before output.
package plain

import (
	"io"
	"sync"
	"unicode/utf8"
)

// Writer escapes the text written to it as [EscapeText] does: all control and format characters except newline and tab.
// It is safe for concurrent use. Writer cannot distinguish a newline within a name from the end of a line, so callers
// escape values that they print in a line.
type Writer struct {
	mu sync.Mutex
	w  io.Writer
	// begun holds the first bytes of a rune whose other bytes were not written yet.
	begun []byte
}

// New returns a writer to w.
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

// Flush writes an incomplete rune.
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

// The function whole returns the length of text without an incomplete rune at its end.
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

// Text calls write with a [Writer] to w.
func Text(w io.Writer, write func(io.Writer) error) error {
	p := New(w)
	if err := write(p); err != nil {
		return err
	}
	return p.Flush()
}
