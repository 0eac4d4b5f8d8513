// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/write"
	"example.org/ibconsole/history"
	"example.org/ibconsole/internal/base/audit"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/compute"
	"example.org/ibconsole/shell/session/connection"
	"example.org/ibconsole/shell/session/journal"
)

// ErrReadOnly reports that the session may not write to switches.
var ErrReadOnly = errors.New("the session is read-only (try: write on)")

// SetWrite allows or forbids writing to switches. It fails if the options of the session forbid it to the user.
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

// Audit logs a write to a subnet that is not simulated, or its refusal err, in the log of the machine. A log that fails
// is reported once and stops nothing.
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
	return journal.Journal{Recorder: s.recorder.Load(), Subnet: s.Subnet(), UsualFile: stateFile(s.opt.StateDir)}
}

// FindInterrupted updates the interrupted commit of the state from the journal.
func (s *Session) FindInterrupted(ctx context.Context) error {
	j := s.Journal()
	c, found, err := j.Interrupted(ctx)
	if err != nil {
		return err
	}
	text := ""
	if found {
		text = j.Interruption(c).Error()
	}
	if text != s.State().Interrupted {
		s.Publish(ChangeLive, func(st *State) { st.Interrupted = text })
	}
	return nil
}

// findInterruptedOfOthers updates the interrupted commit after a sweep: another console may have left or finished one.
func (s *Session) findInterruptedOfOthers(ctx context.Context) error {
	if !s.State().Source.Live() || !s.recorder.Load().Exists() {
		return nil
	}
	return s.FindInterrupted(ctx)
}

// findEarlierCommits reports at the start of a session what the history has of earlier commits: an interrupted one, or
// one of an older version that failed.
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
		s.warn(fmt.Errorf("the commit of %s by %s failed, and it is unknown whether a part of it was written: "+
			"compare with diff live %d; finish it with commit resume yes, or undo it with rollback yes",
			j.Began.Format(time.DateTime), fabric.Escape(j.Who), j.Before))
	}
}

// WhoWrote returns who probably wrote some entries, in words, without the commits for which isCandidate returns false.
func (o *Op) WhoWrote(ctx context.Context, rd *Reading, found []write.Conflict,
	isCandidate func(*history.JournalEntry) bool) (string, error) {
	return o.session.whoWrote(ctx, rd, found, isCandidate)
}

// whoWrote returns who probably wrote some entries, in words: another console whose commit is in the journal and for
// which isCandidate returns true, otherwise the master subnet manager among those that were read.
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

// Written returns what the last commit of the session wrote, nil for none.
func (o *Op) Written() *journal.Written { return o.session.written }

// SetWritten records what a commit wrote, for later sweeps to compare the switches with; nil for nothing.
func (o *Op) SetWritten(w *journal.Written) { o.session.written, o.session.overwritten = w, 0 }

// findOverwritten compares the switches after a sweep with what the last commit of the session wrote. It records in the
// journal what others have written over it, and describes that; "" if there is nothing new.
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
	ErrMoved = errors.New("the live subnet is no longer the one that the what-if started from (try: restore all)")
)

// CheckStaged returns why the staged tables are not for the live subnet, nil if they are.
func (st *State) CheckStaged() error {
	switch {
	case st.TopologyFile() != "" && !fabric.SameLinks(st.root(), st.Live.Fabric):
		return fmt.Errorf("the what-if starts from %s, not from the live subnet (try: restore all; route)",
			st.TopologyFile())
	case st.Base != nil && !fabric.SameLinks(st.Base.Fabric, st.Live.Fabric):
		return ErrMoved
	case st.Added() != "":
		return fmt.Errorf("the what-if has what the live subnet lacks: %s (once it is cabled: sweep full; restore "+
			"all; route)", st.Added())
	case st.Stale:
		return ErrStale
	}
	return nil
}

// Stage stages tables. They count as computed for the present what-if unless they have another fabric.
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

// ToStage returns a state of the history as staged tables, for switches that hold the tables held, nil for none.
func (p *Picture) ToStage(origin string, held *fabric.Tables) *Picture {
	staged, tables := *p.as(Staged), *p.Tables
	tables.Origin = origin
	staged.Tables, staged.heldOn = &tables, holding(held)
	return &staged
}

// HeldOn returns the tables that the switches were expected to hold when the state was made. An entry of a switch that
// is in none of them was written by others.
func (p *Picture) HeldOn() []*fabric.Tables { return p.heldOn }

// holding returns a list with tables, empty and not nil for none.
func holding(t *fabric.Tables) []*fabric.Tables {
	if t == nil {
		return []*fabric.Tables{}
	}
	return []*fabric.Tables{t}
}

// held returns the tables that the switches are expected to hold when tables are computed now.
func (ps *Pictures) held() []*fabric.Tables {
	if ps.Base != nil && ps.Base.heldOn != nil {
		return ps.Base.heldOn
	}
	return holding(ps.Live.Tables)
}

// NoteWritten notes that the switches hold the tables of a commit, or a part of them if isComplete is false.
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

// RestartFromLive makes the live tables the base of the what-if, if the subnet is the same. It reports whether the
// what-if starts from the live tables.
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
