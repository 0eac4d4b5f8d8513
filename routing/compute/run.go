// SPDX-License-Identifier: Apache-2.0

package compute

import (
	"context"
	"fmt"
	"slices"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/changes/diff"
	"example.org/ibconsole/routing/changes/persist"
	"example.org/ibconsole/routing/changes/ucastcache"
	"example.org/ibconsole/routing/checks/linkload"
	"example.org/ibconsole/routing/engines"
	"example.org/ibconsole/routing/engines/torus"
)

// Run makes the tables of a subnet with those of its multicast groups. It fails with
// ctx's error where ctx ends first.
func Run(ctx context.Context, job *Job) (*Result, error) {
	if job.Incremental {
		return job.adapt(ctx)
	}
	res, err := Unicast(ctx, job)
	if err != nil {
		return nil, err
	}
	if err := job.trees(ctx, res); err != nil {
		return nil, err
	}
	g := &res.Figures
	if g.Changed = g.Entries; job.Before != nil {
		d := diff.Count(job.Before, res.Tables)
		g.Against, g.Changed, g.Unread = job.Against, d.Changed, d.Unread
	}
	g.Measures, err = linkload.Quickly(ctx, res.Tables, res.CAOrder, 1, nil)
	return res, err
}

// Unicast is [Run] without trees, and without comparing what it made.
func Unicast(ctx context.Context, job *Job) (*Result, error) {
	lids, err := job.LIDs.assign(job.Fabric)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	res, note := job.cached(lids.fabric)
	if res == nil {
		if res, err = job.route(ctx, &lids); err != nil {
			return nil, err
		}
	} else {
		res.Figures.Took = time.Since(start)
	}
	g := &res.Figures
	g.Engine, g.Assigned = res.Tables.Origin, countAssigned(job.Fabric, lids.fabric)
	g.Warnings = slices.Concat(job.Notes, lids.notes, note, res.Warnings)
	g.count(res.Tables)
	return res, nil
}

// route tries the engines.
func (job *Job) route(ctx context.Context, lids *assignment) (*Result, error) {
	f, opt := lids.fabric, job.Options
	opt.LMC = f.MaxLMC()
	if job.LIDs.Chosen {
		opt.LMC = job.LIDs.LMC
	}
	var err error
	if opt.Existing, err = job.existing(f); err != nil {
		return nil, err
	}
	start := time.Now()
	chain, err := job.chain(ctx)
	if err != nil {
		return nil, err
	}
	made, refusals, err := engines.Try(ctx, chain, f, opt)
	if err != nil {
		return nil, err
	}
	res := &Result{Result: *made, Figures: Figures{
		Refusals: refusals, Took: time.Since(start), Kept: opt.Existing != nil && keeps(made.Tables.Origin),
	}}
	top := lids.top
	if opt.Existing != nil || job.Added && job.Before != nil {
		top = max(top, slices.Max(job.Before.Top))
	}
	if res.CAOrder == nil { // ftree's tables end with the LIDs that are there
		res.Tables = upTo(res.Tables, top)
	}
	return res, nil
}

// keeps reports whether an engine keeps routes that it is given; the others compute
// all anew, as OpenSM's do.
func keeps(engine string) bool {
	return slices.Contains([]string{"minhop", "updn", "dnup", "dor"}, engine)
}

// existing are the tables whose routes are kept, nil for none.
func (job *Job) existing(f *fabric.Fabric) (*fabric.LFT, error) {
	t := job.Before
	usable := t != nil && t.Fabric.MaxLID > 0 && slices.ContainsFunc(f.Switches, func(n fabric.NodeIndex) bool {
		return t.Fabric.SwitchByGUID(f.Nodes[n].GUID) != fabric.None
	})
	switch {
	case job.Keep == KeepYes && !usable:
		return nil, fmt.Errorf("there are no routes to keep: %s has no tables for this fabric", job.Against)
	case job.Keep == KeepYes, job.Keep == KeepAsOpenSM && usable && job.Failed && !job.Added:
	default:
		return nil, nil
	}
	if fabric.SameNodes(t.Fabric, f) {
		return t.LFT, nil
	}
	return persist.Lay(f, t).LFT, nil
}

// CachedEngine is what figures call the engine where the unicast cache held.
const CachedEngine = "ucast_cache"

// cached are the tables as OpenSM's unicast cache leaves them, nil where it does not
// hold or is not asked for, and what to say of it.
func (job *Job) cached(f *fabric.Fabric) (*Result, []string) {
	if !job.Cached || job.Keep != KeepAsOpenSM || !job.Failed {
		return nil, nil
	}
	var base ucastcache.Cache
	if t := job.Before; t != nil && t.Fabric.MaxLID > 0 {
		base = ucastcache.New(t)
	}
	tables, verdict := base.Next(f)
	note := []string{verdict.String()}
	if tables == nil {
		return nil, note
	}
	tables.Origin = CachedEngine
	return &Result{Result: routing.Result{Tables: tables}}, note
}

// chain are the engines, of which torus-2QoS without a configuration gets what is
// recognised.
func (job *Job) chain(ctx context.Context) ([]routing.Engine, error) {
	all := slices.Clone(job.Engines)
	for i, e := range all {
		grid, ok := e.(torus.Engine)
		if !ok || grid.Conf != nil || grid.Unread != nil || grid.NoQoS || job.Torus == nil {
			continue
		}
		var err error
		if grid.Recognised, err = job.Torus.Of(ctx, job.Base); err != nil {
			return nil, err
		}
		all[i] = grid
	}
	return all, nil
}
