// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"
)

// Style is the escape sequence that begins a manner of writing, "" for none.
type Style string

// Reset ends a style.
const Reset = "\x1b[0m"

// Theme is how everything looks. No style is told apart from another by colour
// alone: there is a word, a mark or a border with each.
type Theme struct {
	Name  string
	Fixed bool // says that the terminal allows no colours
	Glyphs

	ground                    Style // of all that has no other style
	Dim, Strong               Style
	Good, Warn, Bad, Info     Style
	border, focus             Style // of panes without and with the keyboard
	Title                     Style
	Cursor, cursorIdle        Style // the row, in a pane with and without the keyboard
	Key, Hint                 Style // in the lists of keys
	Live, Whatif, Staged      Style // badges of pictures
	Stale, Simulated, Writing Style
	Command                   Style // what was run, in the log

	Old, Frozen                       Style // badges
	WhatifLine, StagedLine, StaleLine Style // frames of panes that show these
	OldLine                           Style
}

// Themes lists the names of the themes.
var Themes = []string{"dark", "light", "contrast", "none"}

// NewTheme makes a theme in the colours of a profile. The profile Ascii and the theme none leave bold and reverse.
func NewTheme(name string, profile termenv.Profile, g Glyphs) (*Theme, error) {
	if profile == termenv.Ascii {
		name = "none"
	}
	p := palette{profile}
	var t *Theme
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
	t.Name, t.Glyphs, t.Fixed = name, g, profile == termenv.Ascii
	return t, nil
}

// palette makes styles in the colours that a terminal has. A colour is written "#rrggbb/n": n is what stands for
// it among 16 colours, "" for none. Bright black is not among them: some schemes make it that of the background.
type palette struct{ termenv.Profile }

func (p palette) style(fg, bg string, attributes ...string) Style {
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
	return Style("\x1b[" + strings.Join(codes, ";") + "m")
}

const (
	bold    = "1"
	reverse = "7"
)

func (p palette) dark() *Theme {
	const white, black = "#ffffff/15", "#000000/0"
	red, amber, blue := "#ff6b6b/1", "#ffb300/3", "#4a90e2/4"
	accent := p.style("#5fafff/6", "", bold)
	badge := func(bg string) Style { return p.style(white, bg, bold) }
	return &Theme{
		Dim: p.style("#8a8a8a/", ""), Hint: p.style("#9e9e9e/", ""), Strong: p.style("", "", bold), Title: p.style("", "", bold),
		Good: p.style("#87d787/2", ""), Warn: p.style("#ffd75f/3", ""), Bad: p.style(red, "", bold), Info: p.style("#7fb8ff/6", ""),
		border: p.style("#5f5f5f/", ""), focus: p.style("#5fafff/6", ""), Key: accent, Command: accent,
		Cursor: badge("#264f78/4"), cursorIdle: p.style("#d0d0d0/", "#303030/"),
		Live: badge("#2e7d32/2"), Whatif: p.style(black, amber, bold), Staged: badge("#1565c0/4"), Stale: badge("#c62828/1"),
		Simulated: badge("#5e35b1/5"), Writing: badge("#c62828/1"),
		Old: p.style(black, "#b0b0b0/7", bold), Frozen: p.style(black, "#80deea/6", bold), OldLine: p.style("#b0b0b0/7", ""),
		WhatifLine: p.style(amber, ""), StagedLine: p.style(blue, ""), StaleLine: p.style(red, ""),
	}
}

// contrast has bright letters on black alone, and nothing dim.
func (p palette) contrast() *Theme {
	const white, black, yellow, red, cyan, green, magenta = "#ffffff/15", "#000000/0", "#ffff00/11", "#ff5555/9", "#00ffff/14", "#00ff00/10", "#ff80ff/13"
	badge := func(bg string) Style { return p.style(black, bg, bold) }
	w := p.style(white, black)
	return &Theme{
		ground: w, Dim: w, Hint: w, Strong: p.style(white, black, bold), Title: p.style(white, black, bold),
		Good: p.style(green, black, bold), Warn: p.style(yellow, black, bold), Bad: p.style(red, black, bold), Info: p.style(cyan, black, bold),
		border: w, focus: p.style(yellow, black, bold), Key: p.style(cyan, black, bold), Command: p.style(cyan, black, bold),
		Cursor: p.style(black, yellow, bold), cursorIdle: p.style(white, "#404040/0", bold),
		Live: badge(green), Whatif: badge(yellow), Staged: badge(cyan), Stale: badge(red), Simulated: badge(magenta), Writing: badge(red),
		Old: badge(white), Frozen: badge(cyan), OldLine: w,
		WhatifLine: p.style(yellow, black, bold), StagedLine: p.style(cyan, black, bold), StaleLine: p.style(red, black, bold),
	}
}

func (p palette) light() *Theme {
	const white, black = "#ffffff/15", "#000000/0"
	red, brown, blue := "#b00020/1", "#8a5000/5", "#0d47a1/4"
	accent := p.style("#0060c0/4", "", bold)
	badge := func(bg string) Style { return p.style(white, bg, bold) }
	return &Theme{
		Dim: p.style("#6c6c6c/", ""), Hint: p.style("#5f5f5f/", ""), Strong: p.style("", "", bold), Title: p.style("", "", bold),
		Good: p.style("#006400/2", ""), Warn: p.style(brown, ""), Bad: p.style(red, "", bold), Info: p.style("#0050a0/4", ""),
		border: p.style("#9e9e9e/", ""), focus: p.style("#0060c0/4", ""), Key: accent, Command: accent,
		Cursor: p.style(black, "#b3d7ff/6", bold), cursorIdle: p.style("#202020/", "#e4e4e4/"),
		Live: badge("#1b5e20/2"), Whatif: p.style(black, "#ffb300/3", bold), Staged: badge("#0d47a1/4"), Stale: badge("#b71c1c/1"),
		Simulated: badge("#4527a0/5"), Writing: badge("#b71c1c/1"),
		Old: p.style(white, "#5f5f5f/0", bold), Frozen: p.style(black, "#80deea/6", bold), OldLine: p.style("#5f5f5f/0", ""),
		WhatifLine: p.style(brown, ""), StagedLine: p.style(blue, ""), StaleLine: p.style(red, ""),
	}
}

func plainTheme() *Theme {
	p := palette{termenv.Ascii}
	b, r := p.style("", "", bold), p.style("", "", reverse)
	return &Theme{
		Strong: b, Bad: b, focus: b, Title: b, Cursor: r, Key: b, Command: b,
		Live: r, Whatif: r, Staged: r, Stale: p.style("", "", bold, reverse), Simulated: r, Writing: p.style("", "", bold, reverse),
		Old: r, Frozen: p.style("", "", bold, reverse),
	}
}

// Lip is a lipgloss style that writes each line in a style of ours, whatever lipgloss takes the terminal for.
func Lip(st Style) lipgloss.Style {
	if st == "" {
		return lipgloss.NewStyle()
	}
	return lipgloss.NewStyle().Transform(func(s string) string {
		lines := strings.Split(s, "\n")
		for i, l := range lines {
			if l != "" {
				lines[i] = string(st) + l + Reset
			}
		}
		return strings.Join(lines, "\n")
	})
}
