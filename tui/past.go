// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/history"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/tui/draw"
)

// The manners in which the past is shown.
const (
	pastEntries = iota
	pastEvents
)

// pastEntry is an entry of the history, and how it ended if it is a commit.
type pastEntry struct {
	history.Entry
	Outcome history.Outcome
	// Before is, of what a commit wrote, the entry with what was there before; Undoes the
	// entry of the commit that it takes back. 0 for none.
	Before, Undoes int64
}

// past lists what the subnet was: the entries of the history, or what sweeps
// found to be new.
type past struct {
	list
	sc      *scene
	entries []pastEntry
	// parents are the entries from which these came, and graph draws that.
	parents []int64
	graph   []string
	events  []session.Event
	err     error
	busy    func() string
}

func newPast(t *draw.Theme) *past {
	l := &past{busy: func() string { return "" }}
	l.Table = draw.Table{Theme: t, Kinds: []string{"entries", "events"}}
	l.ID = func(row int) uint64 {
		if l.Kind == pastEvents {
			return uint64(l.events[row].When.UnixNano())<<8 | uint64(row&0xff)
		}
		return uint64(l.entries[row].ID)
	}
	entries := func() bool { return l.Kind == pastEvents }
	events := func() bool { return l.Kind == pastEntries }
	dim := func(int) draw.Style { return t.Dim }
	l.Cols = []draw.Column{
		{Wide: 2, Hidden: func() bool { return l.Kind == pastEvents || l.Sorted != 0 || !l.Filt.Empty() },
			Text: func(row int) string { return lanes(&t.Glyphs, l.graph[row]) }, Look: l.look},
		{Name: "ID", Wide: 5, Right: true, Hidden: entries, Text: func(row int) string { return fmt.Sprint(l.entries[row].ID) },
			Order: func(row int) int64 { return l.entries[row].ID }},
		{Name: "from", Wide: 16, Hidden: entries, Text: func(row int) string { return l.entries[row].Began.Local().Format("2006-01-02 15:04") },
			Order: func(row int) int64 { return l.entries[row].Began.UnixNano() }},
		{Name: "for", Wide: 7, Right: true, Rank: 2, Hidden: entries, Text: func(row int) string { return lasted(l.entries[row].Until.Sub(l.entries[row].Began)) },
			Order: func(row int) int64 { return int64(l.entries[row].Until.Sub(l.entries[row].Began)) }, Look: dim},
		{Name: "what", Least: 12, Share: 3, Hidden: entries, Text: func(row int) string { return l.entries[row].what() }, Look: l.look},
		{Name: "engine", Wide: 10, Rank: 2, Hidden: entries, Text: func(row int) string { return l.entries[row].Engine }},
		{Name: "figures", Least: 14, Rank: 1, Hidden: entries, Text: func(row int) string { return l.entries[row].figures() }, Look: dim},
		{Name: "who", Wide: 8, Rank: 3, Hidden: entries, Text: func(row int) string { return l.entries[row].Who }, Look: dim},
		{Name: "when", Wide: 19, Hidden: events, Text: func(row int) string { return l.events[row].When.Local().Format(time.DateTime) },
			Order: func(row int) int64 { return l.events[row].When.UnixNano() }},
		{Name: "event", Least: 20, Hidden: events, Text: func(row int) string { return l.events[row].Text }},
	}
	return l
}

// maxGraph is how many cells the graph has at most.
const maxGraph = 16

func (e *pastEntry) what() string {
	words := []string{string(e.Kind), e.Note, string(e.Outcome)}
	if e.Undoes != 0 {
		words[1] = fmt.Sprintf("takes back %d", e.Undoes)
	}
	words = slices.DeleteFunc(words, func(s string) bool { return s == "" })
	return strings.Join(words, ", ")
}

func (e *pastEntry) figures() string {
	var all []string
	for _, name := range []string{"nodes", "links", "holes", "entries", "changed"} {
		if v, ok := e.Figures[name]; ok {
			all = append(all, draw.Thousands(int(v))+" "+name)
		}
	}
	return strings.Join(all, ", ")
}

func lasted(d time.Duration) string {
	switch {
	case d < time.Minute:
		return ""
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d d", int(d.Hours()/24))
}

func (l *past) look(row int) draw.Style {
	switch e := &l.entries[row]; {
	case e.Kind != history.Commit:
		return ""
	case e.Outcome == history.Done || e.Outcome == history.Finished:
		return l.Theme.Good
	}
	return l.Theme.Bad
}

func (l *past) show(sc *scene) {
	l.sc = sc
	l.renew()
}

func (l *past) bring(entries []pastEntry, err error) {
	l.Hold()
	l.entries, l.err = entries, err
	l.parents = lineage(entries)
	l.graph = drawLineage(entries, l.parents)
	wide := 1
	for _, g := range l.graph {
		wide = max(wide, len(g))
	}
	l.Cols[0].Wide = min(wide, maxGraph)
	l.renew()
}

func (l *past) renew() {
	l.Hold()
	if l.Kind == pastEvents {
		l.events = l.sc.st.Events
		l.Build(len(l.events))
		return
	}
	l.Build(len(l.entries))
}

func (l *past) title() string { return l.Kinds[l.Kind] }

func (l *past) figure() string {
	switch {
	case l.busy() != "":
		return "reading"
	case l.Kind == pastEvents:
		return draw.Count(l.N, "event")
	}
	return draw.Count(l.N, "entry")
}

func (l *past) empty() string {
	switch {
	case l.sc == nil:
		return ""
	case !l.Filt.Empty():
		return l.NoMatch("entry")
	case l.Kind == pastEvents:
		return "sweeps have found nothing new since the session began: :watch 30 sweeps every 30 seconds"
	case l.busy() != "":
		return "the history is being read"
	case l.err != nil:
		return l.err.Error()
	}
	return "nothing is in the history of this subnet yet"
}

func (l *past) enter(m *model) (func() tea.Cmd, string) {
	row, ok := l.Selected()
	switch {
	case !ok:
		return nil, "no entry is selected"
	case l.Kind == pastEvents:
		return nil, "an event has no picture: b shows the entries"
	}
	id := l.entries[row].ID
	if m.sc.pic.Kind == session.Recorded+session.Kind(fmt.Sprint(id)) {
		return func() tea.Cmd { return m.choosePicture("") }, ""
	}
	return func() tea.Cmd { return m.recallPicture(id) }, ""
}
