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
	// fixed says that the terminal allows no colours.
	fixed bool
	glyphs

	ground                    style // of all that has no other style
	dim, strong               style
	good, warn, bad, info     style
	border, focus             style // of panes without and with the keyboard
	title                     style
	cursor, cursorIdle        style // the row, in a pane with and without the keyboard
	key, hint                 style // in the lists of keys
	live, whatif, staged      style // badges of pictures
	stale, simulated, writing style
	command                   style // what was run, in the log

	old, frozen                       style // badges
	whatifLine, stagedLine, staleLine style // frames of panes that show these
	oldLine                           style
}

// Themes lists the names of the themes.
var Themes = []string{"dark", "light", "contrast", "none"}

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
	case "contrast":
		t = p.contrast()
	case "none":
		t = plainTheme()
	default:
		return nil, fmt.Errorf("no theme is called %q, expected one of %s", name, strings.Join(Themes, ", "))
	}
	t.name, t.glyphs, t.fixed = name, g, profile == termenv.Ascii
	return t, nil
}

// palette makes styles in the colours that a terminal has. A colour is written
// "#rrggbb/n": n is what stands for it among 16 colours, "" for none. Bright
// black is not among them: some schemes make it that of the background.
type palette struct{ termenv.Profile }

func (p palette) style(fg, bg string, attributes ...string) style {
	codes := attributes
	for i, colour := range [2]string{fg, bg} {
		rgb, n, _ := strings.Cut(colour, "/")
		if p.Profile == termenv.ANSI {
			rgb = n
		}
		if rgb != "" {
			codes = append(codes, p.Color(rgb).Sequence(i == 1))
		}
	}
	if len(codes) == 0 {
		return ""
	}
	return style("\x1b[" + strings.Join(codes, ";") + "m")
}

const (
	bold    = "1"
	reverse = "7"
)

func (p palette) dark() *theme {
	const white, black = "#ffffff/15", "#000000/0"
	red, amber, blue := "#ff6b6b/1", "#ffb300/3", "#4a90e2/4"
	accent := p.style("#5fafff/6", "", bold)
	badge := func(bg string) style { return p.style(white, bg, bold) }
	return &theme{
		dim: p.style("#8a8a8a/", ""), hint: p.style("#9e9e9e/", ""), strong: p.style("", "", bold), title: p.style("", "", bold),
		good: p.style("#87d787/2", ""), warn: p.style("#ffd75f/3", ""), bad: p.style(red, "", bold), info: p.style("#7fb8ff/6", ""),
		border: p.style("#5f5f5f/", ""), focus: p.style("#5fafff/6", ""), key: accent, command: accent,
		cursor: badge("#264f78/4"), cursorIdle: p.style("#d0d0d0/", "#303030/"),
		live: badge("#2e7d32/2"), whatif: p.style(black, amber, bold), staged: badge("#1565c0/4"), stale: badge("#c62828/1"),
		simulated: badge("#5e35b1/5"), writing: badge("#c62828/1"),
		old: p.style(black, "#b0b0b0/7", bold), frozen: p.style(black, "#80deea/6", bold), oldLine: p.style("#b0b0b0/7", ""),
		whatifLine: p.style(amber, ""), stagedLine: p.style(blue, ""), staleLine: p.style(red, ""),
	}
}

// contrast has bright letters on black alone, and nothing dim.
func (p palette) contrast() *theme {
	const white, black, yellow, red, cyan, green, magenta = "#ffffff/15", "#000000/0", "#ffff00/11", "#ff5555/9", "#00ffff/14", "#00ff00/10", "#ff80ff/13"
	badge := func(bg string) style { return p.style(black, bg, bold) }
	w := p.style(white, black)
	return &theme{
		ground: w, dim: w, hint: w, strong: p.style(white, black, bold), title: p.style(white, black, bold),
		good: p.style(green, black, bold), warn: p.style(yellow, black, bold), bad: p.style(red, black, bold), info: p.style(cyan, black, bold),
		border: w, focus: p.style(yellow, black, bold), key: p.style(cyan, black, bold), command: p.style(cyan, black, bold),
		cursor: p.style(black, yellow, bold), cursorIdle: p.style(white, "#404040/0", bold),
		live: badge(green), whatif: badge(yellow), staged: badge(cyan), stale: badge(red), simulated: badge(magenta), writing: badge(red),
		old: badge(white), frozen: badge(cyan), oldLine: w,
		whatifLine: p.style(yellow, black, bold), stagedLine: p.style(cyan, black, bold), staleLine: p.style(red, black, bold),
	}
}

func (p palette) light() *theme {
	const white, black = "#ffffff/15", "#000000/0"
	red, brown, blue := "#b00020/1", "#8a5000/5", "#0d47a1/4"
	accent := p.style("#0060c0/4", "", bold)
	badge := func(bg string) style { return p.style(white, bg, bold) }
	return &theme{
		dim: p.style("#6c6c6c/", ""), hint: p.style("#5f5f5f/", ""), strong: p.style("", "", bold), title: p.style("", "", bold),
		good: p.style("#006400/2", ""), warn: p.style(brown, ""), bad: p.style(red, "", bold), info: p.style("#0050a0/4", ""),
		border: p.style("#9e9e9e/", ""), focus: p.style("#0060c0/4", ""), key: accent, command: accent,
		cursor: p.style(black, "#b3d7ff/6", bold), cursorIdle: p.style("#202020/", "#e4e4e4/"),
		live: badge("#1b5e20/2"), whatif: p.style(black, "#ffb300/3", bold), staged: badge("#0d47a1/4"), stale: badge("#b71c1c/1"),
		simulated: badge("#4527a0/5"), writing: badge("#b71c1c/1"),
		old: p.style(white, "#5f5f5f/0", bold), frozen: p.style(black, "#80deea/6", bold), oldLine: p.style("#5f5f5f/0", ""),
		whatifLine: p.style(brown, ""), stagedLine: p.style(blue, ""), staleLine: p.style(red, ""),
	}
}

func plainTheme() *theme {
	p := palette{termenv.Ascii}
	b, r := p.style("", "", bold), p.style("", "", reverse)
	return &theme{
		strong: b, bad: b, focus: b, title: b, cursor: r, key: b, command: b,
		live: r, whatif: r, staged: r, stale: p.style("", "", bold, reverse), simulated: r, writing: p.style("", "", bold, reverse),
		old: r, frozen: p.style("", "", bold, reverse),
	}
}
