// SPDX-License-Identifier: Apache-2.0

package session

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/history"
	"example.org/ibconsole/routing/changes/diff"
	"example.org/ibconsole/routing/changes/incremental"
	"example.org/ibconsole/routing/checks/credits"
	"example.org/ibconsole/shell/session/analysis"
)

// IncrementalReport says what [Session.RouteIncremental] did.
type IncrementalReport struct {
	Took time.Duration
	// Touched entries on Switches are others than those of Against.
	Touched, Switches int
	Against           Kind
	// Beside is the number of entries that a full routing would have changed, -1
	// where that was not asked for, and Engine which one.
	Beside int
	Engine string
	// Looked counts the entries that had to be looked at one by one.
	Looked int
	// LIDs counts those of which some entry led nowhere, Entries what a full route
	// computes: an entry for each LID on each switch.
	LIDs, Entries int
	// Unreached are some of the switches and LIDs without a way, and Lost all.
	Unreached []string
	Lost      int
	Changes   []string
	Warnings  []string
	// Loop says that the result has a credit loop that the tables of Against have
	// not, nil where nobody looked because that takes long, or it is unknown.
	Loop *bool
}

// maxListed is how many of what went wrong a report names.
const maxListed = 8

// entriesOf counts the entries of a subnet: one for each LID on each switch.
func entriesOf(f *fabric.Fabric) int {
	switches, lids := 0, 0
	for _, n := range f.Switches {
		if f.Nodes[n].InSubnet {
			switches++
		}
	}
	for _, e := range f.EndPorts {
		lids += 1 << f.Ports[e].LMC
	}
	return switches * lids
}

// RouteIncremental adapts the tables of the base, or the live ones, to what has
// changed since, and stages the result. beside also routes anew, to compare.
func (s *Session) RouteIncremental(ctx context.Context, beside bool) (IncrementalReport, error) {
	end, err := s.begin(ctx, "route")
	if err != nil {
		return IncrementalReport{}, err
	}
	defer end()
	st := s.State()
	base := st.paperBase()
	if base.Tables == nil {
		return IncrementalReport{}, incremental.ErrNoTables
	}
	before := st.Paper()
	lids, err := st.Settings.assignLIDs(before)
	if err != nil {
		return IncrementalReport{}, fmt.Errorf("assign LIDs: %w", err)
	}
	opt := st.Settings.routing
	opt.Progress = s.progress
	start := time.Now()
	from, err := s.analysis.RoutesFrom(ctx, base.Tables)
	if err != nil {
		return IncrementalReport{}, err
	}
	res, err := from.Route(ctx, lids.fabric, opt)
	if err != nil {
		return IncrementalReport{}, err
	}
	rep := IncrementalReport{
		Took: time.Since(start), Touched: res.Touched, Switches: res.Switches, Against: base.Kind, Beside: -1, Looked: res.Looked, Lost: len(res.Unreached),
		LIDs: res.LIDs, Entries: entriesOf(lids.fabric),
	}
	for i, u := range res.Unreached {
		if i == maxListed {
			break
		}
		rep.Unreached = append(rep.Unreached, fmt.Sprintf("%s to LID %d", lids.fabric.NodeName(lids.fabric.Switches[u.Switch]), u.LID))
	}
	for _, v := range res.Changes {
		rep.Changes = append(rep.Changes, v.String())
	}
	if beside {
		full, frep, err := s.compute(ctx, &st, KeepAsOpenSM)
		if err != nil {
			return IncrementalReport{}, fmt.Errorf("route anew, to compare with: %w", err)
		}
		rep.Beside, rep.Engine = diff.Count(base.Tables, full.Tables).Changed, frep.Engine
	}
	p := &Picture{Kind: Staged, Fabric: lids.fabric, Tables: upTo(res.Tables, lids.top), When: time.Now(), madeOf: before}
	_, warnings, err := s.multicast(ctx, &st, p)
	if err != nil {
		return IncrementalReport{}, err
	}
	loop, err := newLoop(ctx, &s.analysis, base.Tables, p.Tables)
	if err != nil {
		return IncrementalReport{}, err
	}
	rep.Loop, rep.Warnings = loop.found, append(loop.warnings, warnings...)
	s.stage(p)
	s.record(history.Route, p, "incremental", map[string]float64{"seconds": rep.Took.Seconds(), "changed": float64(rep.Touched)})
	return rep, nil
}

// cheapCredits is how much [creditWork] an incremental routing does to look for credit
// loops: a few tenths of a second.
const cheapCredits = 8_000_000

// loopVerdict says whether an adapted routing has a credit loop that the one before
// has not; found is nil where nobody looked or it is unknown.
type loopVerdict struct {
	found    *bool
	warnings []string
}

// newLoop looks for a credit loop that adapted tables have and those that they were
// made of have not: ways around what failed follow no rule against turns, as those of
// updn do.
func newLoop(ctx context.Context, facts *analysis.Memo, was, is *fabric.Tables) (loopVerdict, error) {
	if creditWork(is) > cheapCredits {
		return loopVerdict{warnings: []string{"an engine's rule against credit loops (updn's, ftree's, ...) does not bind adapted ways, and nobody looked for loops: check credits does"}}, nil
	}
	loop, err := facts.Credits(ctx, is, credits.Options{})
	if err != nil {
		return loopVerdict{}, err
	}
	before := &credits.Result{}
	if loop.Verdict == credits.Loop {
		if before, err = facts.Credits(ctx, was, credits.Options{}); err != nil {
			return loopVerdict{}, err
		}
	}
	if u := cmp.Or(loop.Unread, before.Unread); loop.Verdict == credits.Unknown || before.Verdict == credits.Unknown {
		return loopVerdict{warnings: []string{fmt.Sprintf("whether there is a credit loop that was not there before is unknown: %s", u)}}, nil
	}
	found := loop.Verdict == credits.Loop && before.Verdict == credits.None
	v := loopVerdict{found: &found}
	if found {
		v.warnings = []string{fmt.Sprintf("CREDIT LOOP over %d links, and the tables before have none: adapted ways may turn where the rule of their engine (updn, ftree, ...) forbids it "+
			"(check credits shows the loop; route makes ways by the rule)", len(loop.Ring))}
	}
	return v, nil
}
