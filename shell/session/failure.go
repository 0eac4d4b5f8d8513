// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/failures"
	"example.org/ibconsole/fabric/formats/unread"
	"example.org/ibconsole/routing/compute"
)

// Fail simulates the failure of the links and nodes that find returns.
func (s *Session) Fail(ctx context.Context, find failures.Finder) ([]failures.Failure, error) {
	return simulatorOf(s).happen(ctx, "fail", find)
}

// Add simulates the additions and moves that find returns.
func (s *Session) Add(ctx context.Context, find failures.Finder) ([]failures.Failure, error) {
	return simulatorOf(s).happen(ctx, "add", find)
}

// simulator changes the simulated failures and additions of a session.
type simulator struct{ *Session }

func simulatorOf(s *Session) simulator { return simulator{s} }

func (s simulator) happen(ctx context.Context, operation string, find failures.Finder) ([]failures.Failure, error) {
	op, err := s.Begin(ctx, operation)
	if err != nil {
		return nil, err
	}
	defer op.End()
	st := s.State()
	found, err := find(st.Paper(), st.Whole())
	if err != nil {
		return nil, err
	}
	return s.add(st.Failures, found...)
}

// add gives numbers to new failures, and simulates them together with the existing failures of a simulation.
func (s simulator) add(to []failures.Failure, more ...failures.Failure) ([]failures.Failure, error) {
	next := 0
	if len(to) > 0 {
		next = s.State().lastFailure
	}
	for i := range more {
		next++
		more[i].Number = next
	}
	err := s.setFailures(append(slices.Clone(to), more...))
	if conflict, ok := errors.AsType[*failures.ConflictError](err); ok && conflict.Of.Number > s.State().lastFailure {
		return nil, errors.New(conflict.Why)
	}
	if err != nil {
		return nil, err
	}
	s.Publish(0, func(st *State) { st.lastFailure = next })
	return more, nil
}

// ErrNotFailed is returned if a link or node to restore has not failed in the what-if.
var ErrNotFailed = errors.New("has not failed in the what-if")

// Restore undoes the failures for which match returns true. If the function match is nil, it undoes all failures and
// drops a topology loaded as the base, so that routes are computed for the live state again. If no failure matches, it
// repairs the links in the argument repair that failed as parts of a larger failure. The rest of that failure remains.
func (s *Session) Restore(ctx context.Context, match func(failures.Failure) bool,
	repair failures.Failure) ([]failures.Failure, error) {
	op, err := s.Begin(ctx, "restore")
	if err != nil {
		return nil, err
	}
	defer op.End()
	st := s.State()
	if match == nil {
		s.Publish(ChangePaper|ChangeStaged, func(st *State) {
			st.Failures, st.past = nil, compute.Past{}
			st.dropBase()
			st.Stale = st.stale()
		})
		return st.Failures, nil
	}
	gone, kept := failures.Split(st.Failures, match)
	if len(gone) > 0 {
		return gone, simulatorOf(s).without(kept)
	}
	failed := st.FailedLinks()
	repair.Repair = true
	repair.Links = slices.DeleteFunc(slices.Clone(repair.Links), func(l fabric.Link) bool { return !failed[l] })
	if len(repair.Links) == 0 {
		return nil, ErrNotFailed
	}
	return simulatorOf(s).add(st.Failures, repair)
}

// Undo removes the failure or repair with a number, as if it had never happened; 0 means the last one. The next route
// starts from the base again.
func (s *Session) Undo(ctx context.Context, number int) (failures.Failure, error) {
	op, err := s.Begin(ctx, "undo")
	if err != nil {
		return failures.Failure{}, err
	}
	defer op.End()
	st := s.State()
	if number == 0 && len(st.Failures) > 0 {
		number = st.Failures[len(st.Failures)-1].Number
	}
	gone, kept := failures.Split(st.Failures, func(f failures.Failure) bool { return f.Number == number })
	switch {
	case len(gone) == 0 && number == 0:
		return failures.Failure{}, errors.New("nothing has failed in the what-if")
	case len(gone) == 0:
		return failures.Failure{}, fmt.Errorf("number %d %w; hint: 'show failures' lists the numbers", number,
			ErrNotFailed)
	}
	if err := simulatorOf(s).without(kept); err != nil {
		return gone[0], err
	}
	s.Publish(0, func(st *State) { st.past = compute.Past{} })
	return gone[0], nil
}

// without drops all simulated changes except the given changes.
func (s simulator) without(kept []failures.Failure) error {
	err := s.setFailures(kept)
	if conflict, ok := errors.AsType[*failures.ConflictError](err); ok {
		return fmt.Errorf("is needed by %w; hint: run 'undo %d' first", err, conflict.Of.Number)
	}
	return err
}

// drawn holds the topology of the what-if, and the result of its simulated failures.
type drawn struct {
	// topology is the topology that was loaded from a file and replaces that of the base, or nil. The field file is the
	// escaped name of the file.
	topology *fabric.Fabric
	file     string
	// path is the topology file that the what-if starts from, or "". The field loaded holds the options with which the
	// file was read.
	path   string
	loaded LoadOptions
	// unread is what could not be read of it.
	unread unread.List
	// result is the fabric after the simulated changes, or nil if there are none.
	result *failures.Simulation
}

// rename gives nodes other names.
func (d *drawn) rename(to func(*fabric.Fabric) *fabric.Fabric) {
	if d.topology != nil {
		d.topology = to(d.topology)
	}
	if p := d.result; p != nil {
		d.result = &failures.Simulation{Whole: to(p.Whole), Now: to(p.Now), Failed: p.Failed}
	}
}

// Whole returns the fabric of the what-if including all additions, but without failures.
func (ps *Pictures) Whole() *fabric.Fabric {
	if p := ps.happened(); p != nil {
		return p.Whole
	}
	return ps.root()
}

// root returns the fabric of the what-if without simulated changes.
func (ps *Pictures) root() *fabric.Fabric {
	if ps.drawn.topology != nil {
		return ps.drawn.topology
	}
	return ps.PaperBase().Fabric
}

// TopologyFile returns the name of the file with the topology of the what-if, or "" if there is none.
func (ps *Pictures) TopologyFile() string {
	if ps.Base != nil && ps.Base.file != "" {
		return ps.Base.file
	}
	return ps.drawn.file
}

// TopologyUnread returns the parts of the topology file of the what-if that could not be read.
func (ps *Pictures) TopologyUnread() *unread.List { return &ps.drawn.unread }

// LoadedTopology returns the file that the what-if starts from, or "", and the options with which the file was read.
func (ps *Pictures) LoadedTopology() (path string, opt LoadOptions) {
	return ps.drawn.path, ps.drawn.loaded
}

// FailedLinks returns the links of [State.Whole] that failed.
func (ps *Pictures) FailedLinks() map[fabric.Link]bool {
	if p := ps.happened(); p != nil {
		return p.Failed
	}
	return nil
}

// happened returns the fabric after the simulated changes, or nil if there are none.
func (ps *Pictures) happened() *failures.Simulation {
	if ps.drawn.result == nil && len(ps.Failures) > 0 {
		p, _ := failures.Apply(ps.root(), ps.Failures) // nil if they contradict each other
		return p
	}
	return ps.drawn.result
}

// Added returns a text with an addition of the what-if, something that its base does not have. It returns "" if nothing
// was added.
func (ps *Pictures) Added() string {
	if ps.drawn.topology != nil {
		for _, c := range fabric.Changes(ps.Base.Fabric, ps.drawn.topology) {
			if c.Kind == fabric.NodeNew || c.Kind == fabric.LinkUp {
				return "the topology of " + ps.drawn.file
			}
		}
	}
	if i := slices.IndexFunc(ps.Failures, func(f failures.Failure) bool { return f.Added }); i >= 0 {
		return ps.Failures[i].What + " " + ps.Failures[i].Name
	}
	return ""
}

const maxSimulated = 3 // how many failures [State.simulated] lists

// simulated lists the simulated changes of the fabric that routes are computed for: "topology of F, switch spine-01
// failed, node h added and 2 more". It returns "" if there are none.
func (ps *Pictures) simulated() string {
	if ps.WhatIf == nil {
		return ""
	}
	var words []string
	if file := ps.TopologyFile(); file != "" {
		words = append(words, "topology of "+file)
	}
	for i := range ps.Failures[:min(len(ps.Failures), maxSimulated)] {
		f := &ps.Failures[i]
		words = append(words, fmt.Sprintf("%s %s %s", f.What, f.Name, f.Verb()))
	}
	text := strings.Join(words, ", ")
	if more := len(ps.Failures) - maxSimulated; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// setFailures computes the what-if that results from the base and all simulated changes.
func (s simulator) setFailures(all []failures.Failure) error {
	st := s.State()
	if st.Base == nil {
		st.Base = firstBase(&st)
	}
	base := st.Base
	result, err := failures.Apply(st.root(), all)
	if err != nil {
		return err
	}
	whatIf := base.On(result.Now).as(WhatIf)
	s.Publish(ChangePaper|ChangeStaged, func(st *State) {
		st.Base, st.WhatIf, st.Failures, st.drawn.result = base, whatIf, all, result
		if len(all) == 0 && st.drawn.topology == nil && fabric.SameLinks(base.Fabric, st.Live.Fabric) {
			st.dropBase()
		}
		if st.Staged != nil && st.WhatIf != nil && st.groupsAlone() {
			st.Staged = nil // the base has them
		}
		st.Stale = st.stale()
	})
	return nil
}

// dropBase ends the what-if, so that the live state is routed again.
func (ps *Pictures) dropBase() {
	if b := ps.Base; b != nil && b.Tables != nil && ps.Live.Tables == nil &&
		fabric.SameLinks(b.Fabric, ps.Live.Fabric) {
		ps.lastBase = b
	}
	ps.Base, ps.WhatIf, ps.drawn = nil, nil, drawn{}
}

// firstBase returns the state that a new what-if starts from. This is the live state. If the source has no tables, it
// is the staged state of the same fabric, otherwise the previous base, so that there are tables to compare with.
func firstBase(st *State) *Picture {
	from := st.Live
	switch {
	case st.Live.Tables != nil:
	case st.Staged != nil && !st.Stale:
		from = st.Staged
	case st.lastBase != nil:
		from = st.lastBase
	}
	base := from.as(Base)
	base.heldOn = holding(st.Live.Tables)
	if st.Adapting && st.Staged != nil && !st.Stale && base.Tables != nil &&
		fabric.KeepsLIDs(base.Fabric, st.Staged.Fabric) {
		with := *base.Tables
		with.Adaptive = st.Staged.Tables.Adaptive
		base.Tables = &with
	}
	return base
}
