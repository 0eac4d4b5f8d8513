// SPDX-License-Identifier: Apache-2.0

// Package commits writes tables to the switches of a session's subnet, and rolls commits back. A commit is planned,
// recorded in the journal, written and read back.
package commits

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/apply"
	"example.org/ibconsole/fabric/write"
	"example.org/ibconsole/history"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/routing/changes/diff"
	"example.org/ibconsole/routing/changes/persist"
	"example.org/ibconsole/routing/changes/plan"
	"example.org/ibconsole/routing/checks/credits"
	"example.org/ibconsole/routing/checks/mcast"
	"example.org/ibconsole/routing/checks/reach"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/connection"
	"example.org/ibconsole/shell/session/journal"
	"example.org/ibconsole/shell/session/managers"
	"example.org/ibconsole/shell/session/servicelevels"
	"example.org/ibconsole/shell/session/source"
)

// Options controls a commit. Each Allow field permits one kind of harm that a commit otherwise refuses.
type Options struct {
	Confirmed        bool   // write; without it a commit only returns the plan
	DryRun           bool   // only return the plan, even if Confirmed
	AllowUnreachable bool   // pairs that could have a path may lose it
	AllowInterrupt   bool   // connected pairs may lose packets during the commit
	AllowLoop        bool   // the new routes may have a credit loop that the current ones do not have
	AllowIncomplete  bool   // parts of the subnet that did not respond may lose their routes
	AllowOwnPath     bool   // links on which the console or the master SM depends may go down
	AllowOverwrite   bool   // entries that others wrote since the tables were computed may be overwritten
	Drains           bool   // pairs that no other link connects may lose their path: a drain names them
	Abandon          bool   // an interrupted commit may be overwritten, which gives up its rollback
	NoJournal        bool   // write even if the journal cannot be kept; the commit cannot be rolled back then
	Note             string // the note in the journal
	// LinkWait is how long to wait for links that a reset or a rollback brings up, 0 for 10 seconds.
	LinkWait time.Duration
	Master   uint64 // the GUID of the master SM next to which to write, 0 for none
	// Planned is called with the plan before anything is written, unless it is nil. If it returns an error, nothing is
	// written.
	Planned func(*Report) error
}

// writes reports whether the commit writes.
func (o *Options) writes() bool { return o.Confirmed && !o.DryRun }

// Report describes the plan of a commit and the writes.
type Report struct {
	Plan *plan.Plan
	// Lost counts the connected pairs that lose their path, and Unknown the pairs that may lose it. Unconnected counts
	// the pairs in the target's fabric that the target's tables do not connect. Unproved counts the pairs that these
	// tables may not connect.
	Lost, Unknown         int64
	Unconnected, Unproved int64
	Examples              []diff.Pair          // some of the pairs that lose their path
	Credits               *plan.Credits        // nil if no route changes
	Avoidance             *plan.Avoidance      // nil if there is nothing to avoid
	SLs                   *servicelevels.Proof // nil if the routes need no SLs
	Circling              int                  // multicast groups whose packets would circulate forever
	Unlike                string               // [session.Picture.Unlike] of the target
	Adaptive              int                  // switches that route adaptively by groups that are not written
	LIDsLeft, PortsLeft   int                  // LIDs and port states that a rollback does not restore
	Others                *Others              // what others wrote since the target was computed, nil for nothing
	Master                *managers.SM         // the master SM next to which the commit writes, nil for none
	Refusal               error                // why the plan would be refused, nil if it would be written
	Written               *apply.Report        // nil if nothing was written
	Journal               int64                // the history entry with what was written, 0 for none
	Resumes               bool                 // this finishes an interrupted commit or rollback
	Hosts                 []string             // hosts that lose connectivity because links go down
	OwnPath               []string             // why the console depends on links that go down
	LinksDown             []string             // enabled ports whose links have not come up
	Trainings             []Training           // of the controlled ports that are not disabled
}

// subject identifies the commit that another commit finishes or rolls back. The zero value identifies no commit.
type subject struct {
	id       int64 // its number in the journal
	rollback bool  // write what the switches held before it, otherwise what it was to write
	before   int64 // the history entry with what the switches held before it all began, 0 for what they hold now
	note     string
	// unwritten means that the switches hold nothing of it: nothing was written, or only to the simulated subnet of
	// another console. Its outcome stays, whatever the other commit writes.
	unwritten bool
}

// undone returns the number of the commit whose outcome changes when the other commit ends, 0 for none.
func (s *subject) undone() int64 {
	if s.unwritten {
		return 0
	}
	return s.id
}

// restores reports whether the commit rolls back another one, or finishes such a rollback. It needs no permission for
// credit loops of the tables that it restores.
func (s *subject) restores() bool { return s.rollback || s.note == history.ResumedRollbackNote }

// Ring returns the credit loop that stands for those of the writes in texts and tables: one that old and new routes
// have only together, if there is any, otherwise a shortest one. It returns nil if there is none.
func (r *Report) Ring() []credits.Channel {
	switch {
	case r.Avoidance != nil:
		return r.Avoidance.Ring
	case r.Credits == nil:
		return nil
	}
	return r.Credits.Channels()
}

// resumption returns the subject for finishing an interrupted commit, or for rolling it back. It refers to the state
// before that commit, not to the mixture that the switches hold now.
func resumption(c *history.Chain, rollback bool) subject {
	s := subject{id: c.First.ID, rollback: rollback, before: c.First.Before, note: history.ResumedNote}
	switch {
	case rollback:
		s.before, s.note = c.First.After, history.RollbackNote
	case c.First.IsRollback():
		s.note = history.ResumedRollbackNote
	}
	return s
}

// partialWrite holds staged tables that a commit of this session wrote only in part, and how to finish the commit.
type partialWrite struct {
	tables *fabric.Tables
	subject
}

// partial is the slot of a session for its partial write.
var partial = session.NewSlot[partialWrite]()

func setPartial(s *session.Session, p partialWrite) {
	s.Publish(0, func(st *session.State) { partial.Put(st, p) })
}

// commit is a running commit. Its methods are its steps.
type commit struct {
	*session.Session
	op  *session.Op
	opt Options
	of  subject
	// elsewhere is a commit that another console left in its own simulation, and whose tables this commit writes, or
	// those before it. nil for none.
	elsewhere *history.Chain
	// controls are the ports to control, nil if the commit writes tables.
	controls []write.Control
	// target is what to write: nil for the staged tables until they are known, otherwise a history entry.
	target *session.Picture
	// earlier is the fabric of the history entry that a rollback restores.
	earlier *fabric.Fabric
	newest  commitEnd     // the newest commit before the subnet was read
	st      session.State // the state after the subnet was read for the commit
	rep     Report
}

// Commit reads the live subnet, plans how to change it to the staged state, and writes the plan if the options and the
// session allow it. It reads back everything that it wrote. The report contains the plan even if Commit refuses to
// write it.
func Commit(ctx context.Context, s *session.Session, opt Options) (Report, error) {
	return (&commit{Session: s, opt: opt, of: subject{note: opt.Note}}).do(ctx)
}

// The method do begins the operation and runs the commit.
func (c *commit) do(ctx context.Context) (rep Report, err error) {
	op, err := c.Begin(ctx, "commit")
	if err != nil {
		_ = c.log(err)
		return Report{}, err
	}
	defer op.End()
	c.op = op
	logged := errPanicked
	defer func() { _ = c.log(logged) }()
	err = c.run(ctx)
	logged = err
	if c.rep.Plan == nil {
		return Report{}, err
	}
	return c.rep, err
}

// run plans the commit, and writes the plan if nothing forbids it.
func (c *commit) run(ctx context.Context) error {
	if store, err := c.History(); c.opt.writes() && err == nil && !c.Journal().Recorder.None() {
		c.newest = c.newestCommit(ctx, store)
	}
	err := c.preflight(ctx)
	if err == nil {
		err = c.findPartial(ctx)
	}
	if err != nil {
		return err
	}
	made, err := c.makePlan(ctx)
	if err != nil {
		return err
	}
	c.rep.Resumes = c.of.undone() != 0 && !c.of.rollback
	if err := c.assess(ctx, made); err != nil {
		return err
	}
	c.rep.Plan = made
	if c.opt.Planned != nil {
		if err := c.opt.Planned(&c.rep); err != nil {
			return err
		}
	}
	if made.Empty() {
		return c.nothingToWrite(ctx)
	}
	if c.rep.Refusal = c.refusal(); !c.opt.writes() {
		return nil
	}
	if c.rep.Refusal != nil {
		return c.refuse()
	}
	return c.write(ctx)
}

// isStaged reports whether the commit writes the staged tables. Otherwise the commit writes those of a history entry.
func (c *commit) isStaged() bool {
	return !c.isPorts() && (c.target.Entry == nil || c.target == c.st.Staged)
}

// preflight reads the live subnet, and checks that the staged tables fit it.
func (c *commit) preflight(ctx context.Context) error {
	if c.isPorts() {
		return c.preflightPorts(ctx)
	}
	st := c.State()
	target := c.target
	if target == nil {
		target = st.Staged
	}
	switch {
	case !c.Connection().Online():
		return connection.ErrOffline
	case target == nil:
		return ErrNothingStaged
	}
	if err := c.op.SweepFor(ctx, target.Tables); err != nil {
		return err
	}
	c.st = c.State()
	if c.opt.writes() {
		if err := c.incomplete(); err != nil {
			return err
		}
	}
	if c.target == nil {
		c.target = c.st.Staged
		return c.st.CheckStaged()
	}
	if c.of.rollback {
		c.moveTarget()
	}
	return nil
}

// moveTarget makes the tables that a rollback restores tables of the present subnet. Its links decide which pairs the
// tables connect: a port may have been enabled or disabled since. If LIDs have changed, the target stays as it is.
func (c *commit) moveTarget() {
	live := c.st.Live.Fabric
	c.earlier = c.target.Fabric
	if fabric.SameLinks(c.earlier, live) || !fabric.KeepsLIDsByGUID(c.earlier, live) {
		return
	}
	moved := c.target.On(live)
	moved.Tables = persist.Held(live, c.target.Tables)
	c.target = moved
}

// findPartial finds out whether this commit of the staged tables finishes an earlier commit of this session that wrote
// only a part of them.
func (c *commit) findPartial(ctx context.Context) error {
	p := partial.Of(&c.st)
	if c.of.id != 0 || c.isPorts() || p.id == 0 || p.tables != c.target.Tables {
		return nil
	}
	open, found, err := c.Journal().Interrupted(ctx)
	if err == nil && found && open.First.ID == p.id { // otherwise another console finished it
		c.of = p.subject
	}
	return err
}

// assess computes the effects of a plan on the subnet: lost pairs, interrupted pairs and credit loops.
func (c *commit) assess(ctx context.Context, p *plan.Plan) (err error) {
	rep, live, target := &c.rep, c.st.Live.Tables, c.target.Tables
	rep.Unlike = c.target.Unlike
	if live != nil && live.Adaptive != nil {
		rep.Adaptive = live.Adaptive.Enabled()
	}
	if master, ok := c.st.Master(); ok {
		rep.Master = &master
	}
	if c.isPorts() {
		return c.assessPorts(ctx, p)
	}
	rep.Hosts = LostHosts(c.st.Live.Fabric, c.target.Fabric)
	if c.of.rollback {
		rep.LIDsLeft, rep.PortsLeft = countLeft(c.st.Live.Fabric, c.earlier)
	}
	if err := c.findOthers(ctx, p); err != nil {
		return err
	}
	if err := c.countLost(ctx, p); err != nil {
		return err
	}
	if rep.Credits, err = p.CheckCredits(ctx, live, target); err != nil {
		return err
	}
	rep.Avoidance, err = p.AvoidLoop(ctx, live, target, rep.Credits, plan.AvoidOptions{
		Drain: c.opt.AllowInterrupt && !c.opt.AllowLoop, GroupSL: c.st.GroupSL(target), Progress: c.op.Progress,
	})
	if err != nil {
		return err
	}
	if rep.Resumes && len(p.Settles) > 0 && p.Settles[0] > 1 {
		p.Settles = slices.Insert(p.Settles, 0, 1) // packets may have met entries before the interruption
	}
	if len(p.MFTs) > 0 {
		trees, err := mcast.Check(ctx, target, fabric.GroupsOf(target), nil)
		if err != nil {
			return err
		}
		rep.Circling = trees.Cycles
	}
	if !p.Empty() {
		rep.SLs, err = servicelevels.Prove(ctx, c.Connection(), live, target, rep.Master != nil, c.op.Progress)
	}
	return err
}

// countLeft counts the LIDs and the active ports of the live subnet that the earlier subnet did not have. No commit
// takes a LID away or brings a port down.
func countLeft(live, earlier *fabric.Fabric) (lids, ports int) {
	for _, e := range live.EndPorts {
		was := earlier.PortByGUID(live.Ports[e].GUID)
		if was != fabric.None && live.Ports[e].LID != 0 && earlier.Ports[was].LID == 0 {
			lids++
		}
	}
	for i := range live.Nodes {
		n := &live.Nodes[i]
		was := earlier.NodeByGUID(n.GUID)
		if was == fabric.None {
			continue
		}
		for p := range n.Ports() {
			q := earlier.PortAt(was, int(live.Ports[p].Num))
			if q != fabric.None && live.Ports[p].State == mad.PortActive && earlier.Ports[q].State != mad.PortActive &&
				earlier.Ports[q].Linked() {
				ports++
			}
		}
	}
	return lids, ports
}

// countLost counts the pairs that lose their path.
func (c *commit) countLost(ctx context.Context, p *plan.Plan) error {
	if p.Empty() {
		return nil
	}
	r, target := &c.rep, c.target.Tables
	d, err := c.Analysis().Diff(ctx, c.st.Live.Tables, target, diff.Options{})
	if err != nil {
		return err
	}
	if r.Lost, r.Unknown, r.Examples = d.Pairs.Lost, d.Pairs.Unknown, d.Lost; r.Lost == 0 {
		return nil
	}
	own, err := c.Analysis().Reach(ctx, target, reach.Options{})
	if err == nil {
		within := int64(own.Ends - own.UnreachableEnds)
		r.Unconnected, r.Unproved = own.LostPairs-(own.Pairs-within*(within-1)), own.UnknownPairs
	}
	return err
}

// nothingToWrite ends a commit if the switches already hold its target. It also ends the earlier commit that this one
// was to finish or roll back, if all switches were read.
func (c *commit) nothingToWrite(ctx context.Context) error {
	if c.isStaged() {
		c.Publish(session.ChangeStaged, func(st *session.State) { st.Written = true })
	}
	if w := c.op.Written(); w != nil && c.st.Live.Tables != nil && diff.Count(w.Tables, c.st.Live.Tables).Changed > 0 {
		c.op.SetWritten(nil) // otherwise the switches hold what the last commit wrote
	}
	if c.of.undone() == 0 && c.elsewhere == nil || !c.opt.writes() || len(c.st.Unanswered) > 0 {
		return nil
	}
	store, err := c.History()
	if err != nil {
		return err
	}
	lock, err := store.Lock(c.Subnet())
	if err != nil {
		return err
	}
	chain, found, err := store.Open(ctx, c.Subnet(), c.Journal().Concerns)
	switch {
	case err != nil:
	case c.elsewhere != nil:
		err = store.Lose(ctx, *c.elsewhere)
	case found && chain.First.ID == c.of.id:
		err = store.Settle(ctx, chain, 0, c.of.rollback)
	case c.of.rollback:
		err = store.End(ctx, c.of.id, history.RolledBack)
	default:
		err = store.End(ctx, c.of.id, history.Done)
	}
	return errors.Join(err, lock.Unlock(), c.FindInterrupted(ctx))
}

// write records the plan in the journal, writes it, records the outcome, and reads the subnet again.
func (c *commit) write(ctx context.Context) error {
	j, err := c.beginJournal(ctx)
	if err != nil {
		return err
	}
	ended := false
	defer func() {
		if !ended { // a panic
			_, _, _ = c.end(j, false, 1)
			_ = c.FindInterrupted(context.WithoutCancel(ctx))
		}
	}()
	rep, st, p := &c.rep, &c.st, c.rep.Plan
	rep.Journal = j.entry.After
	this := journal.Own{File: c.Journal().Recorder.File(), ID: j.entry.ID}
	c.Publish(0, func(st *session.State) { st.Own = append(slices.Clip(st.Own), this) })
	rep.Written, err = apply.Apply(ctx, c.Connection().Client(), st.Live.Fabric, &p.List,
		apply.Options{Progress: c.op.Progress, Writing: c.writing, Overwrite: c.opt.AllowOverwrite})
	if len(p.SL2VLs) > 0 && st.Source.Kind == source.Sim {
		c.op.ReadLater(session.Reads{SL2VL: true}) // otherwise they count as unchanged
	}
	switch {
	case !c.isPorts():
		c.noteWritten(j, err == nil)
	case err == nil:
		err = c.restoreLinks(ctx)
	}
	if errors.Is(err, apply.ErrOthers) {
		err = c.foundOthers(ctx, err)
	}
	err = c.endJournal(ctx, j, err)
	ended = true
	if serr := c.op.SweepFor(context.WithoutCancel(ctx), c.target.Tables); err == nil {
		err = serr
	}
	if err != nil && rep.Written != nil && rep.Written.Sets == 0 {
		rep.Written = nil
	}
	if found := c.op.Written().Overwritten(c.State().Live.Tables); err == nil && found.Count > 0 && !c.isPorts() {
		err = &OverwrittenError{found}
	}
	return err
}

// noteWritten changes the state of the session after a write. If an entry of the history was written, at least in part,
// it becomes the staged state.
func (c *commit) noteWritten(j *openJournal, isDone bool) {
	sets := c.rep.Written != nil && c.rep.Written.Sets > 0
	if !c.isStaged() && (isDone || sets) {
		c.op.Stage(c.target)
	}
	if isDone || sets {
		c.Publish(session.ChangeStaged|session.ChangeLive, func(st *session.State) {
			st.NoteWritten(c.target, isDone)
			if isDone {
				st.Written, st.Committed, st.Drift, st.Unchecked = true, c.target, 0, 0
			}
		})
	}
	if sets {
		c.op.SetWritten(journal.NewWritten(j.entry.ID, c.target.Tables, c.st.Live.Tables,
			c.rep.Plan.Between(c.st.Live.Tables), c.rep.Written.Left.Blocks))
	}
}

// writing publishes what is being written.
func (c *commit) writing(p apply.Progress) {
	c.Publish(session.ChangeBusy, func(st *session.State) { st.Writing = &p })
}

// Rollback restores the contents that the switches had before a commit. The argument id is one of the two history
// entries of the commit, or 0 for the last commit or undrain that is in force. If a commit was interrupted, Rollback
// rolls this commit back, and an id other than 0 must belong to it. An interrupted rollback is finished instead.
// Rollback also returns the commit.
func Rollback(ctx context.Context, s *session.Session, id int64, opt Options) (Report, history.JournalEntry, error) {
	c := &commit{Session: s, opt: opt, of: subject{rollback: true}}
	open, found, err := c.interrupted(s.Journal().Interrupted(ctx))
	if err != nil {
		return Report{}, history.JournalEntry{}, c.log(err)
	}
	if found {
		j, rollback := open.First, !open.First.IsRollback()
		if id != 0 {
			var known bool
			if j, known = open.Find(id); !known {
				return Report{}, j, c.log(s.Journal().Interruption(open))
			}
			rollback = open.Forward(&j)
		}
		rep, err := c.settle(ctx, &open, rollback)
		return rep, j, err
	}
	open, found, err = c.interrupted(s.Journal().Elsewhere(ctx))
	if err != nil {
		return Report{}, history.JournalEntry{}, c.log(err)
	}
	if _, known := open.Find(id); found && (known || id == 0 && len(s.State().Own) == 0) {
		c.elsewhere = &open
		rep, err := c.settle(ctx, &open, true)
		return rep, open.First, err
	}
	j, err := find(ctx, s, id)
	if err != nil {
		return Report{}, j, c.log(err)
	}
	c.of = subject{id: j.ID, rollback: true, note: cmp.Or(opt.Note, history.RollbackNote),
		unwritten: !s.Journal().Concerns(j.ID) || j.Outcome == history.NothingWritten}
	if len(j.Controls) > 0 {
		c.controls = write.Undo(j.Controls)
	} else if err := c.takeEntry(j.Before, j.After); err != nil {
		return Report{}, j, c.log(err)
	}
	rep, err := c.do(ctx)
	return rep, j, err
}

// interrupted returns what [journal.Journal.Interrupted] or [journal.Journal.Elsewhere] returned. If another console
// carries the commit out, the error contains what the user can do.
func (c *commit) interrupted(open history.Chain, found bool, err error) (history.Chain, bool, error) {
	switch {
	case !errors.Is(err, history.ErrLocked):
	case c.State().Busy != "": // the writer may be this console, which do awaits
		err = nil
	default:
		err = fmt.Errorf("%w; hint: wait until it ends, or end that process, and run the command again", err)
	}
	return open, found, err
}

// Resume finishes an interrupted commit. If there is none, it writes the tables of a commit that another console left
// in its own simulation of the subnet.
func Resume(ctx context.Context, s *session.Session, opt Options) (Report, error) {
	c := &commit{Session: s, opt: opt}
	open, found, err := c.interrupted(s.Journal().Interrupted(ctx))
	if err == nil && !found {
		if open, found, err = c.interrupted(s.Journal().Elsewhere(ctx)); found {
			c.elsewhere = &open
		}
	}
	if err == nil && !found {
		open.First, found, err = s.Journal().LastFailed(ctx)
	}
	if err == nil && !found {
		err = errors.New("no commit of this subnet was interrupted")
	}
	if err != nil {
		return Report{}, c.log(err)
	}
	return c.settle(ctx, &open, false)
}

// settle finishes an interrupted commit, or rolls it back.
func (c *commit) settle(ctx context.Context, open *history.Chain, rollback bool) (Report, error) {
	c.of = resumption(open, rollback)
	held := c.of.before
	if c.elsewhere != nil {
		c.of.before, c.of.unwritten = 0, true
		if !rollback {
			c.of.note = c.opt.Note
		}
	}
	entry := open.First.After
	if rollback {
		entry = open.First.Before
	}
	switch {
	case len(open.First.Controls) > 0 && rollback:
		c.controls = write.Undo(open.First.Controls)
		return c.do(ctx)
	case len(open.First.Controls) > 0:
		c.controls = open.First.Controls
		return c.do(ctx)
	}
	if err := c.takeEntry(entry, held); err != nil {
		return Report{}, c.log(err)
	}
	return c.do(ctx)
}

// takeEntry makes the tables of one history entry (argument id) the target. The switches are assumed to hold the tables
// of another entry (argument held).
func (c *commit) takeEntry(id, held int64) error {
	st := c.State()
	p, err := st.Of(session.EntryKind(id))
	if err != nil {
		return err
	}
	if p.Tables == nil {
		return fmt.Errorf("entry %d of the history has no tables", id)
	}
	other, err := st.Of(session.EntryKind(held))
	if err != nil {
		return err
	}
	if c.elsewhere != nil {
		other = st.Live // those of the entry were never on these switches
	}
	c.target = p.ToStage(fmt.Sprintf("history %d", id), other.Tables)
	return nil
}

// Errors of [Rollback] if there is no commit to roll back.
var (
	ErrAllUndone = errors.New("all commits of this subnet were already rolled back; hint: 'rollback ID' rolls " +
		"back a commit or rollback that 'history' lists")
	// ErrNotJournaled means that the last commit of the session has no entry. Another commit must not be taken for it.
	ErrNotJournaled = errors.New("the last commit of this session is not in the journal, and cannot be rolled back; " +
		"hint: 'rollback ID' rolls back an earlier commit")
	// ErrNotHere means that other consoles wrote the commits. Each console simulates the subnet again.
	ErrNotHere = errors.New("this console has written no commit that could be rolled back, and those of other " +
		"consoles went to their own simulated subnets; hint: 'rollback ID' writes the tables from before one of them")
	ErrNothingToUndo = errors.New("the history has no commit of this subnet")
)

// undone are the outcomes of commits that cannot be rolled back, because nothing is left to undo or a later commit took
// over.
var undone = []history.Outcome{history.RolledBack, history.Finished, history.NothingWritten, history.Lost}

// canBeUndone reports whether a commit of the journal is left to undo. Rollbacks do not count, except by undrain.
func canBeUndone(all []history.JournalEntry, j *history.JournalEntry) bool {
	if j.IsRollback() && !isUndrain(all, j) {
		return false
	}
	if j.Outcome == history.RolledBack { // the rollback may have been rolled back
		_, isBack := inForce(all, j)
		return isBack
	}
	return !slices.Contains(undone, j.Outcome)
}

// find returns the commit that has a history entry. For the entry 0 it returns the last commit that is in force. A
// rollback does not count, but an undrain does.
func find(ctx context.Context, s *session.Session, id int64) (history.JournalEntry, error) {
	all, err := s.Journal().Commits(ctx)
	if err != nil {
		return history.JournalEntry{}, err
	}
	st := s.State()
	if mine := st.Own; id == 0 && len(mine) > 0 && mine[len(mine)-1].ID == 0 {
		return history.JournalEntry{}, ErrNotJournaled
	}
	others := 0 // commits of other consoles to the same simulated subnet
	for _, j := range all {
		isLast := id == 0 && canBeUndone(all, &j)
		if isLast && !s.Journal().Concerns(j.ID) {
			others++
			continue
		}
		if id == j.After || id == j.Before || isLast {
			return j, nil
		}
	}
	switch {
	case id != 0:
		err = fmt.Errorf("history entry %d is not a commit of this subnet; hint: 'history' lists the entries", id)
	case others > 0:
		err = ErrNotHere
	case len(all) > 0:
		err = ErrAllUndone
	default:
		err = ErrNothingToUndo
	}
	return history.JournalEntry{}, err
}
