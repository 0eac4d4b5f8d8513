// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/internal/base/when"
	"example.org/ibconsole/routing/changes/diff"
	"example.org/ibconsole/routing/changes/persist"
	"example.org/ibconsole/routing/compute"
	"example.org/ibconsole/routing/engines"
	"example.org/ibconsole/routing/engines/nue"
	"example.org/ibconsole/shell/session/calibration"
	"example.org/ibconsole/shell/session/managers"
	"example.org/ibconsole/shell/session/source"
)

// usualOpVLs is the code of OperationalVLs for 8 data VLs, which usual ports have without max_op_vls.
const usualOpVLs = 4

// Calibrate computes tables for the live subnet with the settings, and compares them with the tables on the switches.
// Nothing is staged. If they differ in more than routes that the subnet manager kept, what-ifs are marked as estimates.
//
// If they agree, and the subnet administration grants the computed SLs, these SLs are used for the live paths until the
// live tables change. SL2VL tables that the settings define are also compared. If they have not been read, Calibrate
// and later sweeps read them.
func (s *Session) Calibrate(ctx context.Context) (calibration.Calibration, error) {
	op, err := s.Begin(ctx, "calibrate")
	if err != nil {
		return calibration.Calibration{}, err
	}
	defer op.End()
	st, p, err := s.computeLive(ctx)
	if err == nil && s.conn.Online() && st.Live.Tables.Unread.SL2VL && calibration.PlansVLs(&st.Settings, p) {
		s.reads.SL2VL = true
		if _, err = sweeperOf(s).sweep(ctx); err == nil {
			st, p, err = s.computeLive(ctx)
		}
	}
	if err != nil {
		return calibration.Calibration{}, err
	}
	c := calibration.Calibration{Engine: p.Figures.Engine, Kinds: map[calibration.Kind]int{},
		Warnings: p.Figures.Warnings, When: time.Now(), Of: st.Live.Tables}
	c.Refused = prose.Words(p.Figures.Refusals, engines.Refusal.String)
	c.Compare(st.Live.Tables, p.Tables)
	if calibration.PlansVLs(&st.Settings, p) {
		c.Planned = &fabric.Tables{Fabric: p.Tables.Fabric, SL2VL: p.Tables.SL2VL}
		c.SL2VLs, c.SL2VLDiffer = diff.SwitchMappings(c.Of, c.Planned)
	}
	if !c.Agrees() && p.Tables.Origin == nue.Name && p.Tables.SLs != nil {
		c.Warnings = append(c.Warnings, nue.METIS)
	}
	if n := st.Settings.MaxOpVLs(); !c.Agrees() && n > 0 && n < usualOpVLs {
		c.Warnings = append(c.Warnings, fmt.Sprintf("max_op_vls %d: the first sweep of OpenSM routes with the "+
			"VLs that the ports had before, and only later sweeps with max_op_vls; the switches may have the "+
			"tables of "+
			"its first sweep", n))
	}
	if master, ok := st.Master(); ok {
		c.Master = master
		s.AskManager(ctx)
	}
	c.Settings[0], c.Settings[1] = st.Settings.Words()
	c.Own = st.Settings.Conf() != ""
	c.From = st.Calibrated.Before(c.Of)
	if err := s.keptRoutes(ctx, &st, &c); err != nil {
		return calibration.Calibration{}, err
	}
	if c.Explained() && st.Source.Kind != source.Sim && fabric.SameLIDs(st.Live.Fabric, p.Tables.Fabric) {
		if c.Why, err = s.whyNotSLs(ctx, &st, p.Tables); err != nil {
			return calibration.Calibration{}, err
		}
		c.SLs = c.Why == ""
	}
	s.Publish(ChangeSettings|ChangeLive, func(st *State) {
		c.Of = st.Live.Tables
		st.Estimate, st.Calibrated = !c.Explained(), &c
		switch {
		case c.SLs:
			st.takeSLs(&liveSLs{sls: p.Tables.SLs, computed: true, unsetVLs: p.Figures.UnsetVLs})
		case st.sls != nil && st.sls.computed:
			st.forgetSLs()
		}
		c = *st.Calibrated
	})
	return c, nil
}

// computeLive computes tables for the live subnet, without simulated failures.
func (s *Session) computeLive(ctx context.Context) (State, *compute.Result, error) {
	st := s.State()
	if st.Live.Tables == nil || st.Live.Fabric.MaxLID == 0 {
		return st, nil, errors.New("the live subnet has no forwarding tables to compare with")
	}
	st.Base, st.WhatIf, st.drawn, st.past = nil, nil, drawn{}, compute.Past{}
	job := s.Job(&st)
	job.Keep = compute.KeepNo
	p, err := compute.Unicast(ctx, job)
	if err == nil {
		p.Tables = st.partitioned(p.Tables, true)
	}
	return st, p, err
}

// keepCalibration applies the calibration to live tables that were read again, if they have not changed.
func (st *State) keepCalibration() {
	c := *st.Calibrated
	c.Of = st.Live.Tables
	if c.Planned != nil {
		c.SL2VLs, c.SL2VLDiffer = diff.SwitchMappings(c.Of, c.Planned)
	}
	st.Calibrated = &c
	if c.Explained() {
		return
	}
	st.Estimate, c.Next = true, nil
	if st.sls != nil && st.sls.computed {
		c.SLs = false
		st.forgetSLs()
	}
}

// keptRoutes determines whether the live tables differ from the computed ones only because the subnet manager kept
// routes. It also determines what the subnet manager remembers afterwards.
func (s *Session) keptRoutes(ctx context.Context, st *State, c *calibration.Calibration) error {
	live := st.Live.Tables
	defer func() {
		if c.Next == nil && c.Explained() {
			c.Next = &calibration.Memory{Past: compute.Past{Tables: live, Computed: live}, Settings: c.Settings}
		}
	}()
	if c.Differ == 0 || c.SL2VLDiffer > 0 {
		return nil
	}
	gives := func(keep compute.Keep, past compute.Past) (*compute.Result, error) {
		job := s.Job(st)
		job.Keep, job.Past = keep, past
		made, err := compute.Unicast(ctx, job)
		if err != nil || !made.Figures.Kept && made.Figures.Engine != compute.CachedEngine ||
			diff.Count(live, made.Tables).Changed > 0 {
			return nil, err
		}
		return made, nil
	}
	if c.From != nil && c.From.Settings == c.Settings {
		past := c.From.Past
		past.Tables = persist.Transfer(live.Fabric, past.Tables)
		switch made, err := gives(compute.KeepAsOpenSM, past); {
		case err != nil:
			return err
		case made != nil:
			c.Kept, c.Next = calibration.KeptSeen, &calibration.Memory{Past: made.Past, Settings: c.Settings}
			return nil
		}
	}
	if !calibration.HasUnlinked(live.Fabric) {
		return nil
	}
	made, err := gives(compute.KeepYes, compute.Past{Tables: live})
	if made != nil {
		c.Kept = calibration.KeptPossible
	}
	return err
}

// Proof returns what the last calibration proves about tables computed now.
func (st *State) Proof() calibration.Proof {
	master, ok := st.Master()
	if !ok || st.Source.Kind == source.Sim || st.Source.Offline() {
		return calibration.Proof{}
	}
	p := calibration.Proof{Asked: true, Manager: st.ManagerKind(), Signs: st.ManagerSigns()}
	c := st.Calibrated
	var settings [2]string
	settings[0], settings[1] = st.Settings.Words()
	if p.Why = c.Refutation(settings, &master, st.Live.Tables); p.Why == "" {
		p.Proved, p.When, p.Entries = true, &c.When, c.Entries
		p.Why = fmt.Sprintf("calibrate compared %s on %s, and ", prose.Count(c.Entries, "entry"),
			when.Text(c.When)) +
			prose.When(c.Differ == 0, "none differs",
				fmt.Sprintf("%d are routes that OpenSM keeps when something is lost", c.Differ))
		return p
	}
	if p.Signs != "" {
		p.Why += "; " + p.Signs
	}
	switch p.Manager {
	case managers.OpenSM:
	case managers.Unknown:
		p.Why += "; the type of the SM is unknown; hint: run 'set sm kind=opensm|mlnx|ufm|other'"
	default:
		p.Why += fmt.Sprintf("; the kind of the subnet manager is %s, and the engines are those of OpenSM 3.3.23",
			p.Manager)
	}
	return p
}
