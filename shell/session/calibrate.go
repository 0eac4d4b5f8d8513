// SPDX-License-Identifier: Apache-2.0

package session

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/changes/diff"
)

// Calibration says how far tables computed with the settings agree with what the
// switches hold.
type Calibration struct {
	Engine string
	// Entries is the number of entries compared, Differ that of those which differ.
	Entries, Differ int
	// Kinds count the differences by kind.
	Kinds map[DifferenceKind]int
	// Switches have differences, those with most first.
	Switches []CalibratedSwitch
	Warnings []string

	// of are the tables that were compared.
	of *fabric.Tables
}

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
// estimates from then on where they do not agree.
func (s *Session) Calibrate(ctx context.Context) (Calibration, error) {
	end, err := s.begin(ctx, "calibrate")
	if err != nil {
		return Calibration{}, err
	}
	defer end()
	st := s.State()
	if st.Live.Tables == nil || st.Live.Fabric.MaxLID == 0 {
		return Calibration{}, errors.New("the live subnet has no forwarding tables to compare with")
	}
	st.Base, st.WhatIf = nil, nil
	p, rep, err := s.compute(ctx, &st, KeepNo)
	if err != nil {
		return Calibration{}, err
	}
	c := Calibration{Engine: rep.Engine, Kinds: map[DifferenceKind]int{}, Warnings: rep.Warnings, of: st.Live.Tables}
	c.compare(st.Live.Tables, p.Tables)
	s.update(ChangeSettings, func(st *State) { st.Estimate, st.Calibrated = c.Differ > 0, &c })
	return c, nil
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
		if !live.Known[sw] || !f.SwitchNode(fabric.SwitchIndex(sw)).InSubnet {
			continue
		}
		entries := max(int(live.Top[sw]), int(computed.LFT.MaxLID))
		c.Entries += entries
		if differ[sw] > 0 {
			c.Switches = append(c.Switches, CalibratedSwitch{f.NodeName(f.Switches[sw]), f.SwitchNode(fabric.SwitchIndex(sw)).GUID, differ[sw], entries})
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
