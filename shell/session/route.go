// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"fmt"
	"slices"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/history"
	"example.org/ibconsole/routing/changes/diff"
	"example.org/ibconsole/routing/engines"
)

// Keep says whether routes that are still among the shortest stay as they are.
type Keep uint8

// The ways to keep routes.
const (
	// KeepAsOpenSM keeps them where OpenSM would: where things were only lost, so
	// in a what-if of a subnet with tables. OpenSM computes all anew on its first
	// sweep and whenever a link or host has come up.
	KeepAsOpenSM Keep = iota
	KeepYes
	KeepNo
)

// RouteReport says what [Session.Route] did.
type RouteReport struct {
	// Engine is the one that routed, Refusals are those before it in the chain.
	Engine   string
	Refusals []engines.Refusal
	// Took is the engine's own wall time, that of the ones which refused included.
	Took     time.Duration
	Switches int
	// Entries is the number of LFT entries that lead somewhere.
	Entries int
	// Changed is the number of entries that differ from those of Against, the
	// base of the paper or the live picture. Where that has no tables, all
	// entries changed and Against is empty. Unread switches have none there, and
	// were not compared.
	Changed, Unread int
	Against         Kind
	// Kept says that existing routes were kept where they could be.
	Kept bool
	// Assigned is the number of ports that got other LIDs than they have.
	Assigned int
	Warnings []string
	// Multicast is nil where no groups are known.
	Multicast *MulticastReport
}

// Route computes tables for the what-if, or the live fabric where nothing has
// failed on paper, and stages them.
func (s *Session) Route(ctx context.Context, keep Keep) (RouteReport, error) {
	end, err := s.begin(ctx, "route")
	if err != nil {
		return RouteReport{}, err
	}
	defer end()
	st := s.State()
	p, rep, err := s.compute(ctx, &st, keep)
	if err != nil {
		return RouteReport{}, err
	}
	var warnings []string
	if rep.Multicast, warnings, err = s.multicast(ctx, &st, p); err != nil {
		return RouteReport{}, err
	}
	rep.Warnings = append(rep.Warnings, warnings...)
	against := st.paperBase()
	rep.Changed = rep.Entries
	if against.Tables != nil {
		d := diff.Count(against.Tables, p.Tables)
		rep.Against, rep.Changed, rep.Unread = against.Kind, d.Changed, d.Unread
	}
	s.stage(p)
	s.record(history.Route, p, "", map[string]float64{"seconds": rep.Took.Seconds(), "entries": float64(rep.Entries), "changed": float64(rep.Changed)})
	return rep, nil
}

// compute routes the paper of a state with its settings.
func (s *Session) compute(ctx context.Context, st *State, keep Keep) (*Picture, RouteReport, error) {
	set := &st.Settings
	before := st.Paper()
	lids, err := set.assignLIDs(before)
	if err != nil {
		return nil, RouteReport{}, fmt.Errorf("assign LIDs: %w", err)
	}
	f := lids.fabric
	start := time.Now()
	held, note := set.cachedRoutes(st, f, keep)
	if held != nil {
		p, rep := heldPaper(before, held)
		rep.Took, rep.Assigned = time.Since(start), countAssigned(before, f)
		rep.Warnings = slices.Concat(set.strangers(f), lids.notes, note)
		return p, rep, nil
	}
	opt := set.routing
	opt.Progress = s.progress
	opt.LMC = ownLMC(f)
	if set.lmcSet {
		opt.LMC = set.lids.LMC
	}
	if opt.Existing, err = existing(st, f, keep); err != nil {
		return nil, RouteReport{}, err
	}
	start = time.Now()
	chain, err := s.enginesOf(ctx, st)
	if err != nil {
		return nil, RouteReport{}, err
	}
	res, refusals, err := engines.Try(ctx, chain, f, opt)
	if err != nil {
		return nil, RouteReport{}, err
	}
	rep := RouteReport{
		Engine: res.Tables.Origin, Refusals: refusals, Took: time.Since(start), Kept: opt.Existing != nil && keeps(res.Tables.Origin),
		Assigned: countAssigned(before, f), Warnings: slices.Concat(set.strangers(f), lids.notes, note, res.Warnings),
	}
	if opt.Existing != nil {
		lids.top = max(lids.top, slices.Max(st.paperBase().Tables.Top))
	}
	if res.CAOrder == nil { // ftree's tables end with the LIDs that are there
		res.Tables = upTo(res.Tables, lids.top)
	}
	rep.Switches, rep.Entries = countEntries(res.Tables)
	return &Picture{
		Kind: Staged, Fabric: f, Tables: res.Tables, Hops: res.Hops, Roots: res.Roots, Ranks: res.Ranks, CAOrder: res.CAOrder,
		Multicast: res.Multicast, When: time.Now(), madeOf: before, by: &maker{rep.Engine, set.Given},
	}, rep, nil
}

// keeps says whether an engine keeps routes that it is given; the others compute
// all anew, as OpenSM's do.
func keeps(engine string) bool {
	return slices.Contains([]string{"minhop", "updn", "dnup", "dor"}, engine)
}

// upTo gives tables entries, and switches a LinearFDBTop, up to a LID that a port
// had and that none has any more.
func upTo(t *fabric.Tables, top uint16) *fabric.Tables {
	if top <= t.LFT.MaxLID {
		return t
	}
	g := *t
	g.LFT = t.LFT.Grown(top)
	g.Top = slices.Repeat([]uint16{top}, len(t.Top))
	return &g
}

// existing are the tables whose routes are kept, nil for none.
func existing(st *State, f *fabric.Fabric, keep Keep) (*fabric.LFT, error) {
	base := st.paperBase()
	usable := base.Tables != nil && len(base.Fabric.Nodes) == len(f.Nodes) && base.Fabric.MaxLID > 0
	switch {
	case keep == KeepYes && !usable:
		return nil, fmt.Errorf("there are no routes to keep: %s has no tables for this fabric", base.Kind)
	case keep == KeepYes, keep == KeepAsOpenSM && usable && st.WhatIf != nil:
		return base.Tables.LFT, nil
	}
	return nil, nil
}

func (s *Session) stage(p *Picture) {
	s.update(ChangeStaged, func(st *State) { st.Staged, st.Stale, st.Written = p, false, false })
}

// Unstage throws the staged tables away.
func (s *Session) Unstage() {
	s.update(ChangeStaged, func(st *State) { st.Staged, st.Stale, st.Written = nil, false, false })
}

func countEntries(t *fabric.Tables) (switches, entries int) {
	for sw := range t.Fabric.Switches {
		if !t.Known[sw] {
			continue
		}
		switches++
		for _, p := range t.LFT.Row(fabric.SwitchIndex(sw)) {
			if p != fabric.NoPath {
				entries++
			}
		}
	}
	return switches, entries
}

func countAssigned(before, after *fabric.Fabric) int {
	n := 0
	for _, e := range after.EndPorts {
		if p, q := &before.Ports[e], &after.Ports[e]; p.LID != q.LID || p.LMC != q.LMC {
			n++
		}
	}
	return n
}
