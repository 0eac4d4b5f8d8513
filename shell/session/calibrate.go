// SPDX-License-Identifier: Apache-2.0

package session

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/changes/diff"
	"example.org/ibconsole/routing/compute"
	"example.org/ibconsole/routing/engines"
	"example.org/ibconsole/routing/engines/nue"
	"example.org/ibconsole/shell/session/settings"
	"example.org/ibconsole/shell/session/source"
)

// Calibration says how far tables computed with the settings agree with what the
// switches hold.
type Calibration struct {
	Engine string
	// Refused are the engines before it in the chain with their reasons.
	Refused []string
	// Entries is the number of entries compared, Differ that of those which differ.
	Entries int
	Differ  int
	// Kinds count the differences by kind.
	Kinds map[DifferenceKind]int
	// SL2VLs is the number of SL2VL tables compared, SL2VLDiffer that of those which
	// differ. None are where quality of service is off, so that OpenSM writes none, or
	// where they were neither planned nor read.
	SL2VLs      int
	SL2VLDiffer int
	// SLs says that the SLs of the live paths are now taken to be those that were
	// computed, and Why not where nothing else differs.
	SLs bool
	Why string
	// Kept says whether all differences are routes that the subnet manager kept.
	Kept KeptRoutes
	// Switches have differences, those with most first. The tables of Unread were not read, and are not compared.
	Switches []CalibratedSwitch
	Unread   []string
	Warnings []string
	When     time.Time

	// of are the tables that were compared, and planned the SL2VL tables, nil where the
	// subnet manager writes none.
	of      *fabric.Tables
	planned *fabric.Tables
	// from is what the subnet manager remembered when it made the tables, nil where no calibration before explained
	// earlier tables. With these tables it remembers next, nil where they are not explained.
	from, next *remembered
	// Own is true if the settings are those of the subnet manager's own opensm.conf.
	Own bool
	// settings are those of the computed tables, in words.
	settings [2]string
	// master is the subnet manager in charge, zero for none.
	master SM
}

// IsOf reports whether these tables were compared.
func (c *Calibration) IsOf(t *fabric.Tables) bool { return c.of == t && t != nil }

// Agrees reports whether nothing differs of what was compared.
func (c *Calibration) Agrees() bool { return c.Differ == 0 && c.SL2VLDiffer == 0 }

// CalibratedSwitch is a switch whose table is not what was computed.
type CalibratedSwitch struct {
	Name    string
	GUID    uint64
	Differ  int
	Entries int
}

// DifferenceKind is how an entry differs.
type DifferenceKind string

// The kinds of differences.
const (
	// OtherPort leads to the same neighbour by another of several cables.
	OtherPort DifferenceKind = "another cable to the same neighbour"
	// OtherNeighbour leads to another switch or host.
	OtherNeighbour DifferenceKind = "another neighbour"
	// OnlyLive leads somewhere in the switch alone.
	OnlyLive DifferenceKind = "only the switch has a route"
	// OnlyComputed leads somewhere in the computed table alone.
	OnlyComputed DifferenceKind = "only the computed table has a route"
)

// Calibrate computes tables for the live subnet with the settings and compares
// them with what the switches hold. Nothing is staged. What-ifs are called
// estimates from then on where they do not agree, but for routes that the subnet manager kept. Where they do, and
// the subnet administration grants them, the SLs of the live paths, which no switch has, are
// taken to be the computed ones until the live tables change. SL2VL tables that the settings plan are compared too:
// where they were not read, that is done now and by later sweeps.
func (s *Session) Calibrate(ctx context.Context) (Calibration, error) {
	op, err := s.Begin(ctx, "calibrate")
	if err != nil {
		return Calibration{}, err
	}
	defer op.End()
	st, p, err := s.computeLive(ctx)
	if err == nil && s.conn.Online() && st.Live.Tables.Unread.SL2VL && plansVLs(&st.Settings, p) {
		s.reads.SL2VL = true
		if _, err = sweeperOf(s).sweep(ctx); err == nil {
			st, p, err = s.computeLive(ctx)
		}
	}
	if err != nil {
		return Calibration{}, err
	}
	c := Calibration{Engine: p.Figures.Engine, Kinds: map[DifferenceKind]int{}, Warnings: p.Figures.Warnings,
		When: time.Now(), of: st.Live.Tables}
	c.Refused = prose.Words(p.Figures.Refusals, engines.Refusal.String)
	c.compare(st.Live.Tables, p.Tables)
	if plansVLs(&st.Settings, p) {
		c.planned = &fabric.Tables{Fabric: p.Tables.Fabric, SL2VL: p.Tables.SL2VL}
		c.SL2VLs, c.SL2VLDiffer = diff.SwitchMappings(c.of, c.planned)
	}
	if !c.Agrees() && p.Tables.Origin == nue.Name && p.Tables.SLs != nil {
		c.Warnings = append(c.Warnings, nue.METIS)
	}
	if master, ok := st.Master(); ok {
		c.master = master
		s.AskManager(ctx)
	}
	c.settings[0], c.settings[1] = st.Settings.Words()
	c.Own = st.Settings.Conf() != ""
	c.from = st.Calibrated.before(c.of)
	if err := s.keptRoutes(ctx, &st, &c); err != nil {
		return Calibration{}, err
	}
	if c.Explained() && st.Source.Kind != source.Sim && fabric.SameLIDs(st.Live.Fabric, p.Tables.Fabric) {
		if c.Why, err = s.whyNotSLs(ctx, &st, p.Tables); err != nil {
			return Calibration{}, err
		}
		c.SLs = c.Why == ""
	}
	s.Publish(ChangeSettings|ChangeLive, func(st *State) {
		c.of = st.Live.Tables
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

// computeLive routes the live subnet, whatever has failed on paper.
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

// plansVLs reports whether a subnet manager with these settings writes the SL2VL tables
// that they gave: OpenSM does where quality of service is on.
func plansVLs(set *settings.Settings, p *compute.Result) bool {
	return set.QoS() && p.Tables.SL2VL != nil
}

// keepCalibration makes a calibration of the live picture before one of that which was
// just read and is the same.
func (st *State) keepCalibration() {
	c := *st.Calibrated
	c.of = st.Live.Tables
	if c.planned != nil {
		c.SL2VLs, c.SL2VLDiffer = diff.SwitchMappings(c.of, c.planned)
	}
	st.Calibrated = &c
	if c.Explained() {
		return
	}
	st.Estimate, c.next = true, nil
	if st.sls != nil && st.sls.computed {
		c.SLs = false
		st.forgetSLs()
	}
}

func (c *Calibration) compare(live, computed *fabric.Tables) {
	f := live.Fabric
	differ := make([]int, len(f.Switches))
	for e := range diff.Changes(live, computed) {
		differ[e.SwitchOld]++
		c.Differ++
		c.Kinds[differenceKind(f, e)]++
	}
	for sw := range f.Switches {
		if !f.SwitchNode(fabric.SwitchIndex(sw)).InSubnet {
			continue
		}
		if !live.Known[sw] {
			c.Unread = append(c.Unread, f.NodeName(f.Switches[sw]))
			continue
		}
		entries := max(int(live.Top[sw]), int(computed.LFT.MaxLID))
		c.Entries += entries
		if differ[sw] > 0 {
			c.Switches = append(c.Switches, CalibratedSwitch{
				f.NodeName(f.Switches[sw]), f.SwitchNode(fabric.SwitchIndex(sw)).GUID, differ[sw], entries,
			})
		}
	}
	slices.SortStableFunc(c.Switches, func(a, b CalibratedSwitch) int { return cmp.Compare(b.Differ, a.Differ) })
}

func differenceKind(f *fabric.Fabric, e diff.Entry) DifferenceKind {
	switch {
	case e.Old == fabric.NoPath:
		return OnlyComputed
	case e.New == fabric.NoPath:
		return OnlyLive
	}
	node := f.Switches[e.SwitchOld]
	a, b := f.PortAt(node, int(e.Old)), f.PortAt(node, int(e.New))
	if a != fabric.None && b != fabric.None && f.PeerNode(a) != fabric.None && f.PeerNode(a) == f.PeerNode(b) {
		return OtherPort
	}
	return OtherNeighbour
}
