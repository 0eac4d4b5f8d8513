// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/shell/session/portgroups"
)

// Adapt stages the default tables with port groups for adaptive routing. A group has all ports on shortest up/down
// paths, or on shortest paths if the fabric has no roots. Tables that are computed later also get groups. Groups are
// only simulated: no commit writes them.
func (s *Session) Adapt(ctx context.Context) (portgroups.Report, error) {
	op, err := s.Begin(ctx, "group ports")
	if err != nil {
		return portgroups.Report{}, err
	}
	defer op.End()
	st := s.State()
	p, err := st.FreshTablesOf("")
	if err != nil {
		return portgroups.Report{}, err
	}
	with, rep, err := portgroups.Always(ctx, &st.Settings, p.Tables)
	if err != nil {
		return portgroups.Report{}, err
	}
	s.stageTables(&st, p, with)
	s.Publish(ChangeStaged, func(st *State) { st.Adapting = true })
	return rep, nil
}

// StageTables stages the state p with the tables t.
func (o *Op) StageTables(p *Picture, t *fabric.Tables) {
	st := o.session.State()
	o.session.stageTables(&st, p, t)
}

// stageTables stages the state p with the tables t.
func (s *Session) stageTables(st *State, p *Picture, t *fabric.Tables) {
	staged := *p.as(Staged)
	staged.Tables, staged.When = t, time.Now()
	if p.Kind != Staged {
		staged.Simulated = st.simulated()
	}
	if staged.madeOf == nil {
		staged.madeOf = st.Paper()
	}
	s.stage(&staged)
}

// Unadapt reverses [Session.Adapt]. The staged tables lose their groups.
func (s *Session) Unadapt() {
	s.Publish(ChangePaper|ChangeStaged, func(st *State) {
		st.Adapting = false
		if st.Staged != nil && st.groupsAlone() {
			st.Staged, st.Stale, st.Written = nil, false, false
		}
		for _, p := range []**Picture{&st.Staged, &st.WhatIf, &st.Base, &st.lastBase} {
			if *p != nil && (*p).Tables != nil && (*p).Tables.Adaptive != nil &&
				(st.Live.Tables == nil || (*p).Tables.Adaptive != st.Live.Tables.Adaptive) {
				without := **p
				t := *without.Tables
				t.Adaptive = nil
				without.Tables = &t
				*p = &without
			}
		}
	})
}

// groupsAlone reports whether the staged tables differ from the live tables only in their port groups.
func (ps *Pictures) groupsAlone() bool {
	return ps.Live.Tables != nil && ps.Staged.Tables.LFT == ps.Live.Tables.LFT && ps.Staged.Tables.Adaptive != nil
}
