// SPDX-License-Identifier: Apache-2.0

package repl

import (
	"github.com/c-bata/go-prompt"
	"github.com/mattn/go-runewidth"
)

// tooSmall is the text that go-prompt writes to an erased screen if a line does not fit into the window.
const tooSmall = "Your console window is too small..."

// screen is the terminal as go-prompt's ConsoleWriter.
type screen struct {
	prompt.ConsoleWriter // the terminal, or a discarded writer while muted
	terminal             prompt.ConsoleWriter
	noColor              bool
	replacement          func() string // returns the replacement of a line that does not fit
}

func newScreen() *screen {
	terminal := prompt.NewStdoutWriter()
	return &screen{ConsoleWriter: terminal, terminal: terminal}
}

// mute discards the output.
func (s *screen) mute() { s.ConsoleWriter = prompt.NewStdoutWriter() }

func (s *screen) unmute() { s.ConsoleWriter = s.terminal }

// Flush writes the buffered output.
func (s *screen) Flush() error {
	if s.ConsoleWriter != s.terminal {
		return nil
	}
	return s.ConsoleWriter.Flush()
}

// SetTitle does nothing.
func (s *screen) SetTitle(string) {}

// ClearTitle does nothing.
func (s *screen) ClearTitle() {}

// SetColor sets the colours. If colours are disabled, it shows bold text in reverse video.
func (s *screen) SetColor(text, background prompt.Color, bold bool) {
	switch {
	case !s.noColor:
		s.ConsoleWriter.SetColor(text, background, bold)
	case bold:
		s.WriteRawStr("\x1b[0;7m")
	default:
		s.WriteRawStr("\x1b[0m")
	}
}

// WriteStr writes text.
func (s *screen) WriteStr(text string) {
	if text == tooSmall && s.replacement != nil {
		s.SetColor(prompt.DefaultColor, prompt.DefaultColor, false)
		text = s.replacement()
	}
	s.ConsoleWriter.WriteStr(text)
}

// rewind moves the cursor to the start of a line that occupies the given number of cells, and erases the line.
func (s *screen) rewind(cells, columns int) {
	s.CursorUp(cells / columns)
	s.WriteRawStr("\r")
	s.EraseDown()
	_ = s.Flush()
}

// tail returns the longest end of text that fits into cells. It begins with "…" if the text was truncated.
func tail(text string, cells int) string {
	if runewidth.StringWidth(text) <= cells {
		return text
	}
	return runewidth.TruncateLeft(text, runewidth.StringWidth(text)-cells+1, "…")
}
