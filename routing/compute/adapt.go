// SPDX-License-Identifier: Apache-2.0

package compute

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/changes/diff"
	"example.org/ibconsole/routing/changes/incremental"
	"example.org/ibconsole/routing/changes/persist"
	"example.org/ibconsole/routing/checks/credits"
)

// Adaptation describes how an incremental job changed the previous tables.
type Adaptation struct {
	// Touched is the number of changed entries as [diff.Count] counts them, Switches the number of switches that hold
	// them. Added is the number of entries on switches that the previous tables do not have.
	Touched, Switches, Added int
	// FullChanged is the number of entries that a full routing by Engine changes. It is -1 if the full routing was not
	// requested.
	FullChanged int
	Engine      string
	// Examined counts the entries and links that were checked one by one.
	Examined int
	// LIDs counts the LIDs with at least one broken entry. Entries counts the entries of a full routing: one for each
	// LID on each switch.
	LIDs, Entries int
	// Examples lists some of the pairs of a switch and a LID without a path. Unreachable counts all these pairs.
	Examples    []string
	Unreachable int
	Changes     []string
	// Loop is set to true if the result has a credit loop that the previous tables do not have. It is nil if this is
	// unknown.
	Loop *bool
	// Repair is the method that replaced broken paths. Why lists the reasons why repairs with fewer changes were not
	// taken.
	Repair persist.Repair
	Why    []string
}

// maxListed bounds the number of Examples.
const maxListed = 8

// adapt adapts the previous tables to the subnet. It changes as few entries as possible without adding a credit loop.
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
	guard := persist.Guard{
		Old: job.Before,
		Credits: func(ctx context.Context, t *fabric.Tables) (*credits.Result, error) {
			return job.Facts.Credits(ctx, t, credits.Options{})
		},
		Full: func(ctx context.Context) (*routing.Result, error) {
			full, err := job.route(ctx, &lids)
			if err != nil {
				return nil, err
			}
			job.withoutQoS(full)
			return &full.Result, nil
		},
	}
	done, err := guard.Repair(ctx, made)
	if err != nil {
		return nil, err
	}
	took := time.Since(start)
	a, err := job.adapted(ctx, done)
	if err != nil {
		return nil, err
	}
	a.Entries = entriesOf(f)
	res := &Result{
		Result: routing.Result{Tables: upTo(done.Tables, lids.top)}, Adaptation: a,
		Figures: Figures{Took: took, Changed: a.Touched, Against: job.Against},
	}
	if err := job.trees(ctx, res); err != nil {
		return nil, err
	}
	warnings := a.judgeLoop(done)
	res.Figures.Warnings = append(warnings, res.Figures.Warnings...)
	return res, nil
}

// adapted returns the description of an incremental result. If requested, it compares the result with a full routing.
func (job *Job) adapted(ctx context.Context, made *persist.Guarded) (*Adaptation, error) {
	d := diff.Count(job.Before, made.Tables)
	a := &Adaptation{Touched: d.Changed, Switches: d.Switches, FullChanged: -1, Examined: made.Looked, LIDs: made.LIDs,
		Unreachable: len(made.Unreached), Repair: made.Repair, Why: made.Why}
	f := made.Tables.Fabric
	for s, n := range f.Switches {
		if job.Before.Fabric.SwitchByGUID(f.Nodes[n].GUID) == fabric.None {
			for lid := uint16(1); lid <= f.MaxLID; lid++ {
				if made.Tables.Port(fabric.SwitchIndex(s), lid) != fabric.NoPath {
					a.Added++
				}
			}
		}
	}
	for _, u := range made.Unreached[:min(maxListed, len(made.Unreached))] {
		a.Examples = append(a.Examples, fmt.Sprintf("%s to LID %d", f.NodeName(f.Switches[u.Switch]), u.LID))
	}
	for _, v := range made.Changes {
		a.Changes = append(a.Changes, v.String())
	}
	if made.Full != nil {
		a.FullChanged, a.Engine = diff.Count(job.Before, made.Full.Tables).Changed, made.Full.Tables.Origin
	}
	if !job.CompareFull || made.Full != nil {
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

// judgeLoop sets a.Loop, and returns warnings about credit loops.
func (a *Adaptation) judgeLoop(done *persist.Guarded) (warnings []string) {
	if u := cmp.Or(done.Loop.Unknown(), done.Before.Unknown()); u != "" {
		return []string{"whether there is a new credit loop is unknown: " + u}
	}
	isNew := done.Loop.Verdict == credits.Loop && done.Before.Verdict == credits.None
	a.Loop = &isNew
	if !isNew && done.Loop.Verdict == credits.Loop {
		return []string{fmt.Sprintf("a credit loop over %s stays: the previous tables have one as well",
			prose.Count(len(done.Loop.Ring), "link"))}
	}
	if !isNew {
		return nil
	}
	return []string{fmt.Sprintf("CREDIT LOOP over %s that the previous tables do not have, and that a full "+
		"route has as well", prose.Count(len(done.Loop.Ring), "link"))}
}
