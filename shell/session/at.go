// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"example.org/ibconsole/history"
)

// entries are those of the history that the switches held, the oldest first.
func (s *Session) entries(ctx context.Context) ([]history.Entry, error) {
	store, err := s.History()
	if err != nil {
		return nil, err
	}
	held, _, err := entriesOf(ctx, store, s.Subnet())
	return held, err
}

// entriesOf are those that a store has of a subnet, and the journal of its commits.
func entriesOf(ctx context.Context, store *history.Store, subnet string) (held []history.Entry, journal []history.JournalEntry, err error) {
	list, err := store.List(ctx, subnet, mostRead)
	if err != nil {
		return nil, nil, err
	}
	if journal, err = store.Journal(ctx, subnet); err != nil {
		return nil, nil, err
	}
	return heldEntries(list, journal), journal, nil
}

// At is the subnet as it was seen last by a time: the live picture, or one out of the history. It fails where nothing was seen by then.
func (s *Session) At(ctx context.Context, t time.Time) (*Picture, error) {
	st := s.State()
	if !t.Before(st.Live.When) && len(st.Live.Fabric.Nodes) > 0 {
		return st.Live, nil
	}
	held, err := s.entries(ctx)
	if err != nil {
		return nil, err
	}
	seen := seenBy(held, t)
	switch {
	case seen == nil:
		return nil, fmt.Errorf("nothing is in the history of this subnet yet")
	case seen.Began.After(t):
		return nil, fmt.Errorf("the history of this subnet begins at %s", seen.Began.Format(time.DateTime))
	}
	id, err := strconv.ParseInt(string(seen.Picture), 10, 64)
	if err != nil {
		return nil, err
	}
	return s.recall(id)
}

// Beside is the picture that the history has so many before or after another one, nil for the present.
func (s *Session) Beside(ctx context.Context, p *Picture, by int) (*Picture, error) {
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
		return nil, fmt.Errorf("the history of this subnet has nothing before that")
	case at >= len(held)-1:
		return nil, nil
	}
	return s.recall(held[at].ID)
}

// recallAt is [Session.At] of what people say.
func (s *Session) recallAt(t time.Time) (*Picture, error) { return s.At(context.Background(), t) }
