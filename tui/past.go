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
	table
	sc      *scene
	entries []pastEntry
	// parents are the entries from which these came, and graph draws that.
	parents []int64
	graph   []string
	events  []session.Event
	err     error
	busy    func() string
}

func newPast(t *theme) *past {
	l := &past{busy: func() string { return "" }}
	l.table = table{theme: t, kinds: []string{"entries", "events"}}
	l.id = func(row int) uint64 {
		if l.kind == pastEvents {
			return uint64(l.events[row].When.UnixNano())<<8 | uint64(row&0xff)
		}
		return uint64(l.entries[row].ID)
	}
	entries := func() bool { return l.kind == pastEvents }
	events := func() bool { return l.kind == pastEntries }
	dim := func(int) style { return t.dim }
	l.cols = []column{
		{wide: 2, hidden: func() bool { return l.kind == pastEvents || l.sorted != 0 || !l.filt.empty() },
			text: func(row int) string { return t.lanes(l.graph[row]) }, look: l.look},
		{name: "ID", wide: 5, right: true, hidden: entries, text: func(row int) string { return fmt.Sprint(l.entries[row].ID) },
			order: func(row int) int64 { return l.entries[row].ID }},
		{name: "from", wide: 16, hidden: entries, text: func(row int) string { return l.entries[row].Began.Local().Format("2006-01-02 15:04") },
			order: func(row int) int64 { return l.entries[row].Began.UnixNano() }},
		{name: "for", wide: 7, right: true, rank: 2, hidden: entries, text: func(row int) string { return lasted(l.entries[row].Until.Sub(l.entries[row].Began)) },
			order: func(row int) int64 { return int64(l.entries[row].Until.Sub(l.entries[row].Began)) }, look: dim},
		{name: "what", least: 12, share: 3, hidden: entries, text: func(row int) string { return l.entries[row].what() }, look: l.look},
		{name: "engine", wide: 10, rank: 2, hidden: entries, text: func(row int) string { return l.entries[row].Engine }},
		{name: "figures", least: 14, rank: 1, hidden: entries, text: func(row int) string { return l.entries[row].figures() }, look: dim},
		{name: "who", wide: 8, rank: 3, hidden: entries, text: func(row int) string { return l.entries[row].Who }, look: dim},
		{name: "when", wide: 19, hidden: events, text: func(row int) string { return l.events[row].When.Local().Format(time.DateTime) },
			order: func(row int) int64 { return l.events[row].When.UnixNano() }},
		{name: "event", least: 20, hidden: events, text: func(row int) string { return l.events[row].Text }},
	}
	return l
}

// maxGraph is how many cells the graph has at most.
const maxGraph = 16

func (e *pastEntry) what() string {
	words := []string{string(e.Kind), e.Note, ""}
	if e.Kind == history.Commit && e.Before != 0 {
		words[2] = e.Outcome.Word()
	}
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
			all = append(all, thousands(int(v))+" "+name)
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

func (l *past) look(row int) style {
	switch e := &l.entries[row]; {
	case e.Kind != history.Commit:
		return ""
	case e.Outcome == history.Done || e.Outcome == history.Finished:
		return l.theme.good
	case e.Outcome == history.NothingWritten:
		return l.theme.dim
	}
	return l.theme.bad
}

func (l *past) show(sc *scene) {
	l.sc = sc
	l.renew()
}

func (l *past) bring(entries []pastEntry, err error) {
	l.hold()
	l.entries, l.err = entries, err
	l.parents = lineage(entries)
	l.graph = drawLineage(entries, l.parents)
	wide := 1
	for _, g := range l.graph {
		wide = max(wide, len(g))
	}
	l.cols[0].wide = min(wide, maxGraph)
	l.renew()
}

func (l *past) renew() {
	l.hold()
	if l.kind == pastEvents {
		l.events = l.sc.st.Events
		l.build(len(l.events))
		return
	}
	l.build(len(l.entries))
}

func (l *past) title() string { return l.kinds[l.kind] }

func (l *past) figure() string {
	switch {
	case l.busy() != "":
		return "reading"
	case l.kind == pastEvents:
		return count(l.n, "event")
	}
	return count(l.n, "entry")
}

func (l *past) empty() string {
	switch {
	case l.sc == nil:
		return ""
	case !l.filt.empty():
		return l.noMatch("entry")
	case l.kind == pastEvents:
		return "sweeps have found nothing new since the session began: :watch 30 sweeps every 30 seconds"
	case l.busy() != "":
		return "the history is being read"
	case l.err != nil:
		return l.err.Error()
	}
	return "nothing is in the history of this subnet yet"
}

func (l *past) enter(m *model) (func() tea.Cmd, string) {
	row, ok := l.selected()
	switch {
	case !ok:
		return nil, "no entry is selected"
	case l.kind == pastEvents:
		return nil, "an event has no picture: b shows the entries"
	}
	id := l.entries[row].ID
	if m.sc.pic.Kind == session.Recorded+session.Kind(fmt.Sprint(id)) {
		return func() tea.Cmd { return m.choosePicture("") }, ""
	}
	return func() tea.Cmd { return m.recallPicture(id) }, ""
}
