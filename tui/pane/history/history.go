// SPDX-License-Identifier: Apache-2.0

// Package history shows past states of the subnet and past events.
package history

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/history"
	"example.org/ibconsole/history/timeline"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/internal/base/when"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

// The views of the pane.
const (
	showEntries = iota
	showMoments
)

// Entry is an entry of the history. If the entry is a commit, it includes the outcome.
type Entry struct {
	history.Entry
	Outcome history.Outcome
	// Before is the entry with the state before a commit. Undoes is the commit that a rollback undid. Both are 0 if
	// they do not apply.
	Before, Undoes int64
}

// The type past lists the entries of the history, or the events of the timeline.
type past struct {
	pane.List
	src     Source
	entries []Entry
	lasting bool // an entry was seen for some time
	// parents are the entries from which the entries originate. The field graph holds the marks that draw this
	// relation.
	parents       []int64
	graph         []string
	err           error
	entriesResult pane.AsyncResult[[]Entry]
	entriesOf     any // the key that the entries were read for
	moments       []timeline.Moment
	momentsErr    error
	momentsResult pane.AsyncResult[[]timeline.Moment]
	momentsOf     any // the key that the events were read for
}

// Source provides the newest entries of the history, and the timeline.
type Source interface {
	Entries(ctx context.Context) ([]Entry, error)
	// Moments returns the known events, the oldest first.
	Moments(ctx context.Context) ([]timeline.Moment, error)
}

// Pane constructs this pane. The feature that has a key of the same name opens the pane.
var Pane = pane.Maker[Source]{Name: "History", New: New}

// New makes the pane.
func New(c *pane.Common, src Source) pane.Pane {
	l := &past{src: src}
	t := c.Look
	l.List = pane.NewList(c, pane.About{Name: "History", Enter: "show it"},
		draw.Table{Kinds: []string{"entries", "timeline"}}, l.Renew)
	l.ID = func(row int) uint64 {
		if l.Kind == showMoments {
			return uint64(l.moments[row].When.UnixNano())
		}
		return uint64(l.entries[row].ID)
	}
	entries := func() bool { return l.Kind == showMoments }
	l.Cols = []draw.Column{
		{Wide: 2, Drawn: true, Hidden: func() bool { return l.Kind == showMoments || l.Sorted != 0 || !l.Filt.Empty() },
			Text: func(row int) string { return lanes(&t.Glyphs, l.graph[row]) }, Look: l.look},
		{Name: "ID", Help: "number of the entry, for commands",
			Wide: 5, Right: true, Hidden: entries, Text: func(row int) string { return fmt.Sprint(l.entries[row].ID) },
			Order: func(row int) int64 { return l.entries[row].ID }},
		{Name: "from", Help: "first time that it was seen",
			Wide: 16, Hidden: entries, Text: func(row int) string {
				return when.Format(l.entries[row].Began, "2006-01-02 15:04")
			},
			Order: func(row int) int64 { return l.entries[row].Began.UnixNano() }},
		{Name: "duration", Help: "how long it was seen",
			Wide: 8, Right: true, Rank: 2, Hidden: func() bool { return entries() || !l.lasting },
			Text: func(row int) string {
				return lasted(l.entries[row].Until.Sub(l.entries[row].Began))
			},
			Order: func(row int) int64 { return int64(l.entries[row].Until.Sub(l.entries[row].Began)) }, Dim: true},
		{Name: "entry", Help: "sweep with changes, routing, load or commit, and what changed",
			Least: 12, Share: 3, Hidden: entries, Text: func(row int) string {
				return l.entries[row].what()
			}, Look: l.look},
		{Name: "engine", Help: "routing engine of the tables",
			Wide: 10, Rank: 2, Hidden: entries, Text: func(row int) string { return l.entries[row].Engine }},
		{Name: "figures", Help: "number of table entries, changed entries, and other figures, with their names",
			Least: 14, Rank: 1, Hidden: entries, Text: func(row int) string {
				return l.entries[row].figures()
			}, Dim: true},
		{Name: "user", Help: "user who ran the command",
			Wide: 8, Rank: 3, Hidden: entries, Text: func(row int) string { return l.entries[row].Who }, Dim: true},
	}
	l.Cols = append(l.Cols, l.momentColumns()...)
	return l
}

const maxGraph = 16 // the largest width of the graph in cells

func (e *Entry) what() string {
	words := []string{string(e.Kind), e.Note, "", ""}
	if e.Kind == history.Commit && e.Before != 0 {
		words[2] = e.Outcome.Word()
	}
	if e.Undoes != 0 {
		words[1] = fmt.Sprintf("rolls back %d", e.Undoes)
	}
	if e.Simulated != "" {
		words[3] = "what-if: " + e.Simulated
	}
	words = slices.DeleteFunc(words, func(s string) bool { return s == "" })
	return strings.Join(words, ", ")
}

func (e *Entry) figures() string {
	var all []string
	for _, name := range []string{"nodes", "links", "holes", "entries", "changed"} {
		if v, ok := e.Figures[name]; ok {
			if name == "holes" { // the name in the file
				name = "unanswered"
			}
			all = append(all, prose.Thousands(int(v))+" "+name)
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
	case e.Kind != history.Commit && e.Simulated != "":
		return l.Theme.WhatifLine
	case e.Kind != history.Commit:
		return ""
	case e.Outcome == history.Done || e.Outcome == history.Finished:
		return l.Theme.Good
	case e.Outcome == history.NothingWritten:
		return l.Theme.Dim
	}
	return l.Theme.Bad
}

func (l *past) Show(sc *pane.Scene, _ bool) {
	l.Scene = sc
	l.Renew()
}

// key identifies the contents of the history. It changes whenever the history may have new entries.
type key struct {
	live, staged *session.Picture
	written      bool
}

func (l *past) Seek(s pane.Stage) tea.Cmd {
	if !s.Visible {
		return nil
	}
	key := key{l.Scene.State.Live, l.Scene.State.Staged, l.Scene.State.Written}
	if l.Kind == showMoments {
		return l.seekMoments(key)
	}
	return l.entriesResult.Start(l.Common, key, func(ctx context.Context, _ func(int, int)) ([]Entry, error) {
		return l.src.Entries(ctx)
	})
}

func (l *past) Collect() {
	l.takeMoments()
	if l.entriesResult.Of == nil || l.entriesResult.Of == l.entriesOf {
		return
	}
	l.KeepRow()
	l.entriesOf, l.entries, l.err = l.entriesResult.Of, l.entriesResult.Value, l.entriesResult.Err
	l.parents = lineage(l.entries)
	l.graph = drawLineage(l.entries, l.parents)
	l.lasting = slices.ContainsFunc(l.entries, func(e Entry) bool { return lasted(e.Until.Sub(e.Began)) != "" })
	wide := 1
	for _, g := range l.graph {
		wide = max(wide, len(g))
	}
	l.Cols[0].Wide = min(wide, maxGraph)
	l.Renew()
}

func (l *past) Renew() {
	l.KeepRow()
	if l.Kind == showMoments {
		l.Build(len(l.moments))
		return
	}
	l.Build(len(l.entries))
}

func (l *past) Title() string { return l.Kinds[l.Kind] }

func (l *past) Figure() string {
	switch {
	case l.entriesResult.Progress() != "" || l.momentsResult.Progress() != "":
		return "reading"
	case l.Kind == showMoments:
		return prose.Count(l.N, "event")
	}
	return prose.Count(l.N, "entry")
}

func (l *past) Empty() string {
	switch {
	case l.Scene == nil:
		return ""
	case !l.Filt.Empty():
		return l.NoMatch("entry")
	case l.Kind == showMoments && l.momentsErr != nil:
		return l.momentsErr.Error()
	case l.Kind == showMoments && l.momentsResult.Progress() == "":
		return "no events are known: W reads the subnet every 30 seconds"
	case l.momentsResult.Progress() != "":
		return "the timeline is being read"
	case l.entriesResult.Progress() != "":
		return "the history is being read"
	case l.err != nil:
		return l.err.Error()
	}
	return "the history of this subnet is empty"
}

func (l *past) Enter() (func() tea.Msg, string) {
	row, ok := l.Selected()
	switch {
	case !ok:
		return nil, "no entry is selected"
	case l.Kind == showMoments:
		return l.openMoment(row)
	}
	id := l.entries[row].ID
	if l.Scene.Picture.Kind == session.Recorded+session.Kind(fmt.Sprint(id)) {
		return func() tea.Msg { return pane.Choose{Kind: ""} }, ""
	}
	return func() tea.Msg { return pane.Recall{ID: id} }, ""
}

// Diff compares the two marked entries, or the selected entry with the live state. If an event is selected, it compares
// the states before and after the event.
func (l *past) Diff() (command string, ok bool) {
	row, ok := l.Selected()
	switch {
	case !ok:
		return "", false
	case l.Kind == showMoments:
		m := &l.moments[row]
		return fmt.Sprintf("diff %d %d", m.Before, m.After), m.Comparable()
	case len(l.Marks) == 2:
		ids := slices.Sorted(maps.Keys(l.Marks))
		return fmt.Sprintf("diff %d %d", ids[0], ids[1]), true
	}
	return fmt.Sprintf("diff %d live", l.entries[row].ID), true
}

func (l *past) Actions() []pane.Action {
	return append(l.momentActions(), pane.Action{
		Name: "diff-before", Binding: pane.On("show what changed between the previous entry and the selected one", "P"),
		Group: "Simulate and write", After: "diff", Label: "diff with previous", Rank: 6, Own: true, Session: true,
		Why: l.whyNotDiffBefore,
		Do: func() tea.Msg {
			row, _ := l.Selected()
			return pane.Run{Command: fmt.Sprintf("diff %d %d", l.parents[row], l.entries[row].ID)}
		},
	}, pane.Action{
		Name: "rollback", Binding: pane.On("show the plan that rolls back the selected commit; y on its page writes it",
			"U"),
		Group: "Simulate and write", After: "diff-before", Label: "roll back", Rank: 5, Own: true, Session: true,
		Why: l.whyNotRollback,
		Do: func() tea.Msg {
			row, _ := l.Selected()
			return pane.Rollback{ID: l.entries[row].ID}
		},
	}, pane.Action{
		Name:    "stage",
		Binding: pane.On("stage the routes of the selected entry, adapted to the subnet as it is now", "I"),
		Group:   "Simulate and write", After: "rollback", Label: "stage", Rank: 4, Own: true, Session: true,
		Why: l.whyNotStage, Do: l.stage,
	})
}

func (l *past) whyNotStage() string {
	if row, ok := l.Selected(); !ok || l.Kind == showMoments && l.moments[row].After == 0 {
		return "no entry of the history is selected"
	}
	return ""
}

// stage stages the routes of the selected entry, or those after the selected event.
func (l *past) stage() tea.Msg {
	row, _ := l.Selected()
	if l.Kind == showMoments {
		return pane.Run{Command: fmt.Sprintf("load history %d", l.moments[row].After)}
	}
	return pane.Run{Command: fmt.Sprintf("load history %d", l.entries[row].ID)}
}

func (l *past) whyNotRollback() string {
	switch row, ok := l.Selected(); {
	case !ok || l.Kind != showEntries:
		return "no entry of the history is selected"
	case l.entries[row].Kind != history.Commit:
		return "this entry is not a commit"
	}
	return ""
}

func (l *past) whyNotDiffBefore() string {
	row, ok := l.Selected()
	switch {
	case !ok || l.Kind != showEntries:
		return "no entry of the history is selected"
	case l.parents[row] == 0:
		return "no entry before this one is known: d compares it with live"
	}
	return ""
}
