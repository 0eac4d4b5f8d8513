// SPDX-License-Identifier: Apache-2.0

package compute

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/changes/diff"
	"example.org/ibconsole/routing/changes/incremental"
	"example.org/ibconsole/routing/checks/credits"
)

// Adaptation describes the changes that an incremental job made to the previous tables.
type Adaptation struct {
	// Touched is the number of changed entries, Switches the number of switches that hold them.
	Touched, Switches int
	// FullChanged is the number of entries that a full routing by Engine would have changed, -1 if not requested.
	FullChanged int
	Engine      string
	// Examined counts the entries that were checked one by one.
	Examined int
	// LIDs counts the LIDs to which some entry had lost its path, Entries the entries of a full routing: one for each
	// LID on each switch.
	LIDs, Entries int
	// Examples are some of the switches and LIDs without a path, Unreachable counts all.
	Examples    []string
	Unreachable int
	Changes     []string
	// Loop reports whether the result has a credit loop that the previous tables do not have. It is nil if unknown, or
	// not checked because that would take long.
	Loop *bool
}

// maxListed bounds the number of Examples.
const maxListed = 8

// adapt adapts the previous tables to the subnet.
func (job *Job) adapt(ctx context.Context) (*Result, error) {
	if job.Before == nil {
		return nil, incremental.ErrNoTables
	}
	lids, err := job.assign()
	if err != nil {
		return nil, err
	}
	f := lids.fabric
	start := time.Now()
	from, err := job.Facts.RoutesFrom(ctx, job.Before)
	if err != nil {
		return nil, err
	}
	made, err := from.Route(ctx, f, job.Options)
	if err != nil {
		return nil, err
	}
	took := time.Since(start)
	a, err := job.adapted(ctx, made)
	if err != nil {
		return nil, err
	}
	a.Entries = entriesOf(f)
	res := &Result{
		Result: routing.Result{Tables: upTo(made.Tables, lids.top)}, Adaptation: a,
		Figures: Figures{Took: took, Changed: made.Touched, Against: job.Against},
	}
	if err := job.trees(ctx, res); err != nil {
		return nil, err
	}
	loop, warnings, err := job.newLoop(ctx, res.Tables)
	if err != nil {
		return nil, err
	}
	a.Loop, res.Figures.Warnings = loop, append(warnings, res.Figures.Warnings...)
	return res, nil
}

// adapted describes an incremental result, and compares it with a full routing if requested.
func (job *Job) adapted(ctx context.Context, made *incremental.Result) (*Adaptation, error) {
	a := &Adaptation{Touched: made.Touched, Switches: made.Switches, FullChanged: -1, Examined: made.Looked,
		LIDs:        made.LIDs,
		Unreachable: len(made.Unreached)}
	f := made.Tables.Fabric
	for _, u := range made.Unreached[:min(maxListed, len(made.Unreached))] {
		a.Examples = append(a.Examples, fmt.Sprintf("%s to LID %d", f.NodeName(f.Switches[u.Switch]), u.LID))
	}
	for _, v := range made.Changes {
		a.Changes = append(a.Changes, v.String())
	}
	if !job.CompareFull {
		return a, nil
	}
	full, err := Unicast(ctx, job)
	if err != nil {
		return nil, fmt.Errorf("route in full for comparison: %w", err)
	}
	a.FullChanged, a.Engine = diff.Count(job.Before, full.Tables).Changed, full.Figures.Engine
	return a, nil
}

// entriesOf returns the number of entries of a subnet: one for each LID on each switch.
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

// cheapCredits is the most [credits.Work] for which an incremental routing checks for credit loops: a few tenths of a
// second.
const cheapCredits = 8_000_000

// newLoop reports whether adapted tables have a credit loop that the previous tables do not have: paths around failures
// follow no rule against turns such as that of updn.
func (job *Job) newLoop(ctx context.Context, now *fabric.Tables) (found *bool, warnings []string, err error) {
	if credits.Work(now) > cheapCredits {
		return nil, []string{
			"credit loops were not checked: adapted paths do not follow an engine's rule against them (updn's, " +
				"ftree's, ...); " +
				"check credits does",
		}, nil
	}
	loop, err := job.Facts.Credits(ctx, now, credits.Options{})
	if err != nil {
		return nil, nil, err
	}
	before := &credits.Result{}
	if loop.Verdict == credits.Loop {
		if before, err = job.Facts.Credits(ctx, job.Before, credits.Options{}); err != nil {
			return nil, nil, err
		}
	}
	if u := cmp.Or(loop.Unknown(), before.Unknown()); u != "" {
		return nil, []string{fmt.Sprintf("whether there is a new credit loop is unknown: %s", u)},
			nil
	}
	isNew := loop.Verdict == credits.Loop && before.Verdict == credits.None
	if isNew {
		warnings = []string{fmt.Sprintf("CREDIT LOOP over %d links that the previous tables do not have: "+
			"adapted paths "+
			"may turn where the rule of their engine (updn, ftree, ...) forbids it "+
			"(check credits shows the loop; route follows the rule)", len(loop.Ring))}
	}
	return &isNew, warnings, nil
}
