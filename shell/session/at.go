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
)

// entries returns the history entries that the switches held, the oldest first.
func (s *Session) entries(ctx context.Context) ([]history.Entry, error) {
	store, err := s.History()
	if err != nil {
		return nil, err
	}
	held, _, err := timeline.Entries(ctx, store, s.Subnet())
	return held, err
}

// At returns the subnet as it was last read before a time: the live state or one of the history. It fails if nothing
// was read before.
func (s *Session) At(ctx context.Context, t time.Time) (*Picture, error) {
	st := s.State()
	if !t.Before(st.Live.When) && len(st.Live.Fabric.Nodes) > 0 {
		return st.Live, nil
	}
	held, err := s.entries(ctx)
	if err != nil {
		return nil, err
	}
	seen := timeline.SeenBy(held, t)
	switch {
	case seen == nil:
		return nil, fmt.Errorf("the history of this subnet is empty")
	case seen.Began.After(t):
		return nil, fmt.Errorf("the history of this subnet begins at %s", seen.Began.Format(time.DateTime))
	}
	return s.recall(seen.Entry)
}

// Neighbor returns the state of the history that is by entries after another one, or before it if by is negative; nil
// for the live state.
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
		return nil, fmt.Errorf("the history of this subnet has nothing before that")
	case at >= len(held)-1:
		return nil, nil
	}
	return s.recall(held[at].ID)
}

// recallAt is [Session.At] for a time that a user gave.
func (s *Session) recallAt(t time.Time) (*Picture, error) { return s.At(context.Background(), t) }
