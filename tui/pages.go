// SPDX-License-Identifier: Apache-2.0

package tui

import (
	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/page"
)

// pages opens and closes what covers the panes: pages, the list of keys and forms.
type pages struct {
	m    *model
	over overlay // nil for none
}

func (pg *pages) openPage(p *page.Page) {
	p.Leave = pg.closePage
	p.Fit(pg.m.body())
	pg.cover(p)
}

func (pg *pages) closePage() tea.Cmd {
	pg.cover(nil)
	return nil
}

// onPage reports whether a page is being read.
func (pg *pages) onPage() bool {
	switch pg.over.(type) {
	case *page.Page, *commitPage, *writePage, *welcomePage:
		return true
	}
	return false
}

// cover shows an overlay instead of the one that is there, nil for none.
func (pg *pages) cover(o overlay) {
	if pg.over != nil {
		pg.over.Close()
	}
	pg.over = o
}

// overlay is something over the panes that takes all keys.
type overlay interface {
	Key(k tea.KeyMsg) tea.Cmd
	Frame(body draw.Rect) []string
	// Click takes a click on a line of its frame, counted from 0 below the border.
	Click(line int) tea.Cmd
	Wheel(by int) tea.Cmd
	// Close is called when it is left.
	Close()
}
