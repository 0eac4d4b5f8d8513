// SPDX-License-Identifier: Apache-2.0

// Package timeline puts what the history knows of a subnet in the order of time.
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
)

// Moment is an event on the timeline, with the entries of the history that have what was before and after it, 0 for
// none.
type Moment struct {
	history.Event
	Before int64
	After  int64
}

// Pictures reports whether there is a picture of what was before and one of what was after.
func (m *Moment) Pictures() bool { return m.Before != 0 && m.After != 0 && m.Before != m.After }

// Seen is an entry of the history, and from when until when the subnet was seen to be so. Entry 0 is the live subnet.
type Seen struct {
	Entry        int64
	Began, Until time.Time
}

// History is what the history knows of a subnet.
type History struct {
	held    []history.Entry
	journal []history.JournalEntry
}

// Read reads what a store knows of a subnet.
func Read(ctx context.Context, store *history.Store, subnet string) (*History, error) {
	held, journal, err := Entries(ctx, store, subnet)
	return &History{held, journal}, err
}

// Moments returns what happened, the oldest first, with events that the history does not have yet.
func (h *History) Moments(events []history.Event) []Moment {
	commits := commitsOf(h.journal)
	all := append(commits.take(append(momentsOf(h.held), placed(h.held, events)...)), commits.moments...)
	slices.SortStableFunc(all, func(a, b Moment) int { return a.When.Compare(b.When) })
	return all
}

// SeenBy is [SeenBy] of the entries that the switches held.
func (h *History) SeenBy(by time.Time) *Seen { return SeenBy(h.held, by) }

// mostRead is how many entries of the history a timeline is made of, the latest.
const mostRead = 5000

// Entries are those that a store has of a subnet, and the journal of its commits.
func Entries(ctx context.Context, store *history.Store, subnet string) (held []history.Entry,
	journal []history.JournalEntry, err error) {
	list, err := store.List(ctx, subnet, mostRead)
	if err != nil {
		return nil, nil, err
	}
	if journal, err = store.Journal(ctx, subnet); err != nil {
		return nil, nil, err
	}
	return heldEntries(list, journal), journal, nil
}

// heldEntries are those that say what the switches held, in the order of time.
func heldEntries(list []history.Entry, journal []history.JournalEntry) []history.Entry {
	of := map[int64]bool{} // whether the switches held what an entry of a commit has
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

// momentsOf returns the events that entries have. Where one has none although it is other than the one before, that is
// one.
func momentsOf(held []history.Entry) []Moment {
	var all []Moment
	for i := range held {
		e := &held[i]
		before := int64(0)
		if i > 0 {
			before = held[i-1].ID
		}
		told := false
		for _, x := range e.Events {
			// of a file that was imported
			x.Text, x.Who, x.What = fabric.Escape(x.Text), fabric.Escape(x.Who), fabric.Escape(x.What)
			m := Moment{Event: x, Before: before, After: e.ID}
			if x.When.After(e.Began) && !x.Changes() { // while it stayed so
				m.Before = e.ID
			} else {
				told = true
			}
			all = append(all, m)
		}
		if i > 0 && !told && e.Kind == history.Sweep && held[i-1].Kind == history.Sweep {
			all = append(all, Moment{Event: history.Event{When: e.Began, Text: unwatched(&held[i-1], e)},
				Before: before, After: e.ID})
		}
	}
	return all
}

// unwatched says how the subnet had changed when it was read again.
func unwatched(was, is *history.Entry) string {
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
		words = []string{"nodes and links are as many"}
	}
	return fmt.Sprintf("changed since %s, when nobody watched: %s", was.Until.Format(time.DateTime),
		strings.Join(words, "; "))
}

// masterOf names the port of the subnet manager in charge.
func masterOf(s *history.Seen) string {
	for _, m := range s.Managers {
		if m.State == "master" {
			return fabric.Escape(m.Port)
		}
	}
	return "none"
}

// commitMoments are the commits that wrote something, and the place of each by the words for who wrote its tables.
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
		text := prose.When(j.IsRollback(), "rollback, ", "commit, ") + j.Outcome.Word()
		if j.Others.Count > 0 {
			text += ", others wrote " + prose.Count(j.Others.Count, "entry")
		}
		all.by[ByCommit(j)], all.by[fabric.Escape(ByCommit(j))] = len(all.moments), len(all.moments)
		all.moments = append(all.moments, Moment{
			Event: history.Event{
				When: j.Began, What: history.WhatCommit, Text: text, Who: "console of " + fabric.Escape(j.Who),
			},
			Before: j.Before, After: j.After,
		})
	}
	return all
}

// take leaves out that a sweep found the tables of a commit, which says so itself, with what the first sweep found.
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

// placed returns events that the history does not have between its entries.
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

// SeenBy returns the entry that was seen last by a time, else the first one.
func SeenBy(held []history.Entry, by time.Time) *Seen {
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

// ByCommit names who wrote by a commit in the journal.
func ByCommit(j *history.JournalEntry) string {
	return fmt.Sprintf("the commit of %s by %s (history %d)", j.Began.Format(time.DateTime),
		fabric.Escape(j.Who), j.After)
}
