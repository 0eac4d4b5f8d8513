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

// Adaptation says what an incremental job did to the tables before.
type Adaptation struct {
	// Touched entries on Switches are others than before.
	Touched, Switches int
	// Beside is the number of entries that a full routing would have changed, -1
	// where that was not asked for, and Engine which one.
	FullChanged int
	Engine      string
	// Examined counts the entries that had to be looked at one by one.
	Examined int
	// LIDs counts those of which some entry led nowhere, Entries what a full route
	// computes: an entry for each LID on each switch.
	LIDs, Entries int
	// Examples are some of the switches and LIDs without a path, and Lost all.
	Examples    []string
	Unreachable int
	Changes     []string
	// Loop says that the result has a credit loop that the tables before have not, nil
	// where nobody looked because that takes long, or it is unknown.
	Loop *bool
}

// maxListed is how many of what went wrong are named.
const maxListed = 8

// adapt adapts the tables before to the subnet.
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

// adapted says what was made, beside what a full routing would have.
func (job *Job) adapted(ctx context.Context, made *incremental.Result) (*Adaptation, error) {
	a := &Adaptation{Touched: made.Touched, Switches: made.Switches, FullChanged: -1, Examined: made.Looked, LIDs: made.LIDs,
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
		return nil, fmt.Errorf("route anew, to compare with: %w", err)
	}
	a.FullChanged, a.Engine = diff.Count(job.Before, full.Tables).Changed, full.Figures.Engine
	return a, nil
}

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

// cheapCredits is how much [credits.Work] an incremental routing does to look for
// credit loops: a few tenths of a second.
const cheapCredits = 8_000_000

// newLoop looks for a credit loop that adapted tables have and those that they were made of have not: paths
// around what failed follow no rule against turns, as those of updn do.
func (job *Job) newLoop(ctx context.Context, is *fabric.Tables) (found *bool, warnings []string, err error) {
	if credits.Work(is) > cheapCredits {
		return nil, []string{
			"an engine's rule against credit loops (updn's, ftree's, ...) does not bind adapted paths, and nobody " +
				"looked for loops: check credits does",
		}, nil
	}
	loop, err := job.Facts.Credits(ctx, is, credits.Options{})
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
		return nil, []string{fmt.Sprintf("whether there is a credit loop that was not there before is unknown: %s", u)},
			nil
	}
	comes := loop.Verdict == credits.Loop && before.Verdict == credits.None
	if comes {
		warnings = []string{fmt.Sprintf("CREDIT LOOP over %d links, and the tables before have none: adapted paths "+
			"may turn where the rule of their engine (updn, ftree, ...) forbids it "+
			"(check credits shows the loop; route makes paths by the rule)", len(loop.Ring))}
	}
	return &comes, warnings, nil
}
