// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/write"
	"example.org/ibconsole/history"
	"example.org/ibconsole/internal/base/audit"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/compute"
	"example.org/ibconsole/shell/session/connection"
	"example.org/ibconsole/shell/session/journal"
	"example.org/ibconsole/shell/session/source"
)

// ErrReadOnly is returned if the session may not write to switches.
var ErrReadOnly = errors.New("the session is read-only; hint: run 'write on'")

// SetWrite allows or forbids writing to switches. It returns an error if the options of the session forbid writing to
// this user.
func (s *Session) SetWrite(on bool) error {
	if on && !s.conn.Online() {
		return connection.ErrOffline
	}
	if on && s.opt.MayWrite != nil && s.State().Source.Live() {
		if err := s.opt.MayWrite(); err != nil {
			s.Audit(audit.Record{Action: "write on"}, err)
			return err
		}
	}
	s.Publish(ChangeSettings, func(st *State) { st.WriteOn = on })
	return nil
}

// Audit records a write to a subnet that is not simulated in the log of the machine. If the write was refused, err is
// the reason. If logging fails, Audit reports that once and the write is not stopped.
func (s *Session) Audit(r audit.Record, err error) {
	if s.opt.Log == nil || !s.State().Source.Live() {
		return
	}
	r.Subnet, r.Result, r.Failed = fabric.Escape(s.Subnet()), "done", err != nil
	if err != nil {
		r.Result = fabric.Escape(strings.ReplaceAll(err.Error(), "\n", "; ")) // of joined errors
	}
	if lerr := s.opt.Log(&r); lerr != nil {
		s.unlogged.Do(func() {
			text := "writes are in no log of this machine: " +
				fabric.Escape(strings.ReplaceAll(lerr.Error(), "\n", "; "))
			s.Publish(ChangeLive, func(st *State) {
				st.Unlogged = text
				st.Note("%s", text)
			})
		})
	}
}

// Journal returns the journal of the commits to the subnet.
func (s *Session) Journal() journal.Journal {
	st := s.State()
	return journal.Journal{Recorder: s.recorder.Load(), Subnet: s.Subnet(), UsualFile: stateFile(s.opt.StateDir),
		Simulated: st.Source.Kind == source.Sim, Own: st.Own}
}

// FindInterrupted updates the interrupted commits in the state from the journal. A commit that another console is just
// carrying out does not count.
func (s *Session) FindInterrupted(ctx context.Context) error {
	j := s.Journal()
	text, elsewhere := "", ""
	c, found, err := j.Interrupted(ctx)
	if found {
		text = j.Interruption(c).Error()
	}
	if err == nil {
		if c, found, err = j.Elsewhere(ctx); found {
			elsewhere = j.ElsewhereText(c)
		}
	}
	if err != nil && !errors.Is(err, history.ErrLocked) {
		return err
	}
	if st := s.State(); text != st.Interrupted || elsewhere != st.Elsewhere {
		s.Publish(ChangeLive, func(st *State) { st.Interrupted, st.Elsewhere = text, elsewhere })
	}
	return nil
}

// findInterruptedOfOthers updates the interrupted commit in the state after a sweep, because another console may have
// interrupted or finished a commit.
func (s *Session) findInterruptedOfOthers(ctx context.Context) error {
	if !s.State().Source.Live() || !s.recorder.Load().Exists() {
		return nil
	}
	return s.FindInterrupted(ctx)
}

// findEarlierCommits reports problems with earlier commits at the start of a session: an interrupted commit, or a
// failed commit of an older version.
func (s *Session) findEarlierCommits(ctx context.Context) {
	if !s.State().Source.Live() || !s.recorder.Load().Exists() {
		return
	}
	err := s.FindInterrupted(ctx)
	j, failed := history.JournalEntry{}, false
	if err == nil {
		j, failed, err = s.Journal().LastFailed(ctx)
	}
	switch {
	case err != nil:
		s.warn(fmt.Errorf("read the history: %w", err))
	case failed:
		s.warn(fmt.Errorf("%s failed, and a part of the tables may have been written; "+
			"hint: 'diff live %d' compares, 'commit resume yes' finishes the commit, 'rollback yes' undoes it",
			j.Name(), j.Before))
	}
}

// WhoWrote returns a text that names who probably wrote some entries. It ignores commits for which isCandidate returns
// false.
func (o *Op) WhoWrote(ctx context.Context, rd *Reading, found []write.Conflict,
	isCandidate func(*history.JournalEntry) bool) (string, error) {
	return o.session.whoWrote(ctx, rd, found, isCandidate)
}

// whoWrote returns a text that names who probably wrote some entries. This is another console if its commit is in the
// journal and the function isCandidate returns true for the commit. Otherwise it is the master subnet manager among
// those that were read.
func (s *Session) whoWrote(ctx context.Context, rd *Reading, found []write.Conflict,
	isCandidate func(*history.JournalEntry) bool) (string, error) {
	who, err := s.Journal().Writer(ctx, found, isCandidate, func(entry int64) (*fabric.Tables, error) {
		p, err := s.recall(entry)
		if err != nil {
			return nil, err
		}
		return p.Tables, nil
	})
	if who != "" || err != nil {
		return who, err
	}
	if sm, ok := rd.Master(); ok {
		return fmt.Sprintf("probably the %s subnet manager 0x%016x on %s (priority %d)", sm.State, sm.GUID, sm.Port,
			sm.Priority), nil
	}
	return "unknown (there is no master subnet manager, and no commit in this journal wrote it)", nil
}

// Written returns a description of the writes of the session's last commit, or nil if there is none.
func (o *Op) Written() *journal.Written { return o.session.written }

// SetWritten stores a description of the writes of a commit, with which later sweeps compare the switches. nil removes
// it.
func (o *Op) SetWritten(w *journal.Written) { o.session.written, o.session.overwritten = w, 0 }

// findOverwritten compares the switches after a sweep with the writes of the session's last commit. If others have
// overwritten entries, it records them in the journal and returns a text that describes them. It returns "" if there is
// nothing new.
func (s *Session) findOverwritten(ctx context.Context, tablesChanged bool) (string, error) {
	found := s.written.Overwritten(s.State().Live.Tables)
	if found.Count == 0 || !tablesChanged && found.Count == s.overwritten {
		return "", nil
	}
	s.overwritten = found.Count
	text := fmt.Sprintf("the switches no longer hold what the last commit of this session wrote, %s: %s",
		prose.Count(found.Count, "entry"), found.First(journal.MaxExamples))
	if s.written.ID == 0 {
		return text, nil
	}
	store, err := s.History()
	if err == nil {
		err = store.NoteOthers(context.WithoutCancel(ctx), s.written.ID, found)
	}
	return text, err
}

// Errors of [State.CheckStaged].
var (
	ErrStale = errors.New(isStaleText + "; route first")
	ErrMoved = errors.New("the live subnet has changed since the what-if started; hint: run 'restore all'")
)

// CheckStaged returns an error if the staged tables do not fit the live subnet.
func (st *State) CheckStaged() error {
	switch {
	case st.TopologyFile() != "" && !fabric.SameLinks(st.root(), st.Live.Fabric):
		return fmt.Errorf("the what-if starts from %s, not from the live subnet; hint: run 'restore all; route'",
			st.TopologyFile())
	case st.Base != nil && !fabric.SameLinks(st.Base.Fabric, st.Live.Fabric):
		return ErrMoved
	case st.Added() != "":
		return fmt.Errorf("the what-if has additions that the live subnet lacks: %s; hint: after the cabling, "+
			"run 'sweep full; restore all; route'", st.Added())
	case st.Stale:
		return ErrStale
	}
	return nil
}

// Stage stages a picture. Unless its tables belong to another fabric, they count as computed for the present what-if.
func (o *Op) Stage(p *Picture) { o.session.stage(p) }

func (s *Session) stage(p *Picture) {
	s.Publish(ChangeStaged, func(st *State) {
		if p.heldOn == nil {
			p.heldOn = st.held()
		}
		if p.madeOf == nil {
			p.madeOf = st.Paper()
		}
		st.Staged, st.Stale, st.Written = p, false, false
	})
}

// ToStage returns a state of the history as a staged state. The argument held contains the tables that the switches
// hold at present, or is nil if they are unknown.
func (p *Picture) ToStage(origin string, held *fabric.Tables) *Picture {
	staged, tables := *p.as(Staged), *p.Tables
	tables.Origin = origin
	staged.Tables, staged.heldOn = &tables, holding(held)
	return &staged
}

// HeldOn returns tables that were expected on the switches when the state was made. If the entry of a switch is in none
// of these tables, another program wrote it.
func (p *Picture) HeldOn() []*fabric.Tables { return p.heldOn }

// holding returns a list that contains t. If t is nil, the list is empty but not nil.
func holding(t *fabric.Tables) []*fabric.Tables {
	if t == nil {
		return []*fabric.Tables{}
	}
	return []*fabric.Tables{t}
}

// The method held returns the tables that the switches should hold at present, from the point of view of newly computed
// tables.
func (ps *Pictures) held() []*fabric.Tables {
	if ps.Base != nil && ps.Base.heldOn != nil {
		return ps.Base.heldOn
	}
	return holding(ps.Live.Tables)
}

// NoteWritten records that the switches hold the tables of a commit. If the argument isComplete is false, they hold
// only a part of these tables.
func (ps *Pictures) NoteWritten(written *Picture, isComplete bool) {
	note := func(p *Picture) *Picture {
		c := *p
		if c.heldOn = append(slices.Clip(p.heldOn), written.Tables); isComplete {
			c.heldOn = holding(written.Tables)
		}
		return &c
	}
	if ps.Base != nil {
		ps.Base = note(ps.Base)
	}
	if ps.Staged == written {
		ps.Staged = note(written)
	}
}

// RestartFromLive makes the live tables the base of the what-if, if the live subnet is the same as that of the base. It
// reports whether the what-if now starts from the live tables.
func (ps *Pictures) RestartFromLive() bool {
	switch {
	case ps.Base == nil:
		return true
	case ps.Base.file != "" || ps.Live.Tables == nil || !fabric.Same(ps.Base.Fabric, ps.Live.Fabric):
		return false
	}
	ps.Base = ps.Live.On(ps.Base.Fabric).as(Base)
	ps.Base.heldOn = holding(ps.Live.Tables)
	ps.WhatIf, ps.past = ps.Base.On(ps.WhatIf.Fabric).as(WhatIf), compute.Past{}
	return true
}
