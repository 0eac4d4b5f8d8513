// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"context"
	"fmt"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/tui/pane"
)

// choice is which state of the subnet the panes show: a picture of the session, or one of the history.
type choice struct {
	m       *model
	of      session.Kind
	old     *session.Picture // of the history, shown instead of the one of the session; nil for none
	between *pane.Between    // the event to which old belongs, nil for none
}

// recalledMsg brings a picture out of the history.
type recalledMsg struct {
	pic *session.Picture
	err error
}

// momentMsg brings the pictures of before and after an event.
type momentMsg struct {
	between pane.Between
	err     error
}

// asOf says which time is shown.
func asOf(p *session.Picture) string { return p.When.Local().Format(time.DateTime) }

// step goes to what was seen before or after what is shown.
func step(by int) func(m *model) tea.Cmd {
	return func(m *model) tea.Cmd {
		from := m.sc.Picture
		return m.choice.travel(prose.When(by < 0, "earlier", "later"),
			func(ctx context.Context) (*session.Picture, error) {
				return m.back.Beside(ctx, from, by)
			})
	}
}

func whyNotLater(m *model) string {
	return prose.When(m.choice.old == nil, "the panes show the present: ( goes back", "")
}

// travel shows a picture of another time.
func (c *choice) travel(what string, recall func(context.Context) (*session.Picture, error)) tea.Cmd {
	c.m.inform(what + ": reading the history")
	c.m.Common.Running++
	ctx := c.m.Ctx
	return func() tea.Msg {
		pic, err := pane.Shielded(func() (*session.Picture, error) { return recall(ctx) })
		if err == nil && pic != nil {
			c.m.indexes.Of(pic.Fabric)
		}
		return recalledMsg{pic, err}
	}
}

// openMoment shows the pictures of before and after an event.
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

// showMoment shows one side of an event, compared with the other.
func (c *choice) showMoment(b pane.Between) {
	c.between, c.old = &b, b.Shown()
	c.m.refresh()
	at := b.Moment.When.Local().Format(time.TimeOnly)
	c.m.inform(fmt.Sprintf("%s %s (%s): v shows what was %s, B the present", prose.When(b.Earlier, "before", "after"),
		at, b.Moment.Text, b.OtherSide()))
}

func whyNotNow(m *model) string {
	return prose.When(m.choice.old == nil, "the panes show the present", "")
}

// showNow goes back to the present.
func showNow(m *model) tea.Cmd { return m.choice.set("") }

func whyOnePicture(m *model) string {
	return prose.When(len(m.choice.pictures()) < 2 && m.choice.old == nil,
		"there is no other picture: route, or let something fail", "")
}

// pictures are those that there are to choose from, "" for the default first.
func (c *choice) pictures() []session.Kind {
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
	all := c.pictures()
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

// recallEntry shows the picture of an entry of the history.
func (c *choice) recallEntry(id int64) tea.Cmd {
	c.m.inform(fmt.Sprintf("reading entry %d", id))
	c.m.Common.Running++
	return func() tea.Msg {
		pic, err := pane.Shielded(func() (*session.Picture, error) { return c.m.back.Recall(id) })
		if err == nil {
			c.m.indexes.Of(pic.Fabric)
		}
		return recalledMsg{pic, err}
	}
}

func (c *choice) recalled(msg recalledMsg) {
	c.m.Common.Running--
	if msg.err != nil {
		c.m.warn("history: " + msg.err.Error())
		return
	}
	if msg.pic == nil || msg.pic.Kind == session.Live {
		c.set("")
		c.m.inform("this is the present")
		return
	}
	c.old, c.between = msg.pic, nil
	c.announce()
	as := prose.When(msg.pic.Simulated != "" || msg.pic.IsComputed(), "computed", "as it was")
	c.m.inform(fmt.Sprintf("the panes show %s, %s at %s: ( and ) step, B shows the present",
		c.m.sc.State.Title(msg.pic), as, asOf(msg.pic)))
}
