// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"errors"
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/apply"
	"example.org/ibconsole/history"
	"example.org/ibconsole/internal/prose"
	"example.org/ibconsole/routing/changes/diff"
	"example.org/ibconsole/routing/changes/plan"
	"example.org/ibconsole/routing/checks/credits"
	"example.org/ibconsole/routing/checks/mcast"
	"example.org/ibconsole/shell/session/analysis"
	"example.org/ibconsole/shell/session/connection"
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
	// Cut says that pairs may lose their path that the staged subnet could connect.
	Cut bool
	// Hit says that pairs may lose packets that are connected before and after.
	Hit bool
	// Loop says that the new routes may have a credit loop that the old have not.
	Loop bool
	// Holes says that what did not answer the sweep may lose its routes.
	Holes bool
	// Over says that what an interrupted commit left may be written over.
	Over bool
	// Master is the GUID of the master subnet manager to write beside, 0 for none.
	Master uint64
	// NoJournal writes although nothing could undo it: no history can be kept.
	NoJournal bool
	// Planned, where set, is told what is planned before anything is written, also
	// where nothing will be. An error of it keeps everything from being written.
	Planned func(*CommitReport) error

	ending
}

// ending says which commit another one brings to its end, and how.
type ending struct {
	// ends is its number in the journal, 0 for none.
	ends int64
	// back says that the switches get what was there before it, else what it was to
	// write.
	back bool
	// before is the entry with what the switches held before it all began, 0 for what
	// they hold now.
	before int64
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
	// CutOff counts the pairs that are connected now and will not be, Unconnected
	// those of the staged subnet that its tables do not connect.
	CutOff, Unconnected int64
	// Examples are some of the pairs cut off.
	Examples []diff.Pair
	// Credits is nil where no route changes.
	Credits *plan.Credits
	// Levels is nil where the routing needs no service levels.
	Levels *Levels
	// Circling counts the multicast groups whose packets would go round for ever.
	Circling int
	// Written is nil where nothing was written.
	Written *apply.Report
	// Journal is the number of the history entry with what was written, 0 for none.
	Journal int64
	// Resumes says that this goes on with a commit or a rollback that was interrupted.
	Resumes bool
	// Master is the master subnet manager beside which it is, or would be, written.
	Master *SM
}

// HolesError says that parts of the subnet did not answer, so that nobody knows
// what a commit would take from them.
type HolesError struct{ Holes []string }

func (e *HolesError) Error() string {
	return fmt.Sprintf("the subnet was read with %s (%s, ...); what did not answer would lose its routes (show holes lists them). "+
		"To write all the same: commit yes holes=yes", prose.Count(len(e.Holes), "hole"), e.Holes[0])
}

// CirclingError says that the staged trees of multicast groups have cycles.
type CirclingError struct{ Groups int }

func (e *CirclingError) Error() string {
	return fmt.Sprintf("the staged trees of %s have cycles, in which packets go round for ever (check mcast names them). "+
		"To write all the same: commit yes hit=yes", prose.Count(e.Groups, "multicast group"))
}

// LoopError says that the staged routes have a credit loop, and those on the switches
// none.
type LoopError struct {
	// Links is how many links there are on a shortest one, From one of them.
	Links int
	From  string
	// Unknown says that service levels or lanes that nobody read may break it.
	Unknown bool
}

func (e *LoopError) Error() string {
	has := "have"
	if e.Unknown {
		has = "may have"
	}
	return fmt.Sprintf("the staged routes %s a credit loop over %s (through %s), in which packets may wait for one another for ever, "+
		"and those on the switches have none (try: route, with an engine whose routes have none). To write all the same: commit yes loop=yes", has, prose.Count(e.Links, "link"), e.From)
}

// CutError says that a commit would take the path from pairs of the subnet that
// it is for.
type CutError struct{ Pairs int64 }

func (e *CutError) Error() string {
	return fmt.Sprintf("%s connected now would have no path, and not because of what has failed on paper: "+
		"the staged tables do not connect their own subnet. To write all the same: commit yes cut=yes", prose.Verb(e.Pairs, "pair", "that is", "that are"))
}

// HitError says that a commit would take packets from pairs that are connected
// before and after, in whatever order it is written.
type HitError struct {
	Pairs int64
	// Groups counts multicast groups whose members would not hear one another.
	Groups int
}

func (e *HitError) Error() string {
	if e.Pairs == 0 {
		return fmt.Sprintf("members of %s that hear one another before and after would not for a moment, while their trees change. "+
			"To write all the same: commit yes hit=yes", prose.Count(e.Groups, "multicast group"))
	}
	return fmt.Sprintf("%s connected before and after would lose packets, as LIDs change or links are down: "+
		"there is no order that spares them. To write all the same: commit yes hit=yes", prose.Verb(e.Pairs, "pair", "that is", "that are"))
}

// StoppedError says that a commit stopped before its end.
type StoppedError struct {
	// Step is where it stopped between two of its steps, "" where all was sent. Hitless
	// says that the mixture of two steps cuts no pair.
	Step    string
	Hitless bool
	// Open is the commit in the journal that is to be ended now, nil where nothing was
	// journalled.
	Open *InterruptedError
	Err  error
}

func (e *StoppedError) Error() string {
	mix := "hold a mixture of old and new routes"
	switch {
	case e.Step == "":
		mix = "may hold a mixture of old and new routes"
	case e.Hitless:
		mix += " that cuts no pair and has no loop"
	}
	remedy := "go on with commit yes"
	if e.Open != nil {
		remedy = e.Open.remedy()
	}
	return fmt.Sprintf("%v. The switches %s: %s", e.Err, mix, remedy)
}

// Unwrap returns Err.
func (e *StoppedError) Unwrap() error { return e.Err }

// countCuts compares what is connected before and after.
func (r *CommitReport) countCuts(ctx context.Context, facts *analysis.Memo, live, staged *fabric.Tables) error {
	if r.Plan.Empty() {
		return nil
	}
	d, err := facts.Diff(ctx, live, staged, diff.Options{})
	if err != nil || d.Pairs.CutOff == 0 {
		return err
	}
	r.CutOff, r.Examples = d.Pairs.CutOff, d.CutOff
	own, err := facts.Diff(ctx, staged, staged, diff.Options{})
	if err == nil {
		r.Unconnected = own.Pairs.Unreached + own.Pairs.Unknown
	}
	return err
}

// SetWrite allows or forbids writing.
func (s *Session) SetWrite(on bool) error {
	if on && !s.conn.Online() {
		return connection.ErrOffline
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
	p, err := s.preflight(ctx, opt)
	if err != nil {
		return CommitReport{}, err
	}
	st := s.State()
	if opt.ending, err = s.goesOn(ctx, &st, opt); err != nil {
		return CommitReport{}, err
	}
	if opt.before != 0 { // what refuses it says: commit yes, and so on
		s.stopped = stopped{st.Staged.Tables, opt.ending}
	}
	rep := CommitReport{Plan: p, Resumes: opt.ends != 0 && !opt.back}
	if err := s.judge(ctx, &st, &rep); err != nil {
		return CommitReport{}, err
	}
	if opt.Planned != nil {
		if err := opt.Planned(&rep); err != nil {
			return rep, err
		}
	}
	if p.Empty() {
		s.markWritten()
		return rep, s.nothingToWrite(ctx, opt)
	}
	if opt.DryRun {
		return rep, nil
	}
	if err := allowed(&st, opt); err != nil {
		return rep, err
	}
	if err := rep.harmless(opt); err != nil {
		return rep, err
	}
	journal, err := s.beginJournal(ctx, &st, opt)
	if err != nil {
		return rep, err
	}
	rep.Journal = journal.entry.After
	rep.Written, err = apply.Apply(ctx, s.conn.Client(), st.Live.Fabric, writes(p), apply.Options{Progress: s.progress})
	if len(p.Lanes) > 0 && st.Source.Kind == SourceSim {
		s.reads.SL2VL = true // else they count as untouched
	}
	done := err == nil
	if done {
		s.markWritten()
	}
	err = s.endJournal(ctx, journal, &st, &rep, err)
	if serr := s.sweepFor(context.WithoutCancel(ctx), st.Staged.Tables); err == nil {
		err = serr
	}
	if done {
		s.update(ChangeLive, func(st *State) { st.Committed, st.Drift, st.Unchecked = st.Live.Tables, 0, 0 })
	}
	return rep, err
}

// goesOn says how a commit ends an earlier one: as it was told, or where it is to write
// what one of this session did not come to the end of.
func (s *Session) goesOn(ctx context.Context, st *State, opt CommitOptions) (ending, error) {
	if opt.ends != 0 || s.stopped.ends == 0 || s.stopped.tables != st.Staged.Tables {
		return opt.ending, nil
	}
	c, open, err := s.Interrupted(ctx)
	if err != nil || !open || c.First.ID != s.stopped.ends { // another console ended it
		return ending{}, err
	}
	return s.stopped.ending, nil
}

// endJournal notes how a commit ended, and says what is to be done where it stopped.
func (s *Session) endJournal(ctx context.Context, j *openJournal, st *State, rep *CommitReport, err error) error {
	sets := 0
	if rep.Written != nil {
		sets = rep.Written.Sets
	}
	c, open, jerr := j.end(err == nil, sets)
	if err == nil {
		s.stopped = stopped{}
	}
	if err != nil && sets > 0 {
		e := &StoppedError{Step: rep.Written.Stopped, Hitless: rep.Plan.Hit.None(), Err: err}
		if open {
			e.Open = s.interrupted(c)
			s.stopped = stopped{st.Staged.Tables, endingOf(&c, !c.Forward(&j.entry))}
		}
		err = e
	}
	if j.store != nil {
		jerr = errors.Join(jerr, s.lookForInterrupted(context.WithoutCancel(ctx)))
	}
	return errors.Join(err, jerr)
}

// judge says of a plan whom it hits.
func (s *Session) judge(ctx context.Context, st *State, rep *CommitReport) (err error) {
	live, staged := st.Live.Tables, st.Staged.Tables
	if master, ok := st.Master(); ok {
		rep.Master = &master
	}
	if err := rep.countCuts(ctx, &s.analysis, live, staged); err != nil {
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
		rep.Levels, err = s.proveLevels(ctx, live, staged, rep.Master)
	}
	return err
}

// harmless says why what is planned may not be written unless it is asked for, nil
// if it may.
func (r *CommitReport) harmless(opt CommitOptions) error {
	switch {
	case r.CutOff > 0 && r.Unconnected > 0 && !opt.Cut:
		return &CutError{r.CutOff}
	case !r.Plan.Hit.None() && !opt.Hit:
		return &HitError{r.Plan.Hit.Pairs(), len(r.Plan.Hit.Groups)}
	case r.Circling > 0 && !opt.Hit:
		return &CirclingError{r.Circling}
	case r.Credits.Lasting() && !opt.Loop && !opt.back:
		return &LoopError{len(r.Credits.Ring), r.Credits.Fabric.PortName(r.Credits.Ring[0].From.Port), r.Credits.New == credits.Unknown}
	case r.Levels != nil && !r.Levels.Safe():
		return &LevelsError{*r.Levels}
	}
	return nil
}

func (s *Session) markWritten() {
	s.update(ChangeStaged, func(st *State) { st.Written = true })
}

// preflight reads the live subnet and plans.
func (s *Session) preflight(ctx context.Context, opt CommitOptions) (*plan.Plan, error) {
	st := s.State()
	switch {
	case !s.conn.Online():
		return nil, connection.ErrOffline
	case st.Staged == nil:
		return nil, ErrNothingStaged
	}
	if err := s.sweepFor(ctx, st.Staged.Tables); err != nil {
		return nil, err
	}
	st = s.State()
	switch {
	case len(st.Holes) > 0 && !opt.Holes && !opt.DryRun:
		return nil, &HolesError{st.Holes}
	case st.Base != nil && st.Base.file != "" && !fabric.SameLinks(st.Base.Fabric, st.Live.Fabric):
		return nil, fmt.Errorf("the paper starts from %s, not from the live subnet (try: restore all; route)", st.Base.file)
	case st.Base != nil && !fabric.SameLinks(st.Base.Fabric, st.Live.Fabric):
		return nil, ErrMoved
	case st.Stale:
		return nil, ErrStale
	}
	return plan.Make(ctx, st.Live.Tables, st.Staged.Tables)
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
		return opt.notAsked()
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
		w.Tops = append(w.Tops, apply.Top{Switch: t.Switch, Top: t.New, Last: t.Falls()})
	}
	for _, b := range p.Blocks {
		w.Blocks = append(w.Blocks, apply.Block{Switch: b.Switch, Num: b.Num, Step: b.Step, Ports: *b.New})
	}
	for _, l := range p.Lanes {
		w.Lanes = append(w.Lanes, apply.Lanes{Node: l.Node, In: l.In, Out: l.Out, Late: l.Late, VLs: l.New})
	}
	for _, b := range p.MFTs {
		w.MFTs = append(w.MFTs, apply.MFTBlock{Switch: b.Switch, Num: b.Num, Position: b.Position, Grow: b.Grow, Ports: *b.New})
	}
	for _, st := range p.States {
		w.States = append(w.States, apply.State{Port: st.Port, State: st.New})
	}
	return w
}
