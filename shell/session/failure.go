// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/failures"
	"example.org/ibconsole/routing/compute"
)

// Fail lets what is found fail on paper.
func (s *Session) Fail(ctx context.Context, find failures.Finder) ([]failures.Failure, error) {
	end, err := s.begin(ctx, "fail")
	if err != nil {
		return nil, err
	}
	defer end()
	st := s.State()
	found, err := find(st.Paper(), st.paperBase().Fabric)
	if err != nil {
		return nil, err
	}
	return s.add(st.Failures, found...), nil
}

// add numbers failures and puts them behind others.
func (s *Session) add(to []failures.Failure, more ...failures.Failure) []failures.Failure {
	next := 0
	if len(to) > 0 {
		next = s.State().lastFailure
	}
	for i := range more {
		next++
		more[i].Number = next
	}
	s.update(0, func(st *State) { st.lastFailure = next })
	s.setFailures(append(slices.Clone(to), more...))
	return more
}

// ErrNotFailed says that what should be restored has not failed on paper.
var ErrNotFailed = errors.New("has not failed on paper")

// Restore takes back the failures that match. Where there are none, but links that failed with something
// else, they are repaired: what they failed with stays failed otherwise.
func (s *Session) Restore(ctx context.Context, match func(failures.Failure) bool, repair failures.Failure) ([]failures.Failure, error) {
	end, err := s.begin(ctx, "restore")
	if err != nil {
		return nil, err
	}
	defer end()
	st := s.State()
	gone, kept := failures.Split(st.Failures, match)
	if len(gone) > 0 {
		s.setFailures(kept)
		return gone, nil
	}
	failed := failures.Failed(st.Failures)
	repair.Repair = true
	repair.Links = slices.DeleteFunc(slices.Clone(repair.Links), func(l fabric.Link) bool { return !failed[l] })
	if len(repair.Links) == 0 {
		return nil, ErrNotFailed
	}
	return s.add(st.Failures, repair), nil
}

// Undo takes back the failure or repair of a number, the last one for 0, as if it had
// never been: the next route starts from the base again.
func (s *Session) Undo(ctx context.Context, number int) (failures.Failure, error) {
	end, err := s.begin(ctx, "undo")
	if err != nil {
		return failures.Failure{}, err
	}
	defer end()
	st := s.State()
	if number == 0 && len(st.Failures) > 0 {
		number = st.Failures[len(st.Failures)-1].Number
	}
	gone, kept := failures.Split(st.Failures, func(f failures.Failure) bool { return f.Number == number })
	switch {
	case len(gone) == 0 && number == 0:
		return failures.Failure{}, errors.New("nothing has failed on paper")
	case len(gone) == 0:
		return failures.Failure{}, fmt.Errorf("number %d %w (show failures lists them)", number, ErrNotFailed)
	}
	s.update(0, func(st *State) { st.past = compute.Past{} })
	s.setFailures(kept)
	return gone[0], nil
}

// RestoreAll takes back all failures and any topology loaded as the base, so
// that the live picture is what routes are computed for again.
func (s *Session) RestoreAll(ctx context.Context) ([]failures.Failure, error) {
	end, err := s.begin(ctx, "restore")
	if err != nil {
		return nil, err
	}
	defer end()
	st := s.State()
	s.update(ChangePaper|ChangeStaged, func(st *State) {
		st.Failures, st.WhatIf, st.Base, st.past = nil, nil, nil, compute.Past{}
		st.Stale = st.stale()
	})
	return st.Failures, nil
}

// FailedLinks are the links of the base that do not work on paper.
func (st *State) FailedLinks() map[fabric.Link]bool { return failures.Failed(st.Failures) }

// setFailures makes the what-if of the base and these failures.
func (s *Session) setFailures(all []failures.Failure) {
	s.update(ChangePaper|ChangeStaged, func(st *State) {
		if st.Base == nil {
			st.Base = firstBase(st)
			st.Base.heldOn = holding(st.Live.Tables)
		}
		st.Failures = all
		links := slices.Collect(maps.Keys(failures.Failed(all)))
		st.WhatIf = st.Base.on(st.Base.Fabric.Without(links)).as(WhatIf)
		if len(all) == 0 && fabric.SameLinks(st.Base.Fabric, st.Live.Fabric) {
			st.WhatIf, st.Base = nil, nil
		}
		st.Stale = st.stale()
	})
}

// firstBase is the picture that the paper starts from: the live one. Of a source without tables of its own,
// it takes the tables that are staged for the same fabric, so that there is something to compare with.
func firstBase(st *State) *Picture {
	if st.Live.Tables == nil && st.Staged != nil && !st.Stale {
		return st.Staged.as(Base)
	}
	return st.Live.as(Base)
}
