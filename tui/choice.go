// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"context"
	"fmt"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/internal/base/when"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/tui/pane"
)

// choice is the choice of the state that the panes show: a state of the session or of the history.
type choice struct {
	m       *model
	of      session.Kind
	old     *session.Picture // of the history, shown instead of the session's; nil for none
	between *pane.Between    // the event of old, nil for none
}

// recalledMsg delivers a state that was read from the history.
type recalledMsg struct {
	pic *session.Picture
	err error
}

// momentMsg delivers the states before and after an event.
type momentMsg struct {
	between pane.Between
	err     error
}

// asOf returns the time of a state.
func asOf(p *session.Picture) string { return when.Text(p.When) }

// step shows the state before or after the present one.
func step(by int) func(m *model) tea.Cmd {
	return func(m *model) tea.Cmd {
		from := m.sc.Picture
		return m.choice.travel("reading the history", func(ctx context.Context) (*session.Picture, error) {
			return m.back.Neighbor(ctx, from, by)
		})
	}
}

func whyNotLater(m *model) string {
	return prose.When(m.choice.old == nil, "the panes show the present state: ( goes back", "")
}

// travel shows a state of the history.
func (c *choice) travel(text string, recall func(context.Context) (*session.Picture, error)) tea.Cmd {
	c.m.inform(text)
	c.m.Common.Running++
	return func() tea.Msg {
		pic, err := pane.Shielded(func() (*session.Picture, error) { return recall(c.m.Ctx) })
		if err == nil && pic != nil {
			c.m.indexes.Of(pic.Fabric)
		}
		return recalledMsg{pic, err}
	}
}

// openMoment shows the states before and after an event.
func (c *choice) openMoment(ask pane.OpenMoment) tea.Cmd {
	c.m.inform(fmt.Sprintf("reading entries %d and %d", ask.Moment.Before, ask.Moment.After))
	c.m.Common.Running++
	return func() tea.Msg {
		b, err := pane.Shielded(func() (b pane.Between, err error) {
			b = pane.Between{Moment: ask.Moment, Earlier: ask.Earlier}
			if b.Before, err = c.recall(ask.Moment.Before); err == nil {
				b.After, err = c.recall(ask.Moment.After)
			}
			return b, err
		})
		return momentMsg{b, err}
	}
}

func (c *choice) recall(id int64) (*session.Picture, error) {
	p, err := c.m.back.Recall(id)
	if err == nil {
		c.m.indexes.Of(p.Fabric)
	}
	return p, err
}

func (c *choice) openedMoment(msg momentMsg) {
	c.m.Common.Running--
	if msg.err != nil {
		c.m.warn("history: " + msg.err.Error())
		return
	}
	c.showMoment(msg.between)
}

// showMoment shows the state before or after an event. It compares this state with the other state of the event.
func (c *choice) showMoment(b pane.Between) {
	c.between, c.old = &b, b.Shown()
	c.m.refresh()
	at := when.Clock(b.Moment.When)
	c.m.inform(fmt.Sprintf("%s %s (%s): v shows the state %s, B the present", prose.When(b.Earlier, "before", "after"),
		at, b.Moment.Text, b.OtherSide()))
}

func whyNotNow(m *model) string {
	return prose.When(m.choice.old == nil, "the panes show the present state", "")
}

// showNow returns to the present.
func showNow(m *model) tea.Cmd { return m.choice.set("") }

func whyOneState(m *model) string {
	return prose.When(len(m.choice.states()) < 2 && m.choice.old == nil,
		"there is no other state: compute routes or simulate a failure", "")
}

// states returns the kinds of states that can be chosen. The first is "", the default.
func (c *choice) states() []session.Kind {
	st := &c.m.sc.State
	out := []session.Kind{""}
	for _, k := range session.Kinds {
		p, err := st.Of(k)
		if err == nil && p != st.Default() && (k != session.Base || st.Base != nil) {
			out = append(out, k)
		}
	}
	return out
}

func (c *choice) next() tea.Cmd {
	if b := c.between; b != nil {
		c.showMoment(pane.Between{Moment: b.Moment, Before: b.Before, After: b.After, Earlier: !b.Earlier})
		return nil
	}
	all := c.states()
	next := session.Kind("")
	if c.old == nil {
		next = all[(slices.Index(all, c.of)+1)%len(all)]
	}
	return c.set(next)
}

func (c *choice) set(of session.Kind) tea.Cmd {
	c.of, c.old, c.between = of, nil, nil
	c.announce()
	return nil
}

func (c *choice) announce() {
	c.m.refresh()
	c.m.inform("the panes show " + c.m.sc.State.Title(c.m.sc.Picture))
}

// recallEntry shows an entry of the history.
func (c *choice) recallEntry(id int64) tea.Cmd {
	return c.travel(fmt.Sprintf("reading entry %d", id), func(context.Context) (*session.Picture, error) {
		return c.m.back.Recall(id)
	})
}

func (c *choice) recalled(msg recalledMsg) {
	c.m.Common.Running--
	if msg.err != nil {
		c.m.warn("history: " + msg.err.Error())
		return
	}
	if msg.pic == nil || msg.pic.Kind == session.Live {
		c.set("")
		c.m.inform("this is the present state")
		return
	}
	c.old, c.between = msg.pic, nil
	c.announce()
	as := prose.When(msg.pic.Simulated != "" || msg.pic.IsComputed(), "computed", "recorded")
	c.m.inform(fmt.Sprintf("the panes show %s, %s at %s: ( and ) step, B shows the present",
		c.m.sc.State.Title(msg.pic), as, asOf(msg.pic)))
}
