// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/bubbles/cursor"
	"github.com/charmbracelet/bubbles/key"
	"github.com/charmbracelet/bubbles/textinput"
	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

// typed is a line that the user edits below the panes, with the function that handles its keys.
type typed struct {
	textinput.Model
	label string
	key   func(k tea.KeyMsg) tea.Cmd
	hints []hint
	note  bool   // the status text is shown after it
	near  string // a similar name, "" for none
}

func newTyped(text string) *typed {
	t := &typed{Model: textinput.New()}
	t.KeyMap.Paste.SetEnabled(false) // only pastes of the terminal, which are cleaned
	t.Cursor.SetMode(cursor.CursorStatic)
	t.Focus()
	t.SetValue(text)
	return t
}

// set replaces the text and puts the cursor at its end.
func (t *typed) set(s string) {
	t.SetValue(s)
	t.CursorEnd()
}

func (t *typed) before() string { return string([]rune(t.Value())[:t.Position()]) }

// replace replaces the text between a byte offset and the cursor.
func (t *typed) replace(start int, s string) {
	head, rest := t.before()[:start]+s, t.Value()[len(t.before()):]
	t.SetValue(head + rest)
	t.SetCursor(len([]rune(head)))
}

// edit passes a key to the line. If the text of the key does not fit, none of it is added.
func (in *prompt) edit(k tea.KeyMsg) {
	switch {
	case !in.typed.edit(k):
		in.m.warn(pane.TooLong)
	case in.m.status.bad:
		in.m.inform("")
	}
}

// edit passes a key to the line. It returns false, and adds nothing, if the line has no space for the text of the key.
func (t *typed) edit(k tea.KeyMsg) bool {
	switch {
	case (k.Type == tea.KeyRunes || k.Type == tea.KeySpace) && !k.Alt:
		if len(k.Runes) <= pane.MaxTyped { // before it costs time to clean them
			k.Runes = printable(string(k.Runes))
		}
		if utf8.RuneCountInString(t.Value())+len(k.Runes) > pane.MaxTyped {
			return false
		}
		k.Type, k.Paste = tea.KeyRunes, true // key.Matches takes the letters "end", which came at once, for the key End
	case key.Matches(k, deleteWordForward):
		t.deleteWordForward()
		return true
	case k.Alt && !key.Matches(k, t.KeyMap.WordBackward, t.KeyMap.WordForward, t.KeyMap.DeleteWordBackward):
		return true // textinput would type the letter
	}
	t.Model, _ = t.Model.Update(k)
	return true
}

var deleteWordForward = textinput.DefaultKeyMap.DeleteWordForward

// deleteWordForward deletes the text up to the end of the next word, as WordForward of textinput defines it.
// DeleteWordForward of textinput (bubbles v1.0.0) panics if the cursor is on the last character.
func (t *typed) deleteWordForward() {
	head := t.before()
	t.Model, _ = t.Model.Update(tea.KeyMsg{Type: tea.KeyRight, Alt: true})
	rest := t.Value()[len(t.before()):]
	t.SetValue(head + rest)
	t.SetCursor(len([]rune(head)))
}

// printable returns the printable characters of a text. The lines of a paste become statements on one line. Only the
// Enter key runs them.
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

// draw writes the line in the remaining cells, with the cursor as a block, and scrolls it so that the cursor is
// visible. The view of textinput neither cleans text nor marks where text is cut.
func (t *typed) draw(p *draw.Pen) {
	head := draw.Clean(t.before(), p.ASCII)
	tail := draw.Clean(t.Value()[len(t.before()):], p.ASCII)
	fit := p.Left - 2
	if w := draw.Width(head); w > fit {
		p.Put(p.Dim, p.Ellipsis)
		head = draw.Skip(head, w-fit+1)
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
