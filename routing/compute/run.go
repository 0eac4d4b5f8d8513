// SPDX-License-Identifier: Apache-2.0

package compute

import (
	"context"
	"slices"
	"time"

	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/changes/diff"
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
	g.Since = job.Past.Tables != nil && (g.Kept || g.Back || g.Engine == CachedEngine)
	g.Engine, g.Assigned = res.Tables.Origin, countAssigned(job.Fabric, lids.fabric)
	g.Warnings = slices.Concat(job.Notes, lids.notes, note, res.Warnings)
	g.count(res.Tables)
	res.remember(job)
	return res, nil
}

// route tries the engines.
func (job *Job) route(ctx context.Context, lids *assignment) (*Result, error) {
	f, opt := lids.fabric, job.Options
	opt.LMC = f.MaxLMC()
	if job.LIDs.Chosen {
		opt.LMC = job.LIDs.LMC
	}
	last, back, err := job.last(f)
	if err != nil {
		return nil, err
	}
	if last != nil && !back {
		opt.Existing = last.LFT
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
		Refusals: refusals, Took: time.Since(start), Kept: opt.Existing != nil && keeps(made.Tables.Origin), Back: back,
	}}
	res.Past.Top = lids.top
	if last != nil {
		res.Past.Top = max(lids.top, job.past().Top, slices.Max(last.Top))
	}
	if res.CAOrder == nil { // ftree's tables end with the LIDs that are there
		res.Tables = upTo(res.Tables, res.Past.Top)
	}
	return res, nil
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
