// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"fmt"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/tui/pane"
)

func (m *model) whyOnePicture() string {
	return prose.When(len(m.pictures()) < 2 && m.old == nil, "there is no other picture: route, or let something fail", "")
}

// pictures are those that there are to choose from, "" for the default first.
func (m *model) pictures() []session.Kind {
	st := &m.sc.State
	out := []session.Kind{""}
	for _, k := range session.Kinds {
		p, err := st.Of(k)
		if err == nil && p != st.Default() && (k != session.Base || st.Base != nil) {
			out = append(out, k)
		}
	}
	return out
}

func (m *model) nextPicture() tea.Cmd {
	if b := m.between; b != nil {
		m.showMoment(pane.Between{Moment: b.Moment, Before: b.Before, After: b.After, Earlier: !b.Earlier})
		return nil
	}
	all := m.pictures()
	next := session.Kind("")
	if m.old == nil {
		next = all[(slices.Index(all, m.of)+1)%len(all)]
	}
	return m.choosePicture(next)
}

func (m *model) choosePicture(of session.Kind) tea.Cmd {
	m.of, m.old, m.between = of, nil, nil
	m.shown()
	return nil
}

func (m *model) shown() {
	m.refresh()
	m.inform("the panes show " + m.sc.State.Title(m.sc.Picture))
}

// recalledMsg brings a picture out of the history.
type recalledMsg struct {
	pic *session.Picture
	err error
}

// recallPicture shows the picture of an entry of the history.
func (m *model) recallPicture(id int64) tea.Cmd {
	m.inform(fmt.Sprintf("reading entry %d", id))
	m.Common.Running++
	return func() tea.Msg {
		pic, err := pane.Shielded(func() (*session.Picture, error) { return m.back.Recall(id) })
		if err == nil {
			m.indexes.Of(pic.Fabric)
		}
		return recalledMsg{pic, err}
	}
}

func (m *model) recalled(msg recalledMsg) {
	m.Common.Running--
	if msg.err != nil {
		m.warn("history: " + msg.err.Error())
		return
	}
	if msg.pic == nil || msg.pic.Kind == session.Live {
		m.choosePicture("")
		m.inform("this is the present")
		return
	}
	m.old, m.between = msg.pic, nil
	m.shown()
	as := prose.When(msg.pic.Simulated != "" || msg.pic.IsComputed(), "computed", "as it was")
	m.inform(fmt.Sprintf("the panes show %s, %s at %s: ( and ) step, B shows the present", m.sc.State.Title(msg.pic), as, asOf(msg.pic)))
}
