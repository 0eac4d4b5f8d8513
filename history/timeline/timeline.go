// SPDX-License-Identifier: Apache-2.0

// Package timeline lists the events in the history of a subnet in the order of time.
package timeline

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/history"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/internal/base/when"
)

// Moment is an event on the timeline. Before and After are the history entries before and after it, 0 if there is none.
type Moment struct {
	history.Event
	Before int64
	After  int64
	// Planned is what the commit did that took the link down, "" for other events. It is also set when the link comes
	// up again.
	Planned string
}

// Comparable reports whether there are two different entries before and after the event.
func (m *Moment) Comparable() bool { return m.Before != 0 && m.After != 0 && m.Before != m.After }

// Seen identifies a history entry and the period in which the subnet had the state of the entry. Entry 0 is the live
// subnet.
type Seen struct {
	Entry        int64
	Began, Until time.Time
}

// History holds the entries of a subnet and the journal of its commits.
type History struct {
	held    []history.Entry
	journal []history.JournalEntry
}

// Read reads the history of a subnet.
func Read(ctx context.Context, store *history.Store, subnet string) (*History, error) {
	held, journal, err := Entries(ctx, store, subnet)
	return &History{held, journal}, err
}

// Moments returns the events of the history and the given events, oldest first. The argument has events that the
// history does not contain yet.
func (h *History) Moments(events []history.Event) []Moment {
	commits := commitsOf(h.journal)
	all := append(commits.take(append(momentsOf(h.held), placed(h.held, events)...)), commits.moments...)
	slices.SortStableFunc(all, func(a, b Moment) int { return a.When.Compare(b.When) })
	h.plan(all)
	return all
}

// plan sets Planned of the links that commits took down, adds it to their texts, and names the author.
func (h *History) plan(all []Moment) {
	type link struct{ a, b fabric.End }
	planned, wasUp := map[link]string{}, map[link]time.Time{}
	for i := range all {
		m := &all[i]
		if m.What != history.WhatLink || m.PeerGUID == 0 {
			continue
		}
		a, b := fabric.End{GUID: m.GUID, Port: m.Port}, fabric.End{GUID: m.PeerGUID, Port: m.PeerPort}
		if b.GUID < a.GUID || b.GUID == a.GUID && b.Port < a.Port {
			a, b = b, a
		}
		l := link{a, b}
		if m.Down {
			planned[l] = ""
			if j := history.TookDown(h.journal, a, b, wasUp[l], m.When); j != nil {
				planned[l] = j.Action(h.journal)
				m.Who = consoleOf(j)
			}
		} else {
			wasUp[l] = m.When
		}
		if m.Planned = planned[l]; m.Planned != "" {
			m.Text += " (planned: " + m.Planned + ")"
		}
	}
}

// EntryAt calls the function [EntryAt] with the entries of h.
func (h *History) EntryAt(by time.Time) *Seen { return EntryAt(h.held, by) }

// maxRead is the maximum number of history entries in a timeline. The latest entries are used.
const maxRead = 5000

// Entries returns the entries of a subnet that describe states of the switches, and the journal of the subnet's
// commits.
func Entries(ctx context.Context, store *history.Store, subnet string) (held []history.Entry,
	journal []history.JournalEntry, err error) {
	list, err := store.List(ctx, subnet, maxRead)
	if err != nil {
		return nil, nil, err
	}
	if journal, err = store.Journal(ctx, subnet); err != nil {
		return nil, nil, err
	}
	return heldEntries(list, journal), journal, nil
}

// heldEntries returns those entries that describe states of the switches, in the order of time.
func heldEntries(list []history.Entry, journal []history.JournalEntry) []history.Entry {
	of := map[int64]bool{} // whether the switches had the state of an entry of a commit
	for i := range journal {
		j := &journal[i]
		of[j.Before] = true
		of[j.After] = j.Outcome == history.Done || j.Outcome == history.Finished || j.Outcome == history.RolledBack
	}
	held := slices.DeleteFunc(slices.Clone(list), func(e history.Entry) bool {
		return e.Kind != history.Sweep && (e.Kind != history.Commit || !of[e.ID])
	})
	slices.SortStableFunc(held, func(a, b history.Entry) int {
		return cmp.Or(a.Began.Compare(b.Began), cmp.Compare(a.ID, b.ID))
	})
	return held
}

// momentsOf returns the events of entries. If a sweep differs from the previous sweep and has no events that explain
// this, momentsOf adds an event.
func momentsOf(held []history.Entry) []Moment {
	var all []Moment
	for i := range held {
		e := &held[i]
		before := int64(0)
		if i > 0 {
			before = held[i-1].ID
		}
		explained := false
		for _, x := range e.Events {
			// the file may have been imported
			x.Text, x.Who, x.What = fabric.Escape(x.Text), fabric.Escape(x.Who), fabric.Escape(x.What)
			m := Moment{Event: x, Before: before, After: e.ID}
			if x.When.After(e.Began) && !x.Changes() { // while the state lasted
				m.Before = e.ID
			} else if !x.IsRemark() {
				explained = true
			}
			all = append(all, m)
		}
		if i > 0 && !explained && e.Kind == history.Sweep && held[i-1].Kind == history.Sweep {
			all = append(all, Moment{Event: history.Event{When: e.Began, Text: unexplained(&held[i-1], e)},
				Before: before, After: e.ID})
		}
	}
	return all
}

// unexplained returns a text about the differences between two successive sweeps without events.
func unexplained(was, is *history.Entry) string {
	var words []string
	for _, name := range []string{"nodes", "links"} {
		if a, b := was.Figures[name], is.Figures[name]; a != b {
			words = append(words, fmt.Sprintf("%s %.0f, was %.0f", name, b, a))
		}
	}
	if was.Seen != nil && is.Seen != nil {
		if a, b := masterOf(was.Seen), masterOf(is.Seen); a != b {
			words = append(words, fmt.Sprintf("subnet manager %s, was %s", b, a))
		}
	}
	if words == nil {
		words = []string{"same numbers of nodes and links"}
	}
	return fmt.Sprintf("changed since %s, while not monitored: %s", when.Text(was.Until),
		strings.Join(words, "; "))
}

// masterOf returns the name of the port with the master subnet manager, "none" if there is none.
func masterOf(s *history.Seen) string {
	for _, m := range s.Managers {
		if m.State == "master" {
			return fabric.Escape(m.Port)
		}
	}
	return "none"
}

// commitMoments holds an event for each commit that wrote something. by maps the description that
// [history.JournalEntry.Name] returns to the index of the event.
type commitMoments struct {
	moments []Moment
	by      map[string]int
}

func commitsOf(journal []history.JournalEntry) commitMoments {
	all := commitMoments{by: map[string]int{}}
	for i := range journal {
		j := &journal[i]
		if j.Outcome == history.NothingWritten {
			continue
		}
		text := j.Action(journal) + ", " + j.Outcome.Word()
		if j.Others.Count > 0 {
			text += ", others wrote " + prose.Count(j.Others.Count, "entry")
		}
		all.by[j.Name()], all.by[fabric.Escape(j.Name())] = len(all.moments), len(all.moments)
		all.moments = append(all.moments, Moment{
			Event: history.Event{
				When: j.Began, What: history.WhatCommit, Text: text, Who: consoleOf(j),
			},
			Before: j.Before, After: j.After,
		})
	}
	return all
}

// consoleOf returns the author of a commit in words.
func consoleOf(j *history.JournalEntry) string { return "console of " + fabric.Escape(j.Who) }

// take removes the events in which a sweep found tables that a commit has written. The text of the first such event is
// appended to the text of the commit's event.
func (c *commitMoments) take(all []Moment) []Moment {
	seen := map[int]bool{}
	return slices.DeleteFunc(all, func(m Moment) bool {
		at, known := c.by[m.Who]
		if m.What != history.WhatTables || !known {
			return false
		}
		if !seen[at] {
			c.moments[at].Text += "; " + m.Text
			seen[at] = true
		}
		return true
	})
}

// placed returns events that the history does not contain. Each event gets the entries before and after it.
func placed(held []history.Entry, events []history.Event) []Moment {
	var all []Moment
	for i := range events {
		m := Moment{Event: events[i]}
		at := slices.IndexFunc(held, func(e history.Entry) bool { return !e.Began.Before(m.When) })
		switch {
		case at > 0:
			m.Before, m.After = held[at-1].ID, held[at].ID
		case at < 0 && len(held) > 0:
			m.Before = held[len(held)-1].ID
		}
		all = append(all, m)
	}
	return all
}

// EntryAt returns the last entry that was first read at or before a time. If there is no such entry, it returns the
// first entry.
func EntryAt(held []history.Entry, by time.Time) *Seen {
	if len(held) == 0 {
		return nil
	}
	at := slices.IndexFunc(held, func(e history.Entry) bool { return e.Began.After(by) })
	if at < 0 {
		at = len(held)
	}
	e := &held[max(at-1, 0)]
	return &Seen{e.ID, e.Began, e.Until}
}
