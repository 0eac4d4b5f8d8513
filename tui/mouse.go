// SPDX-License-Identifier: Apache-2.0

package tui

import (
	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

// zone is a part of the frame that the user can click.
type zone struct {
	draw.Rect
	click func() tea.Cmd
}

// mouse handles clicks and the wheel.
type mouse struct {
	m     *model
	zones []zone // of the last frame
}

const wheelRows = 3 // rows per notch of the wheel

// event handles a click or the wheel.
func (mo *mouse) event(e tea.MouseMsg) tea.Cmd {
	if e.Action != tea.MouseActionPress {
		return nil
	}
	mo.m.untouched = false
	switch e.Button {
	case tea.MouseButtonWheelUp:
		return mo.wheel(e, -wheelRows)
	case tea.MouseButtonWheelDown:
		return mo.wheel(e, wheelRows)
	case tea.MouseButtonLeft:
		return mo.click(e.X, e.Y)
	}
	return nil
}

func (mo *mouse) wheel(e tea.MouseMsg, by int) tea.Cmd {
	if mo.m.pages.over != nil {
		return mo.m.pages.over.Wheel(by)
	}
	if at, ok := mo.paneAt(e.X, e.Y); ok {
		t := mo.m.all[at.at].Base()
		if pic, ok := mo.m.all[at.at].(pane.Pictured); ok && pic.IsPicture() {
			pic.Walk(0, by/wheelRows)
			mo.m.follow()
			return nil
		}
		t.To(t.Cursor + by)
		mo.m.follow()
	}
	return nil
}

// paneAt returns the pane at a cell. It returns false if no pane accepts the mouse at present.
func (mo *mouse) paneAt(x, y int) (placed, bool) {
	for _, p := range mo.m.panes() {
		if p.Holds(x, y) {
			return p, mo.m.prompt.typed == nil || mo.m.prompt.typed.note
		}
	}
	return placed{}, false
}

func (mo *mouse) click(x, y int) tea.Cmd {
	for _, z := range mo.zones {
		if z.Holds(x, y) {
			return z.click()
		}
	}
	if mo.m.pages.over != nil {
		return mo.m.pages.over.Click(y - mo.m.body().Y - 1)
	}
	if p, ok := mo.paneAt(x, y); ok {
		return mo.clickPane(p, x, y)
	}
	return nil
}

// clickPane gives the keyboard focus to a pane. A click on a row selects the row, and a click on the selected row acts
// as Enter. A click on the head of a column sorts by the column.
func (mo *mouse) clickPane(p placed, x, y int) tea.Cmd {
	had := mo.m.focus == p.at
	if !had {
		mo.m.visit(p.at)
	}
	l := mo.m.all[p.at]
	t := l.Base()
	line := y - p.Y - 1
	wide, wideSketch := p.W-4, 0
	x -= p.X + 2
	if pic, ok := l.(pane.Illustrated); ok && t.N > 0 {
		wideSketch = pic.Illustrate(wide, p.H-2-draw.Btoi(l.HasHead()))
	}
	if l.HasHead() {
		if line == 0 {
			return mo.clickHead(l, x-wideSketch, wide-wideSketch)
		}
		line--
	}
	if wideSketch > 0 && x < wideSketch {
		if l.(pane.Illustrated).PickSketched(x, line) {
			mo.m.follow()
		}
		return nil
	}
	if pic, ok := l.(pane.Pictured); ok && pic.IsPicture() {
		if y >= p.Y+p.H-1 || line < 0 {
			return nil
		}
		found, same := pic.PickAt(x, line)
		mo.m.follow()
		if found && same && had {
			return mo.m.perform(mo.m.action("open"))
		}
		return nil
	}
	if y <= p.Y || y >= p.Y+p.H-1 || line < 0 {
		return nil
	}
	if line = t.RowAt(line); line >= t.N {
		return nil
	}
	same := had && line == t.Cursor
	mo.m.moveTo(line)
	if same {
		return mo.m.perform(mo.m.action("open"))
	}
	return nil
}

func (mo *mouse) clickHead(l pane.Pane, x, w int) tea.Cmd {
	if why := l.WhyNotSort(); why != "" {
		mo.m.warn(why)
		return nil
	}
	if col := l.Base().HeadAt(x, w); col > 0 && l.Base().Cols[col-1].Name != "" {
		l.Base().SortBy(col)
		informView(mo.m, l.Base().SortWord())
	}
	return nil
}

// zoneAt makes a part of a line clickable.
func (mo *mouse) zoneAt(y, from, to int, click func() tea.Cmd) {
	mo.zones = append(mo.zones, zone{draw.Rect{X: from, Y: y, W: to - from, H: 1}, click})
}
