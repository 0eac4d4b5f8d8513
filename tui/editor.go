// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"strings"
	"unicode"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/tui/draw"
)

// editor is one line of text that is being typed.
type editor struct {
	text []rune
	at   int // the cursor, before text[at]
}

func (e *editor) String() string { return string(e.text) }

// set replaces the text; the cursor goes to its end.
func (e *editor) set(s string) {
	e.text = []rune(s)
	e.at = len(e.text)
}

// before is the text before the cursor.
func (e *editor) before() string { return string(e.text[:e.at]) }

// replace puts s in place of the text between the byte offset start and the cursor.
func (e *editor) replace(start int, s string) {
	head := []rune(e.before()[:start])
	rest := e.text[e.at:]
	e.text = append(append(append([]rune{}, head...), []rune(s)...), rest...)
	e.at = len(e.text) - len(rest)
}

// key edits the line; it reports false for a key that is not for it.
func (e *editor) key(k tea.KeyMsg) bool {
	switch k.Type {
	case tea.KeyRunes, tea.KeySpace:
		if k.Alt && len(k.Runes) == 1 {
			return e.alt(k.Runes[0])
		}
		e.insert(typed(k))
	case tea.KeyLeft, tea.KeyCtrlB:
		e.at = max(e.at-1, 0)
	case tea.KeyRight, tea.KeyCtrlF:
		e.at = min(e.at+1, len(e.text))
	case tea.KeyCtrlLeft:
		e.at = e.wordLeft()
	case tea.KeyCtrlRight:
		e.at = e.wordRight()
	case tea.KeyHome, tea.KeyCtrlA:
		e.at = 0
	case tea.KeyEnd, tea.KeyCtrlE:
		e.at = len(e.text)
	case tea.KeyBackspace, tea.KeyCtrlH:
		e.remove(e.at-1, e.at)
	case tea.KeyDelete, tea.KeyCtrlD:
		e.remove(e.at, e.at+1)
	case tea.KeyCtrlW:
		e.remove(e.wordLeft(), e.at)
	case tea.KeyCtrlU:
		e.remove(0, e.at)
	case tea.KeyCtrlK:
		e.remove(e.at, len(e.text))
	default:
		return false
	}
	return true
}

func (e *editor) alt(r rune) bool {
	switch r {
	case 'b':
		e.at = e.wordLeft()
	case 'f':
		e.at = e.wordRight()
	case 'd':
		e.remove(e.at, e.wordRight())
	default:
		return false
	}
	return true
}

func (e *editor) insert(r []rune) {
	e.text = append(append(append([]rune{}, e.text[:e.at]...), r...), e.text[e.at:]...)
	e.at += len(r)
}

func (e *editor) remove(from, to int) {
	from, to = max(from, 0), min(to, len(e.text))
	if from < to {
		e.text = append(append([]rune{}, e.text[:from]...), e.text[to:]...)
		e.at = from
	}
}

func (e *editor) wordLeft() int {
	i := e.at
	for i > 0 && unicode.IsSpace(e.text[i-1]) {
		i--
	}
	for i > 0 && !unicode.IsSpace(e.text[i-1]) {
		i--
	}
	return i
}

func (e *editor) wordRight() int {
	i := e.at
	for i < len(e.text) && unicode.IsSpace(e.text[i]) {
		i++
	}
	for i < len(e.text) && !unicode.IsSpace(e.text[i]) {
		i++
	}
	return i
}

// typed is the text of a key. Lines of a paste become statements of one line,
// which only Enter runs.
func typed(k tea.KeyMsg) []rune {
	if k.Type == tea.KeySpace {
		return []rune{' '}
	}
	s := strings.NewReplacer("\r\n", "\n", "\r", "\n", "\t", " ").Replace(string(k.Runes))
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

// draw writes the line in all cells that are left, the cursor as a block. It
// shows the part around the cursor.
func (e *editor) Draw(p *draw.Pen) {
	head, tail := draw.Clean(e.before(), p.Ascii), draw.Clean(string(e.text[e.at:]), p.Ascii)
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
