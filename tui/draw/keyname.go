// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"strings"
)

// KeyName is a key as the footer and the help page write it.
func (g *Glyphs) KeyName(key string) string {
	switch key {
	case "up":
		return g.Up
	case "down":
		return g.Down
	case "left":
		return g.left
	case "right":
		return g.right
	}
	return PlainKeyName(key)
}

var keyWords = map[string]string{
	" ": "Space", "pgup": "PgUp", "pgdown": "PgDn", "enter": "Enter", "esc": "Esc", "tab": "Tab", "shift+tab": "Shift-Tab",
	"home": "Home", "end": "End", "backspace": "Backspace", "up": "Up", "down": "Down", "left": "Left", "right": "Right", "delete": "Delete",
	"insert": "Insert",
}

// PlainKeyName is a key in words.
func PlainKeyName(key string) string {
	if w, ok := keyWords[key]; ok {
		return w
	}
	if rest, found := strings.CutPrefix(key, "ctrl+"); found {
		return "Ctrl-" + strings.ToUpper(rest)
	}
	if rest, found := strings.CutPrefix(key, "alt+"); found {
		return "Alt-" + rest
	}
	if len(key) > 1 && key[0] == 'f' {
		return strings.ToUpper(key)
	}
	return key
}
