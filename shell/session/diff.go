// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"

	"example.org/ibconsole/routing/diff"
)

// Diff compares two pictures that have tables. The names default to the base of
// the paper, or the live picture, and to the picture that reading commands take.
func (s *Session) Diff(ctx context.Context, from, to Kind) (*diff.Result, error) {
	end, err := s.begin(ctx, "diff")
	if err != nil {
		return nil, err
	}
	defer end()
	before, after, err := s.Pair(from, to)
	if err != nil {
		return nil, err
	}
	res, err := diff.Compare(ctx, before.Tables, after.Tables, diff.Options{Progress: s.progress})
	if err != nil {
		return nil, err
	}
	st := s.State()
	res.Old, res.New = st.Title(before), st.Title(after)
	return res, nil
}

// Pair returns the two pictures that [Session.Diff] compares.
func (s *Session) Pair(from, to Kind) (before, after *Picture, err error) {
	st := s.State()
	if from == "" {
		from = Live
		if st.Base != nil {
			from = Base
		}
	}
	if before, err = st.TablesOf(from); err != nil {
		return nil, nil, err
	}
	after, err = st.TablesOf(to)
	return before, after, err
}
