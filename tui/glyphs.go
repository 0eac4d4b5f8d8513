// SPDX-License-Identifier: Apache-2.0

package tui

import "strings"

// box is the lines of a frame: corners from the top left clockwise, horizontal,
// vertical.
type box struct{ tl, tr, br, bl, h, v string }

// glyphs are the marks that a terminal can show, a cell each.
type glyphs struct {
	ascii bool
	// frame is for panes, focused for the one that has the keyboard.
	frame, focused        box
	thumb                 string // of the scroll bar
	cursor, idle          string // mark the selected row, with and without the keyboard
	open, shut            string // a branch of the tree
	failed, changed       string
	onPath                string
	arrow, line, ellipsis string
	dot                   string // between words
	prompt                string
	up, down, left, right string // keys
	full, empty           string // of a progress bar
	spin                  []string
}

var rounded = box{"╭", "╮", "╯", "╰", "─", "│"}

func unicodeGlyphs() glyphs {
	return glyphs{
		frame: rounded, focused: box{"┏", "┓", "┛", "┗", "━", "┃"},
		thumb: "█", cursor: "▌", idle: "›", open: "▾", shut: "▸", failed: "✕", changed: "≠", onPath: "•",
		arrow: "→", line: "─", ellipsis: "…", dot: "·", prompt: "›", up: "↑", down: "↓", left: "←", right: "→",
		full: "█", empty: "░", spin: strings.Split("⠋ ⠙ ⠹ ⠸ ⠼ ⠴ ⠦ ⠧ ⠇ ⠏", " "),
	}
}

// consoleGlyphs are those that the Linux console has in its fonts.
func consoleGlyphs() glyphs {
	g := unicodeGlyphs()
	g.frame = box{"┌", "┐", "┘", "└", "─", "│"}
	g.focused = box{"╔", "╗", "╝", "╚", "═", "║"}
	g.thumb, g.cursor, g.idle, g.open, g.shut, g.failed, g.changed = "█", "█", "»", "▼", "►", "x", "*"
	g.onPath, g.ellipsis, g.prompt, g.spin = "•", "~", "»", strings.Split(`| / - \`, " ")
	return g
}

func asciiGlyphs() glyphs {
	return glyphs{
		ascii: true, frame: box{"+", "+", "+", "+", "-", "|"}, focused: box{"#", "#", "#", "#", "=", "#"},
		thumb: "H", cursor: ">", idle: ".", open: "-", shut: "+", failed: "x", changed: "*", onPath: "o",
		arrow: ">", line: "-", ellipsis: "~", dot: "-", prompt: ">", up: "Up", down: "Down", left: "Left", right: "Right",
		full: "#", empty: ".", spin: strings.Split(`| / - \`, " "),
	}
}
