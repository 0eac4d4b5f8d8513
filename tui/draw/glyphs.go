// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"slices"
	"strings"

	"github.com/charmbracelet/lipgloss"
)

// Glyphs are the symbols that a terminal can show. Each takes one cell.
type Glyphs struct {
	ASCII                 bool
	Borders               [4][2]lipgloss.Border // by state, without and with the keyboard
	sortUp, sortDown      string                // after the head of a column
	Mark                  string                // of a marked row
	Dateline              string                // of a link from the last switch of a ring to the first
	Box                   []string              // lines by their directions: BoxUp, BoxDown, BoxLeft, BoxRight
	Shades, sparks        []string              // from empty to full
	tick, warn, note      string                // of good results, warnings and notes
	thumb                 string                // of the scroll bar
	Cursor, idle          string                // of the selected row, with and without the keyboard
	Open, Shut            string                // a branch of the tree
	Failed, Changed       string
	OnPath, Rung          string // the ends of a path, and the nodes between them
	Arrow, Line, Ellipsis string
	dot                   string // between words
	Prompt                string
	arrows                       // names of keys
	Full, Empty           string // of a progress bar
	Spin                  []string
}

// arrows are the names of the keys that move the cursor.
type arrows struct{ Up, Down, left, right string }

// The directions of lines, which are added to an index of Box.
const (
	BoxUp = 1 << iota
	BoxDown
	BoxLeft
	BoxRight
)

// The kinds of frames, one for each kind of state that a pane shows.
const (
	FrameLive = iota
	FrameWhatIf
	FrameStaged
	FramePast
)

// edges returns a border with other lines.
func edges(b lipgloss.Border, horizontal, vertical string) lipgloss.Border {
	b.Top, b.Bottom, b.Left, b.Right = horizontal, horizontal, vertical, vertical
	return b
}

// corners returns a border with the same glyph at each corner.
func corners(glyph, horizontal, vertical string) lipgloss.Border {
	return edges(lipgloss.Border{TopLeft: glyph, TopRight: glyph, BottomLeft: glyph, BottomRight: glyph}, horizontal,
		vertical)
}

func unicodeGlyphs() Glyphs {
	return Glyphs{
		Borders: [4][2]lipgloss.Border{
			FrameLive:   {lipgloss.RoundedBorder(), lipgloss.ThickBorder()},
			FrameWhatIf: {edges(lipgloss.RoundedBorder(), "┄", "┆"), edges(lipgloss.ThickBorder(), "┅", "┇")},
			FrameStaged: {edges(lipgloss.Border{TopLeft: "╒", TopRight: "╕", BottomLeft: "╘", BottomRight: "╛"}, "═",
				"│"),
				lipgloss.DoubleBorder()},
			FramePast: {corners("·", "┈", "┊"), corners("•", "┉", "┋")},
		},
		sortUp: "▴", sortDown: "▾", Mark: "◆", Dateline: "╎", Box: strings.Split(" │││─┘┐┤─└┌├─┴┬┼", ""),
		Shades: []string{"·", "░", "▒", "▓", "█"},
		sparks: strings.Split("▁ ▂ ▃ ▄ ▅ ▆ ▇ █", " "), tick: "✓", warn: "!", note: "·",
		thumb: "█", Cursor: "▌", idle: "›", Open: "▾", Shut: "▸", Failed: "✕", Changed: "≠", OnPath: "●", Rung: "├",
		Arrow: "→", Line: "─", Ellipsis: "…", dot: "·", Prompt: "›", arrows: arrows{"↑", "↓", "←", "→"},
		Full: "█", Empty: "░", Spin: strings.Split("⠋ ⠙ ⠹ ⠸ ⠼ ⠴ ⠦ ⠧ ⠇ ⠏", " "),
	}
}

// consoleGlyphs returns glyphs that the fonts of the Linux console contain.
func consoleGlyphs() Glyphs {
	g := unicodeGlyphs()
	g.Borders = [4][2]lipgloss.Border{
		FrameLive:   {lipgloss.NormalBorder(), lipgloss.DoubleBorder()},
		FrameWhatIf: {corners("+", "-", ":"), corners("#", "-", ":")},
		FrameStaged: {edges(lipgloss.NormalBorder(), "≡", "│"), edges(lipgloss.DoubleBorder(), "≡", "║")},
		FramePast:   {corners(".", ".", ":"), corners("#", ".", ":")},
	}
	g.sortUp, g.sortDown, g.Mark, g.tick, g.Dateline = "↑", "↓", "*", "√", ":"
	g.sparks = strings.Split("_ ░ ▒ ▓ █", " ")
	g.thumb, g.Cursor, g.idle, g.Open, g.Shut, g.Failed, g.Changed = "█", "█", "»", "▼", "►", "x", "*"
	g.OnPath, g.Ellipsis, g.Prompt, g.Spin = "•", "~", "»", strings.Split(`| / - \`, " ")
	return g
}

func asciiGlyphs() Glyphs {
	return Glyphs{
		ASCII: true,
		Borders: [4][2]lipgloss.Border{
			FrameLive:   {lipgloss.ASCIIBorder(), corners("#", "-", "#")},
			FrameWhatIf: {corners("+", "~", ":"), corners("#", "~", "#")},
			FrameStaged: {corners("+", "=", "|"), corners("#", "=", "#")},
			FramePast:   {corners("+", ".", ":"), corners("#", ".", "#")},
		},
		sortUp: "^", sortDown: "v", Mark: "*", Dateline: ":", Box: strings.Split(" |||-+++-+++-+++", ""),
		Shades: []string{".", ":", "+", "%", "@"},
		sparks: strings.Split("_ . : = #", " "), tick: "ok", warn: "!", note: ".",
		thumb: "H", Cursor: ">", idle: ".", Open: "-", Shut: "+", Failed: "x", Changed: "*", OnPath: "o", Rung: "|",
		Arrow: ">", Line: "-", Ellipsis: "~", dot: "-", Prompt: ">", arrows: arrows{"Up", "Down", "Left", "Right"},
		Full: "#", Empty: ".", Spin: strings.Split(`| / - \`, " "),
	}
}

// KeyName returns the name of a key in the form used in the footer and on the help page.
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
	" ": "Space", "pgup": "PgUp", "pgdown": "PgDn", "enter": "Enter", "esc": "Esc", "tab": "Tab",
	"shift+tab": "Shift-Tab",
	"home":      "Home", "end": "End", "backspace": "Backspace", "up": "Up", "down": "Down", "left": "Left",
	"right": "Right", "delete": "Delete",
	"insert": "Insert", "ctrl+@": "Ctrl-Space",
}

// PlainKeyName returns the name of a key in ASCII.
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

// Bar returns a bar for n. A bar for the maximum (argument most) is w cells long.
func (g *Glyphs) Bar(n, most, w int) string {
	if most <= 0 || n <= 0 {
		return ""
	}
	return strings.Repeat(g.Full, max((n*w+most/2)/most, 1))
}

// Spark draws a list of numbers as a small bar chart of up to w cells. If there are more numbers than cells, each cell
// shows the largest of several numbers. A full cell means the argument most.
func (g *Glyphs) Spark(list []int64, most int64, w int) string {
	var b strings.Builder
	w = min(w, len(list))
	for i := range w {
		x := slices.Max(list[i*len(list)/w : (i+1)*len(list)/w])
		b.WriteString(g.sparks[int(x*int64(len(g.sparks)-1)/most)])
	}
	return b.String()
}
