// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"cmp"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

// spot is something that was looked at: a pane, what it was about, and the row.
type spot struct {
	pane  int
	at    pane.Place
	id    uint64
	label string
}

// same reports whether two spots differ at most in the row.
func (s *spot) same(o *spot) bool { return s.pane == o.pane && s.at == o.at }

// trail is what was looked at, to go back and forward in.
type trail struct {
	spots []spot
	at    int
}

const maxTrail = 200 // how many spots are kept

// here is what is looked at now.
func (m *model) here() spot {
	p := m.pane()
	at, label := p.Spot()
	s := spot{pane: m.focus, at: at, label: cmp.Or(label, p.About().Name)}
	t := p.Base()
	if row, ok := t.Selected(); ok && t.ID != nil {
		s.id = t.ID(row)
	}
	return s
}

// jump does what may lead elsewhere, and keeps the way back.
func (m *model) jump(move func() tea.Cmd) tea.Cmd {
	tr := &m.trail
	before := m.here()
	if len(tr.spots) == 0 {
		tr.spots = append(tr.spots, before)
	}
	tr.spots[tr.at] = before
	cmd := move()
	if after := m.here(); !after.same(&before) {
		tr.spots = append(tr.spots[:tr.at+1], after)
		if len(tr.spots) > maxTrail {
			tr.spots = tr.spots[1:]
		}
		tr.at = len(tr.spots) - 1
	}
	return cmd
}

func (m *model) whyNotBack() string {
	return prose.When(m.trail.at == 0, "there is no way back: nothing was looked at before", "")
}

func (m *model) whyNotForward() string {
	return prose.When(m.trail.at+1 >= len(m.trail.spots), "there is no way forward: nothing was gone back from", "")
}

// walk goes so many spots back or forward.
func (m *model) walk(by int) tea.Cmd {
	tr := &m.trail
	tr.spots[tr.at] = m.here()
	tr.at += by
	s := tr.spots[tr.at]
	m.setFocus(s.pane)
	m.tellPanes(pane.Visit{At: s.at})
	m.follow()
	if t := m.pane().Base(); t.ID != nil {
		t.Find(s.id)
	}
	m.fit()
	return nil
}

// crumbs names what was looked at last in w cells.
func (m *model) crumbs(w int) string {
	tr := &m.trail
	if len(tr.spots) < 2 {
		return ""
	}
	var words []string
	for i := max(tr.at-3, 0); i < min(tr.at+2, len(tr.spots)); i++ {
		word := draw.Clean(tr.spots[i].label, m.Look.ASCII)
		if i == tr.at {
			word = "[" + draw.Clean(m.here().label, m.Look.ASCII) + "]"
		}
		words = append(words, draw.Cut(word, 24, m.Look.Ellipsis))
	}
	for len(words) > 1 && draw.Width(strings.Join(words, " "+m.Look.Prompt+" ")) > w {
		words = words[1:]
	}
	text := strings.Join(words, " "+m.Look.Prompt+" ")
	if draw.Width(text) > w {
		return ""
	}
	return text
}
