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

// Fail lets what is found fail on paper.
func (s *Session) Fail(ctx context.Context, find failures.Finder) ([]failures.Failure, error) {
	return simulatorOf(s).happen(ctx, "fail", find)
}

// Add lets what is found be added or moved on paper.
func (s *Session) Add(ctx context.Context, find failures.Finder) ([]failures.Failure, error) {
	return simulatorOf(s).happen(ctx, "add", find)
}

// simulator changes what a session simulates.
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

// add numbers failures and puts them behind others.
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

// ErrNotFailed reports that a link or node to restore has not failed in the what-if.
var ErrNotFailed = errors.New("has not failed in the what-if")

// Restore takes back the failures that match, and with nil all of them and any topology loaded as the base, so that the
// live picture is what routes are computed for again. Where none match, but links that failed with something else, they
// are repaired: what they failed with stays failed otherwise.
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

// Undo takes back the failure or repair of a number, the last one for 0, as if it had
// never been: the next route starts from the base again.
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
		return failures.Failure{}, fmt.Errorf("number %d %w (show failures lists them)", number, ErrNotFailed)
	}
	if err := simulatorOf(s).without(kept); err != nil {
		return gone[0], err
	}
	s.Publish(0, func(st *State) { st.past = compute.Past{} })
	return gone[0], nil
}

// without leaves only some of what happened on paper.
func (s simulator) without(kept []failures.Failure) error {
	err := s.setFailures(kept)
	if conflict, ok := errors.AsType[*failures.ConflictError](err); ok {
		return fmt.Errorf("is needed by %w (undo %d first)", err, conflict.Of.Number)
	}
	return err
}

// drawn is what the paper is beside its failures.
type drawn struct {
	// topology is what a file has in the place of the base, nil for none, and file its name, escaped.
	topology *fabric.Fabric
	file     string
	// path is the topology file that the paper starts from, "" for none, and loaded how it was read.
	path   string
	loaded LoadOptions
	// unread is what could not be read of it.
	unread unread.List
	// paper is what became of it, nil where nothing has happened.
	paper *failures.Simulation
}

// rename gives nodes other names.
func (d *drawn) rename(to func(*fabric.Fabric) *fabric.Fabric) {
	if d.topology != nil {
		d.topology = to(d.topology)
	}
	if p := d.paper; p != nil {
		d.paper = &failures.Simulation{Whole: to(p.Whole), Now: to(p.Now), Failed: p.Failed}
	}
}

// Whole is the paper with all that was added, as if nothing had failed.
func (ps *Pictures) Whole() *fabric.Fabric {
	if p := ps.happened(); p != nil {
		return p.Whole
	}
	return ps.root()
}

// root is the paper before anything happened.
func (ps *Pictures) root() *fabric.Fabric {
	if ps.drawn.topology != nil {
		return ps.drawn.topology
	}
	return ps.PaperBase().Fabric
}

// TopologyFile is the file whose topology the paper has, "" for none.
func (ps *Pictures) TopologyFile() string {
	if ps.Base != nil && ps.Base.file != "" {
		return ps.Base.file
	}
	return ps.drawn.file
}

// TopologyUnread returns what could not be read of the topology file of the what-if.
func (ps *Pictures) TopologyUnread() *unread.List { return &ps.drawn.unread }

// LoadedTopology returns the file that the paper starts from and how it was read, "" for none.
func (ps *Pictures) LoadedTopology() (path string, opt LoadOptions) {
	return ps.drawn.path, ps.drawn.loaded
}

// FailedLinks are the links of [State.Whole] that do not work on paper.
func (ps *Pictures) FailedLinks() map[fabric.Link]bool {
	if p := ps.happened(); p != nil {
		return p.Failed
	}
	return nil
}

// happened is what became of the paper, nil where nothing has happened.
func (ps *Pictures) happened() *failures.Simulation {
	if ps.drawn.paper == nil && len(ps.Failures) > 0 {
		p, _ := failures.Apply(ps.root(), ps.Failures) // nil where they contradict each other
		return p
	}
	return ps.drawn.paper
}

// Added says what the paper has that its base has not, in words, "" for nothing.
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

// simulated lists what is simulated in the fabric that routes are computed for, "" for nothing:
// "topology of F, switch spine-01 failed, node h added and 2 more".
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

// setFailures makes the what-if of the base and what happens to it.
func (s simulator) setFailures(all []failures.Failure) error {
	st := s.State()
	if st.Base == nil {
		st.Base = firstBase(&st)
	}
	base := st.Base
	paper, err := failures.Apply(st.root(), all)
	if err != nil {
		return err
	}
	whatIf := base.On(paper.Now).as(WhatIf)
	s.Publish(ChangePaper|ChangeStaged, func(st *State) {
		st.Base, st.WhatIf, st.Failures, st.drawn.paper = base, whatIf, all, paper
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

// dropBase makes the paper the live picture again.
func (ps *Pictures) dropBase() {
	if b := ps.Base; b != nil && b.Tables != nil && ps.Live.Tables == nil &&
		fabric.SameLinks(b.Fabric, ps.Live.Fabric) {
		ps.lastBase = b
	}
	ps.Base, ps.WhatIf, ps.drawn = nil, nil, drawn{}
}

// firstBase is the picture that the paper starts from: the live one. Of a source without tables of its own,
// it takes the tables that are staged for the same fabric, or else those that the paper started from before,
// so that there is something to compare with.
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
