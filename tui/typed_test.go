// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"testing"

	tea "github.com/charmbracelet/bubbletea"
)

// TestTyped edits a line as readline does.
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
