// SPDX-License-Identifier: Apache-2.0

// Package page shows a text over the panes.
package page

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/bubbles/key"
	"github.com/charmbracelet/bubbles/viewport"
	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/tui/draw"
)

// Page is a text, broken into lines for the screen.
type Page struct {
	Title string
	Badge *draw.Badge
	Ready bool           // all text is there
	Read  bool           // the end was on the screen
	Leave func() tea.Cmd // the action of the keys that leave the page

	theme *draw.Theme
	text  []line
	view  viewport.Model
	wide  int
	// The page counts as read if its first lines were on the screen. If it is 0, these are all lines.
	needed int
}

// New returns a page without text.
func New(t *draw.Theme, title string) *Page {
	return &Page{Title: title, theme: t, view: viewport.New(0, 0)}
}

type line struct {
	text string
	st   draw.Style
	hang int // the indentation of continuation lines
	// lay returns lines for a part of the screen. It is nil if the line is text.
	lay  func(body draw.Rect) []string
	rest bool // the lines from here on need not be read
}

// Rest marks the end of the lines that have to be on the screen before the page counts as read.
func (p *Page) Rest() { p.text, p.wide = append(p.text, line{rest: true}), 0 }

// Lay adds lines that are laid out again for each size of the screen.
func (p *Page) Lay(lay func(body draw.Rect) []string) {
	p.text, p.wide = append(p.text, line{lay: lay}), 0
}

// Addf adds a formatted line.
func (p *Page) Addf(st draw.Style, format string, args ...any) {
	p.Add(st, fmt.Sprintf(format, args...))
}

// Add adds a line. If the line is broken, the further lines are aligned with the text after the label.
func (p *Page) Add(st draw.Style, text string) {
	hang := 0
	if i := strings.Index(text, "  "); i > 0 && i < 18 {
		for hang = i; hang < len(text) && text[hang] == ' '; {
			hang++
		}
	} else if strings.HasPrefix(text, "  ") && len(text) > 17 {
		hang = 17
	}
	p.text, p.wide = append(p.text, line{text: text, st: st, hang: hang}), 0
}

// Drop removes the last line.
func (p *Page) Drop() { p.text, p.wide = p.text[:len(p.text)-1], 0 }

// Clear removes all lines.
func (p *Page) Clear() { p.text, p.wide = p.text[:0], 0 }

// Fit breaks the text into lines for a part of the screen.
func (p *Page) Fit(body draw.Rect) {
	if h := max(body.H-2, 0); h != p.view.Height {
		p.view.Height, p.wide = h, 0
	}
	if w := max(body.W-5, 1); w != p.wide {
		p.wide, p.view.Width = w, max(w, 20)
		var lines []string
		p.needed = 0
		for _, l := range p.text {
			switch {
			case l.rest:
				p.needed = len(lines)
			case l.lay != nil:
				lines = append(lines, l.lay(draw.Rect{W: p.view.Width, H: p.view.Height})...)
			default:
				lines = append(lines, l.broken(p.view.Width, p.theme.ASCII)...)
			}
		}
		p.view.SetContent(strings.Join(lines, "\n"))
	}
	p.scroll(0)
}

func (p *Page) scroll(by int) {
	p.view.SetYOffset(p.view.YOffset + by)
	seen := p.view.AtBottom() || p.needed > 0 && p.view.YOffset+p.view.Height >= p.needed
	p.Read = p.Read || p.Ready && seen
}

// broken returns the line split into lines of at most w cells, at blanks if possible.
func (l line) broken(w int, ascii bool) []string {
	text, end := draw.Clean(l.text, ascii), ""
	if l.st != "" {
		end = draw.Reset
	}
	if draw.Width(text) <= w {
		return []string{string(l.st) + text + end}
	}
	hang := l.hang
	if hang == 0 {
		hang = len(text) - len(strings.TrimLeft(text, " "))
	}
	if hang > w/2 || hang > len(text) {
		hang = 2
	}
	var out []string
	head := text[:hang]
	for i, part := range draw.Wrap(text[hang:], w-hang) {
		if i > 0 {
			head = draw.Spaces(hang)
		}
		out = append(out, string(l.st)+head+part+end)
	}
	return out
}

// The keys of a page.
var (
	up       = key.NewBinding(key.WithKeys("up", "k"))
	down     = key.NewBinding(key.WithKeys("down", "j"))
	pageUp   = key.NewBinding(key.WithKeys("pgup", "ctrl+b"))
	pageDown = key.NewBinding(key.WithKeys("pgdown", "ctrl+f", " "))
	halfUp   = key.NewBinding(key.WithKeys("ctrl+u"))
	halfDown = key.NewBinding(key.WithKeys("ctrl+d"))
	first    = key.NewBinding(key.WithKeys("home", "g"))
	last     = key.NewBinding(key.WithKeys("end", "G"))
	leave    = key.NewBinding(key.WithKeys("esc", "q", "enter", "i", "C"))
)

// Key handles the keys that scroll or leave the page. Scrolling by a page keeps one line of the previous page visible.
func (p *Page) Key(k tea.KeyMsg) tea.Cmd {
	switch all := p.view.TotalLineCount(); {
	case key.Matches(k, up):
		p.scroll(-1)
	case key.Matches(k, down):
		p.scroll(1)
	case key.Matches(k, pageUp):
		p.scroll(-max(p.view.Height-1, 1))
	case key.Matches(k, pageDown):
		p.scroll(max(p.view.Height-1, 1))
	case key.Matches(k, halfUp):
		p.scroll(-max(p.view.Height/2, 1))
	case key.Matches(k, halfDown):
		p.scroll(max(p.view.Height/2, 1))
	case key.Matches(k, first):
		p.scroll(-all)
	case key.Matches(k, last):
		p.scroll(all)
	case key.Matches(k, leave):
		return p.Leave()
	}
	return nil
}

// Wheel scrolls the text.
func (p *Page) Wheel(by int) tea.Cmd {
	p.scroll(by)
	return nil
}

// Click does nothing.
func (p *Page) Click(int) tea.Cmd { return nil }

// Close does nothing.
func (p *Page) Close() {}

// More reports whether the page continues below the visible lines.
func (p *Page) More() bool { return !p.view.AtBottom() }

// Scrolls reports whether the page is longer than the window.
func (p *Page) Scrolls() bool { return p.view.TotalLineCount() > p.view.Height }

// Frame draws the page.
func (p *Page) Frame(body draw.Rect) []string {
	p.Fit(body)
	all := p.view.TotalLineCount()
	figure := ""
	if p.Scrolls() {
		figure = draw.Done(min(p.view.YOffset+p.view.Height, all), all)
	}
	lines := strings.Split(p.view.View(), "\n")
	return p.theme.Frame(body, &draw.Framed{
		Tabs:  func(pen *draw.Pen) { pen.Put(pen.Key, p.Title) },
		Badge: p.Badge, Focused: true, Figure: figure,
		Win: &draw.Window{N: all, Height: p.view.Height, Top: p.view.YOffset, Cursor: -1},
		Draw: func(pen *draw.Pen, row int) {
			if row -= p.view.YOffset; row < len(lines) {
				pen.Styled(strings.TrimRight(lines[row], " "))
			}
		},
	})
}
