// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"example.org/ibconsole/history"
	"example.org/ibconsole/history/timeline"
	"example.org/ibconsole/internal/base/when"
)

// entries returns those history entries that describe tables on the switches, the oldest first.
func (s *Session) entries(ctx context.Context) ([]history.Entry, error) {
	store, err := s.History()
	if err != nil {
		return nil, err
	}
	held, _, err := timeline.Entries(ctx, store, s.Subnet())
	return held, err
}

// At returns the subnet as it was last read before the time t: the live state, or a state of the history. It returns an
// error if the subnet was not read before t.
func (s *Session) At(ctx context.Context, t time.Time) (*Picture, error) {
	st := s.State()
	if !t.Before(st.Live.When) && len(st.Live.Fabric.Nodes) > 0 {
		return st.Live, nil
	}
	held, err := s.entries(ctx)
	if err != nil {
		return nil, err
	}
	seen := timeline.EntryAt(held, t)
	switch {
	case seen == nil:
		return nil, fmt.Errorf("the history of this subnet is empty")
	case seen.Began.After(t):
		return nil, fmt.Errorf("the history of this subnet begins at %s", when.Text(seen.Began))
	}
	return s.recall(seen.Entry)
}

// States returns the states that the switches had between two times, the oldest first: the last one that was read
// before since, and those that were read later. Entry 0 is the live state. If the history cannot be read, the result
// is the live state, with the reason.
func (s *Session) States(ctx context.Context, since, until time.Time) (all []timeline.Seen, why error) {
	held, why := s.entries(ctx)
	for i := range held {
		e := &held[i]
		if e.Began.After(until) {
			break
		}
		if !e.Began.After(since) {
			all = nil
		}
		all = append(all, timeline.Seen{Entry: e.ID, Began: e.Began, Until: e.Until})
	}
	st := s.State()
	live := st.Live.When
	if n := len(all); len(st.Live.Fabric.Nodes) > 0 && (n == 0 || live.After(all[n-1].Until)) && !live.After(until) ||
		n == 0 {
		all = append(all, timeline.Seen{Began: live, Until: live})
	}
	return all, why
}

// Recall returns a state of [Session.States].
func (s *Session) Recall(seen timeline.Seen) (*Picture, error) {
	if seen.Entry == 0 {
		return s.State().Live, nil
	}
	return s.recall(seen.Entry)
}

// Neighbor returns the state that is a number of entries after the state p in the history. A negative number means
// entries before p. Neighbor returns nil if that is the live state.
func (s *Session) Neighbor(ctx context.Context, p *Picture, by int) (*Picture, error) {
	held, err := s.entries(ctx)
	if err != nil {
		return nil, err
	}
	at := len(held) - 1 // the present
	if id, err := strconv.ParseInt(p.Kind.Word(), 10, 64); err == nil {
		at = slices.IndexFunc(held, func(e history.Entry) bool { return e.ID == id })
	}
	switch at += by; {
	case at < 0:
		return nil, fmt.Errorf("the history of this subnet has no state before this time")
	case at >= len(held)-1:
		return nil, nil
	}
	return s.recall(held[at].ID)
}

// recallAt is [Session.At] for a time that the user typed.
func (s *Session) recallAt(t time.Time) (*Picture, error) { return s.At(context.Background(), t) }
