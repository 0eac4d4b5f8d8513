// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"fmt"

	"example.org/ibconsole/routing/changes/diff"
	"example.org/ibconsole/routing/compute"
)

// Comparison is what differs between two pictures.
type Comparison struct {
	Before, After *Picture
	*diff.Result
}

// Diff compares two pictures that have tables. The names default to the base of
// the paper, or the live picture, and to the picture that reading commands take.
// So many pairs of a kind are named, as many as [diff.Compare] likes for 0.
func (s *Session) Diff(ctx context.Context, from, to Kind, pairs int) (*Comparison, error) {
	op, err := s.Begin(ctx, "diff")
	if err != nil {
		return nil, err
	}
	defer op.End()
	st := s.State()
	base := st.PaperBase()
	if from == "" && base.Tables == nil && st.Staged != nil {
		return s.diffWithRouted(ctx, &st, base, to, pairs)
	}
	before, after, err := s.Pair(from, to)
	if err != nil {
		return nil, err
	}
	res, err := s.analysis.Diff(ctx, before.Tables, after.Tables, diff.Options{Examples: pairs, Progress: s.progress})
	if err != nil {
		return nil, err
	}
	named := *res
	named.Old, named.New = st.Title(before), st.Title(after)
	return &Comparison{before, after, &named}, nil
}

// diffWithRouted compares with what the engine makes of a base that has no tables of its own, as that of a file.
func (s *Session) diffWithRouted(ctx context.Context, st *State, base *Picture, to Kind, pairs int) (*Comparison, error) {
	_, after, err := s.Pair(Staged, to)
	if err != nil {
		return nil, err
	}
	job := s.Job(&State{Live: base, Settings: st.Settings})
	job.Keep = compute.KeepNo
	before, err := compute.Unicast(ctx, job)
	if err != nil {
		return nil, fmt.Errorf("route the base, to compare with: %w", err)
	}
	res, err := diff.Compare(ctx, before.Tables, after.Tables, diff.Options{Examples: pairs, Progress: s.progress})
	if err != nil {
		return nil, err
	}
	res.Old, res.New = fmt.Sprintf("%s (routed by %s to compare with)", base.Kind, before.Figures.Engine), st.Title(after)
	routed := *base
	routed.Fabric, routed.Tables = before.Tables.Fabric, before.Tables
	return &Comparison{&routed, after, res}, nil
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
	after, err = st.FreshTablesOf(to)
	return before, after, err
}
