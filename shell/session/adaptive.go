// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/adaptive"
	"example.org/ibconsole/routing/engines/minhop"
	"example.org/ibconsole/routing/engines/updn"
	"example.org/ibconsole/shell/session/settings"
)

// Adapted says what [Session.Adapt] made.
type Adapted struct {
	By       string // whose hops the groups are of: "updn", "minhop" where that refuses, as Why says
	Why      string
	Switches int // with groups
	Groups   int
}

// Adapt stages the tables that a reading command takes with groups for adaptive routing: all ports on shortest up/down
// paths, or shortest ones where the fabric has no roots. Tables that are routed later get theirs. They are on paper
// alone: groups are written to no switch.
func (s *Session) Adapt(ctx context.Context) (Adapted, error) {
	op, err := s.Begin(ctx, "group ports")
	if err != nil {
		return Adapted{}, err
	}
	defer op.End()
	st := s.State()
	p, err := st.FreshTablesOf("")
	if err != nil {
		return Adapted{}, err
	}
	with, rep, err := grouped(ctx, &st, p.Tables, adaptive.Always)
	if err != nil {
		return Adapted{}, err
	}
	s.stageTables(&st, p, with)
	s.Publish(ChangeStaged, func(st *State) { st.Adapting = true })
	return rep, nil
}

// StageTables stages a picture with other tables.
func (o *Op) StageTables(p *Picture, t *fabric.Tables) {
	st := o.session.State()
	o.session.stageTables(&st, p, t)
}

// stageTables stages a picture with other tables.
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

// Unadapt ends [Session.Adapt]: what is staged loses its groups.
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

// groupsAlone reports whether what is staged has no other linear tables than the switches.
func (ps *Pictures) groupsAlone() bool {
	return ps.Live.Tables != nil && ps.Staged.Tables.LFT == ps.Live.Tables.LFT && ps.Staged.Tables.Adaptive != nil
}

// withGroups are routed tables with the groups that the settings give them, or [Session.Adapt].
func (st *State) withGroups(ctx context.Context, t *fabric.Tables) (with *fabric.Tables, err error) {
	kind, how := st.Settings.Groups(t.Origin)
	switch {
	case kind == settings.LinkGroups:
		return adaptive.Aggregated(ctx, t, how)
	case kind == settings.TreeGroups || st.Adapting:
		with, _, err = grouped(ctx, st, t, how)
		return with, err
	}
	return t, nil
}

// grouped are tables with groups by the hops of up/down routing with the session's roots.
func grouped(ctx context.Context, st *State, t *fabric.Tables, how adaptive.How) (*fabric.Tables, Adapted, error) {
	rep := Adapted{By: updn.Engine{}.Name()}
	opt := st.Settings.Job().Options
	opt.Progress = nil
	res, err := updn.Engine{}.Route(ctx, t.Fabric, opt)
	if refused, ok := errors.AsType[*routing.RefusedError](err); ok {
		rep.By, rep.Why = minhop.Engine{}.Name(), refused.Reason
		res, err = minhop.Engine{}.Route(ctx, t.Fabric, opt)
	}
	if err != nil {
		return nil, rep, fmt.Errorf("count hops for groups: %w", err)
	}
	with, err := adaptive.Grouped(ctx, t, res.Hops, how)
	if err != nil {
		return nil, rep, err
	}
	for i := range with.Adaptive.Switches {
		if n := len(with.Adaptive.Switches[i].Groups) - 1; n > 0 {
			rep.Switches++
			rep.Groups += n
		}
	}
	return with, rep, nil
}
