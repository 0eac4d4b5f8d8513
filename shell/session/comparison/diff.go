// SPDX-License-Identifier: Apache-2.0

package comparison

import (
	"context"
	"fmt"

	"example.org/ibconsole/routing/changes/diff"
	"example.org/ibconsole/routing/compute"
	"example.org/ibconsole/shell/session"
)

// Difference holds two states and the differences between them.
type Difference struct {
	Before, After *session.Picture
	*diff.Result
}

// Diff compares two states with tables. The default of the first state is the base of the what-if, or the live state if
// there is no what-if. The default of the second state is the state that reading commands use. The argument pairs is
// the maximum number of listed pairs of each kind; 0 means the default of [diff.Compare].
func Diff(ctx context.Context, s *session.Session, from, to session.Kind, pairs int) (*Difference, error) {
	op, err := s.Begin(ctx, "diff")
	if err != nil {
		return nil, err
	}
	defer op.End()
	st := s.State()
	base := st.PaperBase()
	if from == "" && base.Tables == nil && st.Staged != nil {
		return diffWithRouted(ctx, s, op, &st, base, to, pairs)
	}
	before, after, err := Pair(s, from, to)
	if err != nil {
		return nil, err
	}
	res, err := s.Analysis().Diff(ctx, before.Tables, after.Tables,
		diff.Options{Examples: pairs, Progress: op.Progress})
	if err != nil {
		return nil, err
	}
	named := *res
	named.Old, named.New = st.Title(before), st.Title(after)
	return &Difference{before, after, &named}, nil
}

// diffWithRouted compares a state with the tables that the engine computes for a base without tables, such as a
// topology file.
func diffWithRouted(ctx context.Context, s *session.Session, op *session.Op, st *session.State, base *session.Picture,
	to session.Kind, pairs int) (*Difference, error) {
	_, after, err := Pair(s, session.Staged, to)
	if err != nil {
		return nil, err
	}
	job := s.Job(&session.State{Pictures: session.Pictures{Live: base}, Settings: st.Settings})
	job.Keep = compute.KeepNo
	before, err := compute.Unicast(ctx, job)
	if err != nil {
		return nil, fmt.Errorf("route the base state for the comparison: %w", err)
	}
	res, err := diff.Compare(ctx, before.Tables, after.Tables, diff.Options{Examples: pairs, Progress: op.Progress})
	if err != nil {
		return nil, err
	}
	res.Old, res.New = fmt.Sprintf("%s (routed by %s for the comparison)", base.Kind, before.Figures.Engine),
		st.Title(after)
	routed := *base
	routed.Fabric, routed.Tables = before.Tables.Fabric, before.Tables
	return &Difference{&routed, after, res}, nil
}

// Pair returns the two states that [Diff] compares.
func Pair(s *session.Session, from, to session.Kind) (before, after *session.Picture, err error) {
	st := s.State()
	if from == "" {
		from = session.Live
		if st.Base != nil {
			from = session.Base
		}
	}
	if before, err = st.TablesOf(from); err != nil {
		return nil, nil, err
	}
	after, err = st.FreshTablesOf(to)
	return before, after, err
}
