// SPDX-License-Identifier: Apache-2.0

package tui

import "strings"

// box is the lines of a frame: corners from the top left clockwise, horizontal,
// vertical.
type box struct{ tl, tr, br, bl, h, v string }

// glyphs are the marks that a terminal can show, a cell each.
type glyphs struct {
	ascii bool
	// boxes are the frames of panes by what they show, each without and with the
	// keyboard.
	boxes                 [4][2]box
	sortUp, sortDown      string   // behind the head of a column
	mark                  string   // of a marked row
	shades, sparks        []string // from nothing to all
	tick, warn, note      string   // of good, doubtful and curious things
	thumb                 string   // of the scroll bar
	cursor, idle          string   // mark the selected row, with and without the keyboard
	open, shut            string   // a branch of the tree
	failed, changed       string
	onPath, rung          string // the ends of a path, and what is between
	arrow, line, ellipsis string
	dot                   string // between words
	prompt                string
	up, down, left, right string // keys
	full, empty           string // of a progress bar
	spin                  []string
}

// What a pane shows, told by the lines of its frame.
const (
	frameLive = iota
	frameWhatIf
	frameStaged
	frameOld
)

func (g *glyphs) box(frame int, focused bool) box { return g.boxes[frame][btoi(focused)] }

func unicodeGlyphs() glyphs {
	return glyphs{
		boxes: [4][2]box{
			frameLive:   {{"╭", "╮", "╯", "╰", "─", "│"}, {"┏", "┓", "┛", "┗", "━", "┃"}},
			frameWhatIf: {{"╭", "╮", "╯", "╰", "┄", "┆"}, {"┏", "┓", "┛", "┗", "┅", "┇"}},
			frameStaged: {{"╒", "╕", "╛", "╘", "═", "│"}, {"╔", "╗", "╝", "╚", "═", "║"}},
			frameOld:    {{"·", "·", "·", "·", "┈", "┊"}, {"•", "•", "•", "•", "┉", "┋"}},
		},
		sortUp: "▴", sortDown: "▾", mark: "◆", shades: []string{"·", "░", "▒", "▓", "█"}, sparks: strings.Split("▁ ▂ ▃ ▄ ▅ ▆ ▇ █", " "), tick: "✓", warn: "!", note: "·",
		thumb: "█", cursor: "▌", idle: "›", open: "▾", shut: "▸", failed: "✕", changed: "≠", onPath: "●", rung: "├",
		arrow: "→", line: "─", ellipsis: "…", dot: "·", prompt: "›", up: "↑", down: "↓", left: "←", right: "→",
		full: "█", empty: "░", spin: strings.Split("⠋ ⠙ ⠹ ⠸ ⠼ ⠴ ⠦ ⠧ ⠇ ⠏", " "),
	}
}

// consoleGlyphs are those that the Linux console has in its fonts.
func consoleGlyphs() glyphs {
	g := unicodeGlyphs()
	g.boxes = [4][2]box{
		frameLive:   {{"┌", "┐", "┘", "└", "─", "│"}, {"╔", "╗", "╝", "╚", "═", "║"}},
		frameWhatIf: {{"+", "+", "+", "+", "-", ":"}, {"#", "#", "#", "#", "-", ":"}},
		frameStaged: {{"┌", "┐", "┘", "└", "≡", "│"}, {"╔", "╗", "╝", "╚", "≡", "║"}},
		frameOld:    {{".", ".", ".", ".", ".", ":"}, {"#", "#", "#", "#", ".", ":"}},
	}
	g.sortUp, g.sortDown, g.mark, g.tick = "↑", "↓", "*", "√"
	g.sparks = strings.Split("_ ░ ▒ ▓ █", " ")
	g.thumb, g.cursor, g.idle, g.open, g.shut, g.failed, g.changed = "█", "█", "»", "▼", "►", "x", "*"
	g.onPath, g.ellipsis, g.prompt, g.spin = "•", "~", "»", strings.Split(`| / - \`, " ")
	return g
}

func asciiGlyphs() glyphs {
	return glyphs{
		ascii: true,
		boxes: [4][2]box{
			frameLive:   {{"+", "+", "+", "+", "-", "|"}, {"#", "#", "#", "#", "-", "#"}},
			frameWhatIf: {{"+", "+", "+", "+", "~", ":"}, {"#", "#", "#", "#", "~", "#"}},
			frameStaged: {{"+", "+", "+", "+", "=", "|"}, {"#", "#", "#", "#", "=", "#"}},
			frameOld:    {{"+", "+", "+", "+", ".", ":"}, {"#", "#", "#", "#", ".", "#"}},
		},
		sortUp: "^", sortDown: "v", mark: "*", shades: []string{".", ":", "+", "%", "@"}, sparks: strings.Split("_ . : = #", " "), tick: "ok", warn: "!", note: ".",
		thumb: "H", cursor: ">", idle: ".", open: "-", shut: "+", failed: "x", changed: "*", onPath: "o", rung: "|",
		arrow: ">", line: "-", ellipsis: "~", dot: "-", prompt: ">", up: "Up", down: "Down", left: "Left", right: "Right",
		full: "#", empty: ".", spin: strings.Split(`| / - \`, " "),
	}
}
