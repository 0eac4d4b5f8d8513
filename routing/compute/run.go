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
	"example.org/ibconsole/routing/checks/linkload"
	"example.org/ibconsole/routing/engines"
	"example.org/ibconsole/routing/engines/torus"
)

// Run computes the tables of a subnet, including multicast. It returns the error of ctx if ctx ends first.
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
	if err := job.checkTree(ctx, res); err != nil {
		return nil, err
	}
	if g.Changed = g.Entries; job.Before != nil {
		d := diff.Count(job.Before, res.Tables)
		g.Against, g.Changed, g.Unread = job.Against, d.Changed, d.Unread
	}
	g.Measures, err = linkload.Estimate(ctx, res.Tables, res.CAOrder, 1, nil)
	return res, err
}

// Unicast is like [Run] without multicast, and without comparing the result with previous tables.
func Unicast(ctx context.Context, job *Job) (*Result, error) {
	lids, err := job.assign()
	if err != nil {
		return nil, err
	}
	start := time.Now()
	res, note := job.cached(lids.fabric)
	if res == nil {
		if res, err = job.route(ctx, &lids); err != nil {
			return nil, err
		}
		job.withoutQoS(res)
	} else {
		res.Figures.Took = time.Since(start)
	}
	g := &res.Figures
	g.FromPast = job.Past.Tables != nil && (g.Kept || g.RecomputedAll || g.Engine == CachedEngine)
	g.Engine, g.Assigned = res.Tables.Origin, countAssigned(job.Fabric, lids.fabric)
	g.Warnings = slices.Concat(job.Notes, lids.notes, note, res.Warnings)
	if g.DiffersFromOpenSM != "" {
		g.Warnings = append(g.Warnings, g.DiffersFromOpenSM)
	}
	g.count(res.Tables)
	res.remember(job, &lids)
	return res, nil
}

// route tries the engines.
func (job *Job) route(ctx context.Context, lids *assignment) (*Result, error) {
	f := lids.fabric
	opt := job.options(f)
	last, back, err := job.last(f)
	if err != nil {
		return nil, err
	}
	if last != nil && !back {
		opt.Existing = last.LFT
	}
	start := time.Now()
	made, refusals, err := job.try(ctx, f, opt)
	if err != nil {
		return nil, err
	}
	res := &Result{Result: *made, Figures: Figures{
		Refusals: refusals, Took: time.Since(start), Kept: opt.Existing != nil && keeps(made.Tables.Origin),
		RecomputedAll: back,
	}}
	if opt.Existing == nil {
		res.Figures.DiffersFromOpenSM = lateMaxOpVLs(&opt, made.Tables.Origin, refusals)
	}
	res.Past.Top = lids.top
	if last != nil {
		res.Past.Top = max(lids.top, job.past().Top, slices.Max(last.Top))
	}
	if res.CAOrder == nil { // ftree's tables end with the LIDs that are there
		res.Tables = upTo(res.Tables, res.Past.Top)
	}
	return res, nil
}

// options returns the options for an engine. The ports of f must have LIDs.
func (job *Job) options(f *fabric.Fabric) routing.Options {
	opt := job.Options
	opt.LMC = f.MaxLMC()
	if job.LIDs.Chosen {
		opt.LMC = job.LIDs.LMC
	}
	return opt
}

// try routes by the first engine of the chain that does not refuse, like [engines.Try].
func (job *Job) try(ctx context.Context, f *fabric.Fabric, opt routing.Options) (*routing.Result,
	[]engines.Refusal, error) {
	chain, err := job.chain(ctx)
	if err != nil {
		return nil, nil, err
	}
	return engines.Try(ctx, chain, f, opt)
}

// lateMaxOpVLs returns a note on how the tables differ from OpenSM's if max_op_vls made an engine refuse. OpenSM
// detects the low value only after it has written that engine's tables to the switches. The next engine then keeps
// routes of these tables.
func lateMaxOpVLs(opt *routing.Options, engine string, refusals []engines.Refusal) string {
	i := slices.IndexFunc(refusals, func(r engines.Refusal) bool { return r.TooFewVLs })
	if opt.MaxOpVLs == 0 || i < 0 || !keeps(engine) {
		return ""
	}
	return fmt.Sprintf("NOT OpenSM's tables: it applies max_op_vls from its second sweep on, so a master first gives "+
		"the switches the routes of %s, and then keeps routes that are still among the shortest; here all routes were "+
		"recomputed, as OpenSM does only when a link comes up", refusals[i].Engine)
}

// chain returns the engines of the job. A torus-2QoS engine without a configuration gets the recognised torus.
func (job *Job) chain(ctx context.Context) ([]routing.Engine, error) {
	all := slices.Clone(job.Engines)
	for i, e := range all {
		grid, ok := e.(torus.Engine)
		if !ok || grid.Conf != nil || grid.Unread != nil || grid.NoQoS || job.Torus == nil {
			continue
		}
		var err error
		if grid.Recognised, err = job.Torus.Config(ctx, job.Base); err != nil {
			return nil, err
		}
		all[i] = grid
	}
	return all, nil
}

// withoutQoS keeps the SL2VL tables of the subnet in the result if quality of service is off. The tables count as
// unread if they are unread in the subnet.
func (job *Job) withoutQoS(res *Result) {
	t := res.Tables
	if !job.NoQoS || t.SLs == nil || t.SL2VL == nil {
		return
	}
	tables := *t
	tables.SL2VL, tables.Unread.SL2VL = nil, true
	if was := job.Before; was != nil && fabric.SameNodes(was.Fabric, t.Fabric) {
		tables.SL2VL, tables.Unread.SL2VL = was.SL2VL, was.Unread.SL2VL
	}
	res.Tables = &tables
	res.Figures.UnsetVLs = fmt.Sprintf("%s avoids deadlock by VLs, but with quality of service off (qos FALSE) OpenSM "+
		"sets no SL2VL tables: packets take the VLs in the switches' existing tables", t.Origin)
	res.Warnings = append(res.Warnings, res.Figures.UnsetVLs)
}
