// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"fmt"
	"io"
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"
)

// Style is the escape sequence that begins a style, or "" for none.
type Style string

// Reset ends a style.
const Reset = "\x1b[0m"

// Theme holds the styles and glyphs of the screen. Colour is never the only sign of a state: there is also a word, a
// mark or a border.
type Theme struct {
	Name  string
	Fixed bool // the terminal has no colours
	Glyphs

	ground                    Style // of text without another style
	Dim, Strong               Style
	Good, Warn, Bad, Info     Style
	border, focus             Style // of panes without and with the keyboard
	Title                     Style
	Linked                    Style // added to another style, of a switch with a cable to the selected switch
	Cursor, cursorIdle        Style // the row, in a pane with and without the keyboard
	Key, Hint                 Style // in lists of keys
	Live, Whatif, Staged      Style // badges of states
	Stale, Simulated, Writing Style
	Command                   Style // a command in the log

	Past, Frozen                      Style // badges
	WhatifLine, StagedLine, StaleLine Style // frames of panes that show these states
	PastLine                          Style
}

// Themes lists the names of the themes.
var Themes = []string{"dark", "light", "contrast", "none"}

// NewTheme returns a theme with the colours of a terminal profile and the changes of a skin, which may be nil. The
// profile Ascii and the theme none use only bold and reverse.
func NewTheme(name string, profile termenv.Profile, g Glyphs, skin *Skin) (*Theme, error) {
	fixed := profile == termenv.Ascii
	if fixed {
		name = "none"
	}
	looksOf, ok := themes[name]
	if !ok {
		return nil, fmt.Errorf("unknown theme %q, expected one of %s", name, strings.Join(Themes, ", "))
	}
	looks, t := looksOf(), &Theme{Name: name, Glyphs: g, Fixed: fixed}
	r := lipgloss.NewRenderer(io.Discard)
	r.SetHasDarkBackground(true) // so that it does not ask the terminal
	r.SetColorProfile(profile)
	if name == "none" {
		r.SetColorProfile(termenv.ANSI) // Ascii would drop bold and reverse
	}
	for style, at := range t.styles() {
		look := looks[style]
		look.Underline = look.Underline || style == "linked"
		if skin != nil && name != "none" {
			look = skin.overlay(style, look)
		}
		*at = compiled(look.style(r))
	}
	return t, nil
}

// styles returns the styles by their names in skins.
func (t *Theme) styles() map[string]*Style {
	return map[string]*Style{
		"ground": &t.ground, "dim": &t.Dim, "strong": &t.Strong, "good": &t.Good, "warn": &t.Warn, "bad": &t.Bad,
		"info":   &t.Info,
		"border": &t.border, "focus": &t.focus, "title": &t.Title,
		"linked": &t.Linked, "cursor": &t.Cursor, "cursor-idle": &t.cursorIdle,
		"key": &t.Key, "hint": &t.Hint, "live": &t.Live, "whatif": &t.Whatif, "staged": &t.Staged, "stale": &t.Stale,
		"simulated": &t.Simulated, "writing": &t.Writing, "command": &t.Command, "old": &t.Past, "frozen": &t.Frozen,
		"whatif-line": &t.WhatifLine, "staged-line": &t.StagedLine, "stale-line": &t.StaleLine, "old-line": &t.PastLine,
	}
}

// Look describes a style. A colour is written "#rrggbb/n". The optional n is the colour for terminals with 16 colours.
// The themes do not use bright black, because some colour schemes make it equal to the background.
type Look struct {
	Foreground string `yaml:"fg"`
	Background string `yaml:"bg"`
	Bold       bool   `yaml:"bold"`
	Reverse    bool   `yaml:"reverse"`
	Underline  bool   `yaml:"underline"`
}

func (l Look) style(r *lipgloss.Renderer) lipgloss.Style {
	st := r.NewStyle()
	if l.Foreground != "" {
		st = st.Foreground(colour(l.Foreground))
	}
	if l.Background != "" {
		st = st.Background(colour(l.Background))
	}
	if l.Bold {
		st = st.Bold(true)
	}
	if l.Underline {
		st = st.Underline(true)
	}
	if l.Reverse {
		st = st.Reverse(true)
	}
	return st
}

func colour(text string) lipgloss.CompleteColor {
	rgb, n, _ := strings.Cut(text, "/")
	return lipgloss.CompleteColor{TrueColor: rgb, ANSI256: rgb, ANSI: n}
}

// compiled returns the escape sequence that begins a lipgloss style. [Reset] ends the style.
func compiled(st lipgloss.Style) Style {
	const text = "x"
	begin, _, _ := strings.Cut(st.Render(text), text)
	return Style(begin)
}

const (
	white = "#ffffff/15"
	black = "#000000/0"
)

// themes returns the looks of each theme, by the name of the style. A style without a look is shown as normal text.
var themes = map[string]func() map[string]Look{"dark": dark, "light": light, "contrast": contrast, "none": none}

func of(fg string) Look     { return Look{Foreground: fg} }
func boldOf(fg string) Look { return Look{Foreground: fg, Bold: true} }

// badge returns a function that, for a background colour, returns the look of a badge with text in a given colour.
func badge(fg string) func(bg string) Look {
	return func(bg string) Look { return Look{Foreground: fg, Background: bg, Bold: true} }
}

func dark() map[string]Look {
	const red, amber, blue, grey, accent = "#ff6b6b/1", "#ffb300/3", "#4a90e2/4", "#b0b0b0/7", "#5fafff/6"
	light, onLight := badge(white), badge(black)
	return map[string]Look{
		"dim": of("#8a8a8a"), "hint": of("#9e9e9e"), "strong": {Bold: true}, "title": {Bold: true},
		"good": of("#87d787/2"), "warn": of("#ffd75f/3"), "bad": boldOf(red), "info": of("#7fb8ff/6"),
		"border": of("#5f5f5f"), "focus": of(accent), "key": boldOf(accent), "command": boldOf(accent),
		"cursor": light("#264f78/4"), "cursor-idle": {Foreground: "#d0d0d0", Background: "#303030"},
		"live": light("#2e7d32/2"), "whatif": onLight(amber), "staged": light("#1565c0/4"), "stale": light("#c62828/1"),
		"simulated": light("#5e35b1/5"), "writing": light("#c62828/1"),
		"old": onLight(grey), "frozen": onLight("#80deea/6"), "old-line": of(grey),
		"whatif-line": of(amber), "staged-line": of(blue), "stale-line": of(red),
	}
}

// contrast is a theme with bright letters on black and without dim text.
func contrast() map[string]Look {
	const yellow, red, cyan, green, magenta = "#ffff00/11", "#ff5555/9", "#00ffff/14", "#00ff00/10", "#ff80ff/13"
	on := func(fg string) Look { return Look{Foreground: fg, Background: black, Bold: true} }
	plain, onBright := Look{Foreground: white, Background: black}, badge(black)
	return map[string]Look{
		"ground": plain, "dim": plain, "hint": plain, "strong": on(white), "title": on(white),
		"good": on(green), "warn": on(yellow), "bad": on(red), "info": on(cyan),
		"border": plain, "focus": on(yellow), "key": on(cyan), "command": on(cyan),
		"cursor": onBright(yellow), "cursor-idle": {Foreground: white, Background: "#404040/0", Bold: true},
		"live": onBright(green), "whatif": onBright(yellow), "staged": onBright(cyan), "stale": onBright(red),
		"simulated": onBright(magenta), "writing": onBright(red),
		"old": onBright(white), "frozen": onBright(cyan), "old-line": plain,
		"whatif-line": on(yellow), "staged-line": on(cyan), "stale-line": on(red),
	}
}

func light() map[string]Look {
	const red, brown, blue, accent = "#b00020/1", "#8a5000/5", "#0d47a1/4", "#0060c0/4"
	onDark, onLight := badge(white), badge(black)
	return map[string]Look{
		"dim": of("#6c6c6c"), "hint": of("#5f5f5f"), "strong": {Bold: true}, "title": {Bold: true},
		"good": of("#006400/2"), "warn": of(brown), "bad": boldOf(red), "info": of("#0050a0/4"),
		"border": of("#9e9e9e"), "focus": of(accent), "key": boldOf(accent), "command": boldOf(accent),
		"cursor": onLight("#b3d7ff/6"), "cursor-idle": {Foreground: "#202020", Background: "#e4e4e4"},
		"live": onDark("#1b5e20/2"), "whatif": onLight("#ffb300/3"), "staged": onDark("#0d47a1/4"),
		"stale":     onDark("#b71c1c/1"),
		"simulated": onDark("#4527a0/5"), "writing": onDark("#b71c1c/1"),
		"old": onDark("#5f5f5f/0"), "frozen": onLight("#80deea/6"), "old-line": of("#5f5f5f/0"),
		"whatif-line": of(brown), "staged-line": of(blue), "stale-line": of(red),
	}
}

func none() map[string]Look {
	bold, reverse, both := Look{Bold: true}, Look{Reverse: true}, Look{Bold: true, Reverse: true}
	return map[string]Look{
		"strong": bold, "bad": bold, "focus": bold, "title": bold, "key": bold, "command": bold, "cursor": reverse,
		"live": reverse, "whatif": reverse, "staged": reverse, "stale": both, "simulated": reverse, "writing": both,
		"old": reverse, "frozen": both,
	}
}

// Lip returns a lipgloss style that writes each line in the style st, whatever lipgloss assumes about the terminal.
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
