// SPDX-License-Identifier: Apache-2.0

package history

import (
	"context"
	"fmt"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/history/timeline"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/internal/base/when"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

// momentColumns returns the columns of the timeline.
func (l *past) momentColumns() []draw.Column {
	hidden := func() bool { return l.Kind != showMoments }
	at := func(row int) *timeline.Moment { return &l.moments[row] }
	return []draw.Column{
		{Name: "when", Help: "time at which a sweep found it",
			Wide: 14, Hidden: hidden, Text: func(row int) string {
				return when.Format(at(row).When, "01-02 15:04:05")
			},
			Order: func(row int) int64 { return at(row).When.UnixNano() }},
		{Name: "kind", Help: "kind of the object that changed",
			Wide: 7, Hidden: hidden, Text: func(row int) string {
				return at(row).What
			}, Dim: true},
		{Name: "event", Help: "what changed",
			Naming: true, Least: 20, Share: 3, Hidden: hidden, Text: func(row int) string { return at(row).Text }},
		{Name: "shown", Help: "side of the event that is shown",
			Wide: 6, Hidden: func() bool {
				return hidden() || l.shown() == nil
			}, Text: l.side, Look: func(int) draw.Style { return l.Theme.Warn }},
		{Name: "cause", Help: "user who ran the command, or the probable cause",
			Least: 16, Rank: 1, Hidden: hidden, Text: func(row int) string {
				return at(row).Who
			}, Dim: true},
	}
}

// Subject returns the complete text of the selected event, because narrow columns cut it.
func (l *past) Subject() pane.Subject {
	s := pane.Nothing
	if row, ok := l.Selected(); ok && l.Kind == showMoments && row < len(l.moments) {
		m := &l.moments[row]
		if m.GUID != 0 && l.Scene != nil {
			s = l.Scene.SubjectAt(pane.Place{GUID: m.GUID, Port: uint8(m.Port)})
		}
		s.Facts = []pane.Fact{{Name: "event", Text: m.Text}, {Name: "when", Text: when.Text(m.When)},
			{Name: "kind", Text: m.What}}
		if m.Who != "" {
			s.Facts = append(s.Facts, pane.Fact{Name: "probable cause", Text: m.Who})
		}
		for _, e := range []struct {
			name string
			id   int64
		}{{"before", m.Before}, {"after", m.After}} {
			s.Facts = append(s.Facts, pane.Fact{
				Name: e.name, Text: prose.When(e.id != 0, fmt.Sprintf("history %d", e.id), "not recorded"),
			})
		}
	}
	return s
}

// The method shown returns the event whose states the panes show, or nil.
func (l *past) shown() *pane.Between {
	if l.Scene == nil {
		return nil
	}
	return l.Scene.Between
}

// side returns "before" or "after" if the panes show this state of the event in the row, otherwise "".
func (l *past) side(row int) string {
	b := l.shown()
	switch {
	case b == nil || !same(&b.Moment, &l.moments[row]):
		return ""
	case b.Earlier:
		return "before"
	}
	return "after"
}

func same(a, b *timeline.Moment) bool {
	return a.When.Equal(b.When) && a.Text == b.Text
}

// seekMoments reads the timeline if this view is shown.
func (l *past) seekMoments(of key) tea.Cmd {
	if l.Kind != showMoments {
		return nil
	}
	return l.momentsResult.Start(l.Common, [2]any{
		of, l.Scene.State.EventCount(),
	}, func(ctx context.Context, _ func(int, int)) ([]timeline.Moment, error) {
		return l.src.Moments(ctx)
	})
}

// takeMoments stores the timeline as rows, the newest event first.
func (l *past) takeMoments() {
	if l.momentsResult.Of == nil || l.momentsResult.Of == l.momentsOf {
		return
	}
	l.KeepRow()
	l.momentsOf, l.moments, l.momentsErr = l.momentsResult.Of, slices.Clone(l.momentsResult.Value), l.momentsResult.Err
	slices.Reverse(l.moments)
	l.Renew()
}

// openMoment handles Enter on an event. It shows the state after the event, then the state before it, and then again
// the state after it.
func (l *past) openMoment(row int) (func() tea.Msg, string) {
	m := l.moments[row]
	if !m.Comparable() {
		return nil, "the history has no states before and after this event"
	}
	return func() tea.Msg {
		earlier := false
		if b := l.shown(); b != nil && same(&b.Moment, &m) {
			earlier = !b.Earlier
		}
		return pane.OpenMoment{Moment: m, Earlier: earlier}
	}, ""
}

// The method next returns the row of another event: the one that is a number of events after the event that is shown or
// selected. A negative number means earlier events. Only events with states count. It returns -1 if there is no such
// event.
func (l *past) next(later int) int {
	at, ok := 0, false
	if b := l.shown(); b != nil {
		at = slices.IndexFunc(l.moments, func(m timeline.Moment) bool { return same(&m, &b.Moment) })
		ok = at >= 0
	}
	if !ok {
		if at, ok = l.Selected(); !ok || at >= len(l.moments) {
			return -1
		}
	}
	for at -= later; at >= 0 && at < len(l.moments); at -= later {
		if l.moments[at].Comparable() {
			return at
		}
	}
	return -1
}

func (l *past) whyNotStep(later int) func() string {
	return func() string {
		switch {
		case l.Kind != showMoments:
			return "no event is shown: b in the history lists events, Enter opens one"
		case l.next(later) < 0:
			return "there is no " + prose.When(later > 0, "later", "earlier") +
				" event with states before and after it"
		}
		return ""
	}
}

// step shows the state before or after the previous or next event, whichever side is shown now.
func (l *past) step(later int) tea.Msg {
	at := l.next(later)
	l.Find(l.ID(at))
	b := l.shown()
	return pane.OpenMoment{Moment: l.moments[at], Earlier: b != nil && b.Earlier}
}

// Step handles left and right.
func (l *past) Step(by int) tea.Msg {
	later := prose.When(by > 0, 1, -1)
	if why := l.whyNotStep(later)(); why != "" {
		return pane.Warn{Text: why}
	}
	return l.step(later)
}

func (l *past) momentActions() []pane.Action {
	return []pane.Action{{
		Name: "earlier", Binding: pane.On("go to the previous event (Left in the timeline)", ","),
		Group: "Trace", After: "picture", Label: "earlier", Rank: 13,
		Why: l.whyNotStep(-1), Do: func() tea.Msg { return l.step(-1) },
	}, {
		Name: "later", Binding: pane.On("go to the next event (Right in the timeline)", "."),
		Group: "Trace", After: "earlier", Label: "later", Rank: 13,
		Why: l.whyNotStep(1), Do: func() tea.Msg { return l.step(1) },
	}}
}
