// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"io"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/tui/pane"
)

// TestTyped edits a line as in readline.
func TestTyped(t *testing.T) {
	e := newTyped("")
	key := func(kt tea.KeyType) { e.edit(tea.KeyMsg{Type: kt}) }
	e.set("fail link 日本 7")
	key(tea.KeyCtrlW)
	key(tea.KeyBackspace)
	key(tea.KeyBackspace)
	e.edit(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("語")})
	if e.Value() != "fail link 日語" {
		t.Errorf("%q", e.Value())
	}
	key(tea.KeyHome)
	key(tea.KeyDelete)
	key(tea.KeyCtrlRight)
	key(tea.KeyCtrlK)
	if e.Value() != "ail" {
		t.Errorf("%q", e.Value())
	}
	e.set("fail lin")
	key(tea.KeyLeft)
	e.replace(5, "link-")
	if e.Value() != "fail link-n" || e.before() != "fail link-" {
		t.Errorf("%q before %q", e.Value(), e.before())
	}
	e.edit(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{'b'}, Alt: true})
	if e.before() != "fail " {
		t.Errorf("a word back: %q", e.before())
	}
	before := e.Value()
	e.edit(tea.KeyMsg{Type: tea.KeyF1})
	e.edit(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{'x'}, Alt: true})
	if e.Value() != before {
		t.Error("F1 or Alt-x edits")
	}
}

// TestDeleteWordForward checks that Alt-D and Alt-Delete delete to the end of the word from any position.
func TestDeleteWordForward(t *testing.T) {
	for _, text := range []string{"", "a", "ab", "ab ", " ", "ab  cd", "日 本"} {
		for at := range len([]rune(text)) + 1 {
			for _, k := range []tea.KeyMsg{
				{Type: tea.KeyRunes, Runes: []rune{'d'}, Alt: true}, {Type: tea.KeyDelete, Alt: true},
			} {
				e := newTyped(text)
				e.SetCursor(at)
				e.edit(k)
				head, tail := string([]rune(text)[:at]), string([]rune(text)[at:])
				word := strings.TrimLeft(tail, " ")
				want := ""
				if i := strings.IndexByte(word, ' '); i >= 0 {
					want = word[i:]
				}
				if e.Value() != head+want || e.before() != head {
					t.Errorf("%q at %d, %s: %q, the cursor after %q", text, at, k, e.Value(), e.before())
				}
			}
		}
	}
}

// TestAltDeletesInEveryInput checks that no input panics at Alt-D before its last character.
func TestAltDeletesInEveryInput(t *testing.T) {
	d := drive(t, "sim:fattree:2,4")
	d.m.save = func(string) (io.WriteCloser, error) { return nil, io.ErrClosedPipe }
	for _, open := range [][]string{{":"}, {"2", "/"}, {"?", "/"}, {"2", "e"}, {"2", " ", "H"}, {"F", "enter"}, {"L"}} {
		d.press(open...)
		if form := d.m.pages.over != nil && d.m.prompt.typed == nil; !form && d.m.prompt.typed == nil {
			t.Fatalf("%q opens no input:\n%s", open, d.screen())
		}
		d.press("ab", "left")
		for _, k := range []tea.KeyMsg{
			{Type: tea.KeyRunes, Runes: []rune{'d'}, Alt: true}, {Type: tea.KeyDelete, Alt: true},
		} {
			d.send(k)
			d.check()
		}
		d.press("ctrl+c")
	}
}

// TestLettersAtOnce checks that letters in one message are text, even if they are the name of a key.
func TestLettersAtOnce(t *testing.T) {
	for _, text := range []string{"end", "home", "left", "delete", "up"} {
		e := newTyped("x")
		e.edit(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(text)})
		if e.Value() != "x"+text {
			t.Errorf("%q is typed as %q", text, e.Value())
		}
	}
}

// TestLongPaste checks that a paste that does not fit leaves the line unchanged and is reported.
func TestLongPaste(t *testing.T) {
	d := drive(t, "sim:fattree:2,4").press(":", "show ")
	paste := func(n int) {
		d.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(strings.Repeat("x", n)), Paste: true})
	}
	paste(pane.MaxTyped)
	if d.sees("10,000 characters"); d.m.prompt.typed.Value() != "show " {
		t.Errorf("the line has %d characters", len(d.m.prompt.typed.Value()))
	}
	paste(pane.MaxTyped - len("show "))
	if len(d.m.prompt.typed.Value()) != pane.MaxTyped {
		t.Errorf("the line has %d characters", len(d.m.prompt.typed.Value()))
	}
	d.send(tea.KeyMsg{Type: tea.KeySpace, Runes: []rune{' '}})
	if len(d.m.prompt.typed.Value()) != pane.MaxTyped {
		t.Errorf("the line has %d characters", len(d.m.prompt.typed.Value()))
	}
}
