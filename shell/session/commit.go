// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"errors"
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/apply"
	"example.org/ibconsole/routing/plan"
)

// Errors of [Session.Commit].
var (
	ErrNothingStaged = errors.New("nothing is staged (try: route)")
	ErrStale         = errors.New("the fabric changed since the staged tables were made (try: route)")
	ErrMoved         = errors.New("the live subnet is no longer the one that the paper started from (try: restore all)")
	ErrReadOnly      = errors.New("the session is read-only (try: write on)")
	ErrNotAsked      = errors.New("nothing was written: say commit yes")
)

// MasterError says that another subnet manager is in charge.
type MasterError struct {
	SM SM
	// Asked is the GUID that the caller took for the master's, 0 for none.
	Asked uint64
}

func (e *MasterError) Error() string {
	if e.Asked != 0 {
		return fmt.Sprintf("0x%016x is not the master subnet manager; that is 0x%016x on %s", e.Asked, e.SM.GUID, e.SM.Port)
	}
	return fmt.Sprintf("a %s subnet manager, 0x%016x on %s, owns this subnet. OpenSM does not read tables back and sends only "+
		"blocks that differ from its own copy, so a later re-route of its would leave a mixture of its tables and these. "+
		"To write all the same: commit yes sm=0x%016x", e.SM.State, e.SM.GUID, e.SM.Port, e.SM.GUID)
}

// CommitOptions say how far [Session.Commit] goes.
type CommitOptions struct {
	// Yes says that the plan was agreed to; without it nothing is written.
	Yes bool
	// DryRun only plans, also where writing is off.
	DryRun bool
	// Master is the GUID of the master subnet manager to write beside, 0 for none.
	Master uint64
}

// CommitReport says what [Session.Commit] planned and did.
type CommitReport struct {
	Plan *plan.Plan
	// Written is nil where nothing was written.
	Written *apply.Report
	// Master is the master subnet manager beside which it is, or would be, written.
	Master *SM
}

// SetWrite allows or forbids writing.
func (s *Session) SetWrite(on bool) error {
	if on && s.client == nil {
		return ErrOffline
	}
	s.update(ChangeSettings, func(st *State) { st.WriteOn = on })
	return nil
}

// Commit reads the live subnet again, plans how it becomes the staged one, and
// writes that where the options and the session allow it. What was written is
// read back. There is a report with the plan also beside the errors that keep it
// from being written.
func (s *Session) Commit(ctx context.Context, opt CommitOptions) (CommitReport, error) {
	end, err := s.begin(ctx, "commit")
	if err != nil {
		return CommitReport{}, err
	}
	defer end()
	p, err := s.preflight(ctx)
	if err != nil {
		return CommitReport{}, err
	}
	rep := CommitReport{Plan: p}
	st := s.State()
	if master, ok := st.Master(); ok {
		rep.Master = &master
	}
	if p.Empty() {
		s.markWritten()
	}
	if p.Empty() || opt.DryRun {
		return rep, nil
	}
	if err := allowed(&st, opt); err != nil {
		return rep, err
	}
	rep.Written, err = apply.Apply(ctx, s.client, st.Live.Fabric, writes(p), apply.Options{Progress: s.progress})
	if err == nil {
		s.markWritten()
	}
	if _, serr := s.sweep(context.WithoutCancel(ctx)); err == nil {
		err = serr
	}
	return rep, err
}

func (s *Session) markWritten() {
	s.update(ChangeStaged, func(st *State) { st.Written = true })
}

// preflight reads the live subnet and plans.
func (s *Session) preflight(ctx context.Context) (*plan.Plan, error) {
	st := s.State()
	switch {
	case s.client == nil:
		return nil, ErrOffline
	case st.Staged == nil:
		return nil, ErrNothingStaged
	}
	if _, err := s.sweep(ctx); err != nil {
		return nil, err
	}
	st = s.State()
	switch {
	case st.Base != nil && !fabric.SameLinks(st.Base.Fabric, st.Live.Fabric):
		return nil, ErrMoved
	case st.Stale:
		return nil, ErrStale
	}
	return plan.Make(st.Live.Tables, st.Staged.Tables)
}

// allowed says why a plan may not be written, nil if it may.
func allowed(st *State, opt CommitOptions) error {
	if !st.WriteOn {
		return ErrReadOnly
	}
	master, ok := st.Master()
	switch {
	case ok && master.GUID != opt.Master:
		return &MasterError{SM: master, Asked: opt.Master}
	case !ok && opt.Master != 0:
		return fmt.Errorf("no master subnet manager was seen, so 0x%016x is none", opt.Master)
	case !opt.Yes:
		return ErrNotAsked
	}
	return nil
}

// writes puts a plan into the words of the package that carries it out.
func writes(p *plan.Plan) *apply.Writes {
	w := &apply.Writes{}
	for _, l := range p.LIDs {
		w.LIDs = append(w.LIDs, apply.LID{Port: l.Port, LID: l.New, SMLID: l.NewSM, LMC: l.NewLMC})
	}
	for _, t := range p.Tops {
		w.Tops = append(w.Tops, apply.Top{Switch: t.Switch, Top: t.New})
	}
	for _, b := range p.Blocks {
		w.Blocks = append(w.Blocks, apply.Block{Switch: b.Switch, Num: b.Num, Ports: *b.New})
	}
	for _, st := range p.States {
		w.States = append(w.States, apply.State{Port: st.Port, State: st.New})
	}
	return w
}
