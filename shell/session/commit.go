// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"errors"
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/apply"
	"example.org/ibconsole/history"
	"example.org/ibconsole/internal/base/audit"
	"example.org/ibconsole/routing/changes/diff"
	"example.org/ibconsole/routing/changes/plan"
	"example.org/ibconsole/routing/checks/credits"
	"example.org/ibconsole/routing/checks/mcast"
	"example.org/ibconsole/routing/checks/reach"
	"example.org/ibconsole/shell/session/connection"
	"example.org/ibconsole/shell/session/servicelevels"
	"example.org/ibconsole/shell/session/source"
)

// CommitOptions say how far [Session.Commit] goes.
type CommitOptions struct {
	Yes        bool   // says that the plan was agreed to; without it nothing is written
	DryRun     bool   // only plans, also where writing is off
	Cut        bool   // says that pairs may lose their path that the staged subnet could connect
	Hit        bool   // says that pairs may lose packets that are connected before and after
	Loop       bool   // says that the new routes may have a credit loop that the old have not
	Unanswered bool   // says that what did not answer the sweep may lose its routes
	Others     bool   // says that what others wrote since the staged tables were made may be written over
	Over       bool   // says that what an interrupted commit left may be written over
	Master     uint64 // the GUID of the master subnet manager to write beside, 0 for none
	NoJournal  bool   // writes although nothing could undo it: no history can be kept
	// Planned, where set, is told what is planned before anything is written, also
	// where nothing will be. An error of it keeps everything from being written.
	Planned func(*CommitReport) error

	ending
}

// ending says which commit another one brings to its end, and how.
type ending struct {
	ends   int64 // its number in the journal, 0 for none
	back   bool  // says that the switches get what was there before it, else what it was to write
	before int64 // the entry with what the switches held before it all began, 0 for what they hold now
	note   string
}

// notAsked says which command writes.
func (o *CommitOptions) notAsked() error {
	switch {
	case o.ends == 0:
		return ErrNotAsked
	case o.note == history.ResumedNote:
		return errors.New("nothing was written: say commit resume yes")
	}
	return errors.New("nothing was written: say rollback yes")
}

// CommitReport says what [Session.Commit] planned and did.
type CommitReport struct {
	Plan *plan.Plan
	// CutOff counts the pairs that are connected now and will be lost, Unknown those of which that is unknown.
	// Unconnected are those of the staged subnet that its tables do not connect, Unproved those of which that is
	// unknown.
	CutOff, Unknown       int64
	Unconnected, Unproved int64
	Examples              []diff.Pair          // some of the pairs lost
	Credits               *plan.Credits        // nil where no route changes
	SLs                   *servicelevels.Proof // nil where the routing needs no SLs
	Circling              int                  // counts the multicast groups whose packets would go round for ever
	Unlike                string               // [Picture.Unlike] of what is staged
	Adaptive              int                  // switches that route adaptively by groups that are not written
	Written               *apply.Report        // nil where nothing was written
	Journal               int64                // the number of the history entry with what was written, 0 for none
	// says that this goes on with a commit or a rollback that was interrupted
	Resumes bool
	Others  *Others // what others wrote since the staged tables were made, nil for nothing
	Master  *SM     // the master subnet manager beside which it is, or would be, written
}

// commit is a commit under way: its methods are its steps, in their order.
type commit struct {
	*Session
	opt CommitOptions
	st  State // how things were when the subnet was read for it
	rep CommitReport
}

// SetWrite allows or forbids writing. It fails where the session's options keep the user from it.
func (s *Session) SetWrite(on bool) error {
	if on && !s.conn.Online() {
		return connection.ErrOffline
	}
	if on && s.opt.MayWrite != nil && s.State().Source.Live() {
		if err := s.opt.MayWrite(); err != nil {
			s.audit(audit.Record{Action: "write on"}, err)
			return err
		}
	}
	s.Publish(ChangeSettings, func(st *State) { st.WriteOn = on })
	return nil
}

// Commit reads the live subnet again, plans how it becomes the staged one, and writes that where the options
// and the session allow it. What was written is read back. There is a report with the plan also beside the
// errors that keep it from being written.
func (s *Session) Commit(ctx context.Context, opt CommitOptions) (CommitReport, error) {
	c := &commit{Session: s, opt: opt}
	op, err := s.Begin(ctx, "commit")
	if err != nil {
		c.audited(err)
		return CommitReport{}, err
	}
	defer op.End()
	err = errPanicked
	defer func() { c.audited(err) }()
	rep, rerr := c.run(ctx)
	err = rerr
	return rep, err
}

// run plans, and writes where nothing speaks against it.
func (c *commit) run(ctx context.Context) (CommitReport, error) {
	opt, s := c.opt, c.Session
	if err := c.plan(ctx); err != nil {
		return CommitReport{}, err
	}
	if opt.Planned != nil {
		if err := opt.Planned(&c.rep); err != nil {
			return c.rep, err
		}
	}
	if c.rep.Plan.Empty() {
		s.markWritten()
		if moved(s.wrote.tables, c.st.Live.Tables).Changed > 0 { // else they hold what the last commit wrote
			s.wrote = wrote{}
		}
		return c.rep, c.nothingToWrite(ctx)
	}
	if opt.DryRun {
		return c.rep, nil
	}
	if err := c.allowed(); err != nil {
		return c.rep, err
	}
	if err := c.harmless(); err != nil {
		return c.rep, err
	}
	return c.rep, c.write(ctx)
}

// plan reads the live subnet, plans, and says of the plan whom it hits.
func (c *commit) plan(ctx context.Context) error {
	if err := c.preflight(ctx); err != nil {
		return err
	}
	if err := c.goesOn(ctx); err != nil {
		return err
	}
	if c.opt.before != 0 { // what refuses it says: commit yes, and so on
		c.stopped = stopped{c.st.Staged.Tables, c.opt.ending}
	}
	c.rep.Resumes = c.opt.ends != 0 && !c.opt.back
	return c.judge(ctx)
}

// preflight reads the live subnet and plans.
func (c *commit) preflight(ctx context.Context) (err error) {
	st := c.State()
	switch {
	case !c.conn.Online():
		return connection.ErrOffline
	case st.Staged == nil:
		return ErrNothingStaged
	}
	if err := sweeperOf(c.Session).sweepFor(ctx, st.Staged.Tables); err != nil {
		return err
	}
	st = c.State()
	switch {
	case len(st.Unanswered) > 0 && !c.opt.Unanswered && !c.opt.DryRun:
		return &UnansweredError{st.Unanswered}
	case st.TopologyFile() != "" && !fabric.SameLinks(st.root(), st.Live.Fabric):
		return fmt.Errorf("the paper starts from %s, not from the live subnet (try: restore all; route)",
			st.TopologyFile())
	case st.Base != nil && !fabric.SameLinks(st.Base.Fabric, st.Live.Fabric):
		return ErrMoved
	case st.Added() != "":
		return fmt.Errorf("the paper has what the live subnet has not: %s (once it is cabled: sweep full; restore "+
			"all; route)", st.Added())
	case st.Stale:
		return ErrStale
	}
	c.st = st
	c.rep.Plan, err = plan.Make(ctx, st.Live.Tables, st.Staged.Tables)
	return err
}

// goesOn says how a commit ends an earlier one: as it was told, or where it is to write
// what one of this session did not come to the end of.
func (c *commit) goesOn(ctx context.Context) error {
	if c.opt.ends != 0 || c.stopped.ends == 0 || c.stopped.tables != c.st.Staged.Tables {
		return nil
	}
	open, found, err := commitsOf(c.Session).openCommits(ctx)
	if err == nil && found && open.First.ID == c.stopped.ends { // else another console ended it
		c.opt.ending = c.stopped.ending
	}
	return err
}

// judge says of a plan whom it hits.
func (c *commit) judge(ctx context.Context) (err error) {
	rep, live, staged := &c.rep, c.st.Live.Tables, c.st.Staged.Tables
	rep.Unlike = c.st.Staged.Unlike
	if live := c.st.Live.Tables; live != nil && live.Adaptive != nil {
		rep.Adaptive = live.Adaptive.Enabled()
	}
	if master, ok := c.st.Master(); ok {
		rep.Master = &master
	}
	if err := c.findOthers(ctx); err != nil {
		return err
	}
	if err := c.countCuts(ctx); err != nil {
		return err
	}
	if rep.Credits, err = rep.Plan.CheckCredits(ctx, live, staged); err != nil {
		return err
	}
	if len(rep.Plan.MFTs) > 0 {
		trees, err := mcast.Check(ctx, staged, fabric.GroupsOf(staged), nil)
		if err != nil {
			return err
		}
		rep.Circling = trees.Cycles
	}
	if !rep.Plan.Empty() {
		rep.SLs, err = servicelevels.Prove(ctx, c.conn, live, staged, rep.Master != nil, c.progress)
	}
	return err
}

func (c *commit) countCuts(ctx context.Context) error {
	r, live, staged := &c.rep, c.st.Live.Tables, c.st.Staged.Tables
	if r.Plan.Empty() {
		return nil
	}
	d, err := c.analysis.Diff(ctx, live, staged, diff.Options{})
	if err != nil {
		return err
	}
	if r.CutOff, r.Unknown, r.Examples = d.Pairs.Lost, d.Pairs.Unknown, d.Lost; r.CutOff == 0 {
		return nil
	}
	own, err := c.analysis.Reach(ctx, staged, reach.Options{})
	if err == nil {
		within := int64(own.Ends - own.UnreachableEnds)
		r.Unconnected, r.Unproved = own.LostPairs-(own.Pairs-within*(within-1)), own.UnknownPairs
	}
	return err
}

// allowed says why a plan may not be written, nil if it may.
func (c *commit) allowed() error {
	st, opt := &c.st, &c.opt
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
		return opt.notAsked()
	}
	return nil
}

// harmless says why what is planned may not be written unless it is asked for, nil if it may.
func (c *commit) harmless() error {
	r, opt := &c.rep, &c.opt
	switch {
	case r.Others != nil && r.Others.Count > r.Others.Told && !opt.Others:
		return c.othersStop()
	case r.CutOff > 0 && r.Unconnected+r.Unproved > 0 && !opt.Cut:
		return &CutError{r.CutOff, r.Unconnected == 0}
	case !r.Plan.Hit.None() && !opt.Hit:
		return &HitError{r.Plan.Hit.Pairs(), r.Plan.Hit.Unknown, len(r.Plan.Hit.Groups)}
	case r.Circling > 0 && !opt.Hit:
		return &CirclingError{r.Circling}
	case r.Credits.AddsLoop() && !opt.Loop && !opt.back:
		return &LoopError{len(r.Credits.Ring), r.Credits.Fabric.PortName(r.Credits.Ring[0].From.Port),
			r.Credits.New == credits.Unknown}
	case r.SLs != nil && !r.SLs.Safe():
		return &servicelevels.Error{Proof: *r.SLs}
	}
	return nil
}

// write writes the plan, with the journal around it, and reads the subnet again.
func (c *commit) write(ctx context.Context) error {
	journal, err := c.beginJournal(ctx)
	if err != nil {
		return err
	}
	noted := false
	defer func() {
		if !noted { // a panic
			_, _, _ = journal.end(false, 1)
			_ = commitsOf(c.Session).lookForInterrupted(context.WithoutCancel(ctx))
		}
	}()
	rep, st, p := &c.rep, &c.st, c.rep.Plan
	rep.Journal = journal.entry.After
	rep.Written, err = apply.Apply(ctx, c.conn.Client(), st.Live.Fabric, &p.List,
		apply.Options{Progress: c.progress, Writing: c.writing, Over: c.opt.Others})
	if len(p.SL2VLs) > 0 && st.Source.Kind == source.Sim {
		c.reads.SL2VL = true // else they count as untouched
	}
	done := err == nil
	c.Publish(ChangeStaged, func(st *State) { st.holds(c.st.Staged, done) })
	if errors.Is(err, apply.ErrOthers) {
		err = c.othersCame(ctx, err)
	}
	if done {
		c.markWritten()
		c.Publish(ChangeLive, func(st *State) { st.Committed, st.Drift, st.Unchecked = c.st.Staged, 0, 0 })
	}
	if c.rep.Written != nil && c.rep.Written.Sets > 0 {
		c.wrote = c.wroteBy(journal.entry.ID, c.rep.Written)
	}
	err = c.endJournal(ctx, journal, err)
	noted = true
	if serr := sweeperOf(c.Session).sweepFor(context.WithoutCancel(ctx), st.Staged.Tables); err == nil {
		err = serr
	}
	if found := c.wrote.over(c.State().Live.Tables); err == nil && found.Count > 0 {
		err = &SinceError{found}
	}
	return err
}

// writing says what is being written.
func (s *Session) writing(p apply.Progress) {
	s.Publish(ChangeBusy, func(st *State) { st.Writing = &p })
}

func (s *Session) markWritten() { s.Publish(ChangeStaged, func(st *State) { st.Written = true }) }
