// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"strings"
	"unicode"

	"github.com/charmbracelet/bubbles/cursor"
	"github.com/charmbracelet/bubbles/key"
	"github.com/charmbracelet/bubbles/textinput"
	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/tui/draw"
)

// typed is a line that is typed below the panes, and where its keys go.
type typed struct {
	textinput.Model
	label func() string
	key   func(k tea.KeyMsg) tea.Cmd
	hints []hint
	note  bool   // that what is said of it stands behind it
	near  string // a name that may be meant, "" for none
}

func newTyped(text string) *typed {
	t := &typed{Model: textinput.New()}
	t.KeyMap.Paste.SetEnabled(false) // that of the terminal is cleaned
	t.Cursor.SetMode(cursor.CursorStatic)
	t.Focus()
	t.SetValue(text)
	return t
}

// set replaces the text; the cursor goes to its end.
func (t *typed) set(s string) {
	t.SetValue(s)
	t.CursorEnd()
}

func (t *typed) before() string { return string([]rune(t.Value())[:t.Position()]) }

// replace puts s in place of the text between the byte offset start and the cursor.
func (t *typed) replace(start int, s string) {
	head, rest := t.before()[:start]+s, t.Value()[len(t.before()):]
	t.SetValue(head + rest)
	t.SetCursor(len([]rune(head)))
}

func (t *typed) edit(k tea.KeyMsg) {
	switch {
	case k.Type == tea.KeyRunes && !k.Alt:
		k.Runes = printable(string(k.Runes))
	case k.Alt && !key.Matches(k, t.KeyMap.WordBackward, t.KeyMap.WordForward, t.KeyMap.DeleteWordForward, t.KeyMap.DeleteWordBackward):
		return // textinput would type the letter
	}
	t.Model, _ = t.Model.Update(k)
}

// printable is what a terminal sent as text. Lines of a paste become statements of one line, run only by Enter.
func printable(s string) []rune {
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\t", " ").Replace(s)
	s = strings.Trim(s, "\n")
	for strings.Contains(s, "\n\n") {
		s = strings.ReplaceAll(s, "\n\n", "\n")
	}
	s = strings.ReplaceAll(s, "\n", "; ")
	return []rune(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, s))
}

// draw writes the line in all cells that are left, the cursor as a block. It shows the part
// around the cursor. That of textinput cleans nothing and does not say that it was cut.
func (t *typed) draw(p *draw.Pen) {
	head := draw.Clean(t.before(), p.ASCII)
	tail := draw.Clean(t.Value()[len(t.before()):], p.ASCII)
	room := p.Left - 2
	if w := draw.Width(head); w > room {
		p.Put(p.Dim, p.Ellipsis)
		head = draw.Skip(head, w-room+1)
	}
	p.Put("", head)
	under, rest := " ", ""
	for i, r := range tail {
		if i > 0 && draw.Cells.RuneWidth(r) > 0 {
			under, rest = tail[:i], tail[i:]
			break
		}
		under = tail
	}
	p.Put("\x1b[7m", under)
	p.Put("", rest)
}
