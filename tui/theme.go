// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"fmt"
	"strings"

	"github.com/muesli/termenv"
)

// style is the escape sequence that begins a manner of writing, "" for none.
type style string

const reset = "\x1b[0m"

// theme is how everything looks. No style is told apart from another by colour
// alone: there is a word, a mark or a border with each.
type theme struct {
	name string
	glyphs

	dim, strong               style
	good, warn, bad, info     style
	border, focus             style // of panes without and with the keyboard
	title                     style
	cursor, cursorIdle        style // the row, in a pane with and without the keyboard
	key, hint                 style // in the lists of keys
	live, whatif, staged      style // badges of pictures
	stale, simulated, writing style
	command                   style // what was run, in the log

	whatifLine, stagedLine, staleLine style // frames of panes that show these
}

// Themes lists the names of the themes.
var Themes = []string{"dark", "light", "none"}

// newTheme makes a theme in the colours of a profile. The profile Ascii, and the
// theme none, leave bold and reverse.
func newTheme(name string, profile termenv.Profile, g glyphs) (*theme, error) {
	if profile == termenv.Ascii {
		name = "none"
	}
	p := palette{profile}
	var t *theme
	switch name {
	case "dark":
		t = p.dark()
	case "light":
		t = p.light()
	case "none":
		t = plainTheme()
	default:
		return nil, fmt.Errorf("no theme is called %q, expected one of %s", name, strings.Join(Themes, ", "))
	}
	t.name, t.glyphs = name, g
	return t, nil
}

// palette makes styles in the colours that a terminal has.
type palette struct{ termenv.Profile }

func (p palette) style(fg, bg string, attributes ...string) style {
	codes := attributes
	if fg != "" {
		codes = append(codes, p.Color(fg).Sequence(false))
	}
	if bg != "" {
		codes = append(codes, p.Color(bg).Sequence(true))
	}
	if len(codes) == 0 {
		return ""
	}
	return style("\x1b[" + strings.Join(codes, ";") + "m")
}

const (
	bold    = "1"
	faint   = "2"
	reverse = "7"
)

func (p palette) dark() *theme {
	return &theme{
		dim: p.style("#8a8a8a", ""), strong: p.style("", "", bold),
		good: p.style("#87d787", ""), warn: p.style("#ffd75f", ""), bad: p.style("#ff6b6b", "", bold), info: p.style("#7fb8ff", ""),
		border: p.style("#5f5f5f", ""), focus: p.style("#5fafff", ""), title: p.style("", "", bold),
		cursor: p.style("#ffffff", "#264f78", bold), cursorIdle: p.style("#d0d0d0", "#303030"),
		key: p.style("#5fafff", "", bold), hint: p.style("#9e9e9e", ""),
		live: p.style("#ffffff", "#2e7d32", bold), whatif: p.style("#000000", "#ffb300", bold), staged: p.style("#ffffff", "#1565c0", bold),
		stale: p.style("#ffffff", "#c62828", bold), simulated: p.style("#ffffff", "#5e35b1"), writing: p.style("#ffffff", "#c62828", bold),
		command:    p.style("#7fb8ff", "", bold),
		whatifLine: p.style("#ffb300", ""), stagedLine: p.style("#4a90e2", ""), staleLine: p.style("#ff6b6b", ""),
	}
}

func (p palette) light() *theme {
	return &theme{
		dim: p.style("#6c6c6c", ""), strong: p.style("", "", bold),
		good: p.style("#006400", ""), warn: p.style("#8a5000", ""), bad: p.style("#b00020", "", bold), info: p.style("#0050a0", ""),
		border: p.style("#9e9e9e", ""), focus: p.style("#0060c0", ""), title: p.style("", "", bold),
		cursor: p.style("#000000", "#b3d7ff", bold), cursorIdle: p.style("#202020", "#e4e4e4"),
		key: p.style("#0060c0", "", bold), hint: p.style("#5f5f5f", ""),
		live: p.style("#ffffff", "#1b5e20", bold), whatif: p.style("#000000", "#ffb300", bold), staged: p.style("#ffffff", "#0d47a1", bold),
		stale: p.style("#ffffff", "#b71c1c", bold), simulated: p.style("#ffffff", "#4527a0"), writing: p.style("#ffffff", "#b71c1c", bold),
		command:    p.style("#0050a0", "", bold),
		whatifLine: p.style("#8a5000", ""), stagedLine: p.style("#0d47a1", ""), staleLine: p.style("#b00020", ""),
	}
}

func plainTheme() *theme {
	p := palette{termenv.Ascii}
	b, r := p.style("", "", bold), p.style("", "", reverse)
	return &theme{
		strong: b, bad: b, focus: b, title: b, cursor: r, key: b, command: b,
		live: r, whatif: r, staged: r, stale: p.style("", "", bold, reverse), simulated: r, writing: p.style("", "", bold, reverse),
	}
}
