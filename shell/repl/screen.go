// SPDX-License-Identifier: Apache-2.0

package repl

import (
	"github.com/c-bata/go-prompt"
	"github.com/mattn/go-runewidth"
)

// tooSmall is what go-prompt writes to an erased screen in place of a line that does not fit it.
const tooSmall = "Your console window is too small..."

// screen is the terminal as go-prompt's ConsoleWriter.
type screen struct {
	prompt.ConsoleWriter // the terminal, or nowhere while muted
	terminal             prompt.ConsoleWriter
	noColor              bool
	instead              func() string // what stands for a line that does not fit
}

func newScreen() *screen {
	terminal := prompt.NewStdoutWriter()
	return &screen{ConsoleWriter: terminal, terminal: terminal}
}

// mute drops what is written from now on.
func (s *screen) mute() { s.ConsoleWriter = prompt.NewStdoutWriter() }

func (s *screen) unmute() { s.ConsoleWriter = s.terminal }

// Flush writes what has gathered.
func (s *screen) Flush() error {
	if s.ConsoleWriter != s.terminal {
		return nil
	}
	return s.ConsoleWriter.Flush()
}

// SetTitle leaves the window's title alone, and so does ClearTitle.
func (s *screen) SetTitle(string) {}

// ClearTitle does nothing.
func (s *screen) ClearTitle() {}

// SetColor sets colours; without them, what is bold is shown in reverse.
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
	if text == tooSmall && s.instead != nil {
		s.SetColor(prompt.DefaultColor, prompt.DefaultColor, false)
		text = s.instead()
	}
	s.ConsoleWriter.WriteStr(text)
}

// rewind goes back over a line of so many cells and erases it.
func (s *screen) rewind(cells, columns int) {
	s.CursorUp(cells / columns)
	s.WriteRawStr("\r")
	s.EraseDown()
	_ = s.Flush()
}

// tail returns the end of text that fits into so many cells, "…" before it where some is missing.
func tail(text string, cells int) string {
	if runewidth.StringWidth(text) <= cells {
		return text
	}
	return runewidth.TruncateLeft(text, runewidth.StringWidth(text)-cells+1, "…")
}
