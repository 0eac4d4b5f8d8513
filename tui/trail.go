// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"cmp"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/tui/pane"
)

// spot is a stop of the trail: a pane, the object that the pane is about, and the selected row.
type spot struct {
	pane  int
	at    pane.Place
	id    uint64
	label string
}

// same reports whether two spots have the same pane and object. The rows may differ.
func (s *spot) same(o *spot) bool { return s.pane == o.pane && s.at == o.at }

// trail is the list of visited spots, in which the user can go back and forward.
type trail struct {
	spots []spot
	at    int
}

const maxTrail = 200 // stops that are kept

// here returns the current stop.
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

// jump runs a move to another spot and records the move in the trail.
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

func whyNotBack(m *model) string {
	return prose.When(m.trail.at == 0, "there is no previous place", "")
}

func whyNotForward(m *model) string {
	return prose.When(m.trail.at+1 >= len(m.trail.spots), "there is no next place", "")
}

// walk goes back or forward by a number of spots.
func (m *model) walk(by int) tea.Cmd {
	tr := &m.trail
	tr.spots[tr.at] = m.here()
	tr.at += by
	s := tr.spots[tr.at]
	m.setFocus(s.pane)
	m.updatePanes(pane.Visit{At: s.at})
	m.follow()
	if t := m.pane().Base(); t.ID != nil {
		t.Find(s.id)
	}
	m.fit()
	return nil
}
