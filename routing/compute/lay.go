// SPDX-License-Identifier: Apache-2.0

package compute

import (
	"context"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/osm"
	"example.org/ibconsole/fabric/formats/snapshot"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/changes/diff"
	"example.org/ibconsole/routing/changes/incremental"
	"example.org/ibconsole/routing/changes/persist"
	"example.org/ibconsole/routing/engines"
	"example.org/ibconsole/routing/engines/assign"
)

// ApplyFile applies the routes of a file to the subnet. It reports which parts of the file fit the subnet. The result
// is nil if the subnet has none of the switches in the file.
func ApplyFile(ctx context.Context, job *Job, routes *osm.RouteFile) (*Result, osm.Report, error) {
	lids, err := job.assign()
	if err != nil {
		return nil, osm.Report{}, err
	}
	tables, rep, err := routes.Apply(lids.fabric)
	if err != nil || rep.Switches == 0 {
		return nil, rep, err
	}
	opt := job.Options
	res := &Result{Result: routing.Result{Tables: tables, Recommend: func(h routing.Hops) routing.Recommend {
		return assign.Recommend(lids.fabric, h, &opt, nil, tables)
	}}}
	if job.Before != nil {
		d := diff.Count(job.Before, tables)
		res.Figures.Changed, res.Figures.Unread = d.Changed, d.Unread
	}
	res.Figures.count(tables)
	return res, rep, job.trees(ctx, res)
}

// Restored describes which parts of a saved routing were used, and how.
type Restored struct {
	persist.Assessment
	// Engine is the engine named in the file, or "" if the file names none.
	Engine string
	// How is the method that computed the tables. It is [persist.Kept] also if Restore was told to keep all routes.
	How persist.How
	// RoutedBy is the engine that routed again, or "" if no engine did. Refusals are the refusals of earlier engines in
	// the chain.
	RoutedBy string
	// Repair and Why have the values of the same fields of [persist.Result].
	Repair   persist.Repair
	Why      []string
	Refusals []engines.Refusal
	// Changed counts the entries that differ from the saved entries. Unread counts switches without saved entries,
	// which were not compared.
	Changed, Unread int
	// Trees lists the multicast LIDs whose saved trees are invalid. Made lists those of them that got a new tree. The
	// other LIDs of Trees have no known group and no tree. If Restore was told to keep all routes, the invalid trees
	// remain.
	Trees, Made []uint16
	// Unreached counts the broken entries that could not be repaired.
	Unreached int
}

// Rows returns the verdicts grouped by row of table 1 of the memo (see package incremental). The result rows lists the
// names of the rows in order of appearance.
func (b *Restored) Rows() (rows []string, of map[string][]incremental.Verdict) {
	of = map[string][]incremental.Verdict{}
	for _, v := range b.Verdicts {
		if of[v.Row] == nil {
			rows = append(rows, v.Row)
		}
		of[v.Row] = append(of[v.Row], v)
	}
	return rows, of
}

// Restore compares a saved routing with the subnet and uses the parts that are still valid. If the argument keep is
// set, it keeps all routes, whatever has changed in the subnet.
func Restore(ctx context.Context, job *Job, saved *snapshot.Snapshot, keep bool) (*Result, *Restored, error) {
	lids, err := job.LIDs.remembering(job.Fabric, saved.Fabric).assign(job.Fabric)
	if err != nil {
		return nil, nil, err
	}
	b := &Restored{How: persist.Kept}
	if saved.Routing != nil {
		b.Engine = saved.Routing.Engine
	}
	res := &Result{}
	if keep {
		b.Assessment = persist.Assess(lids.fabric, saved)
		res.Tables = persist.Transfer(lids.fabric, saved.Tables)
		b.Trees = persist.BrokenTrees(res.Tables, saved.Fabric)
	} else if err := job.restore(ctx, lids.fabric, saved, res, b); err != nil {
		return nil, nil, err
	}
	g := &res.Figures
	g.Warnings = append(lids.notes, res.Warnings...)
	res.Tables = upTo(res.Tables, lids.top)
	d := diff.Count(saved.Tables, res.Tables)
	b.Changed, b.Unread = d.Changed, d.Unread
	if !keep {
		if b.Made, err = job.rebuildTrees(ctx, res, saved.Tables, b.Trees); err != nil {
			return nil, nil, err
		}
	}
	g.count(res.Tables)
	return res, b, nil
}

func (job *Job) restore(ctx context.Context, f *fabric.Fabric, saved *snapshot.Snapshot, res *Result,
	b *Restored) error {
	opt := job.options(f)
	made, err := persist.Adapt(ctx, f, saved, opt,
		func(ctx context.Context, roots []uint64, existing *fabric.LFT) (*routing.Result, error) {
			opt := opt
			opt.Existing = existing
			if opt.RootGUIDs == nil {
				opt.RootGUIDs = roots
			}
			res, refusals, err := job.try(ctx, f, opt)
			b.Refusals = refusals
			return res, err
		})
	if err != nil {
		return err
	}
	if r := made.Result; r != nil {
		b.RoutedBy = r.Tables.Origin
		res.Result = *r
		res.Tables = made.Tables
		job.withoutQoS(res)
	} else {
		res.Tables = made.Tables
		res.Hops, res.Roots = made.Hops, made.SavedRoots
	}
	b.Assessment, b.How, b.Trees, b.Unreached = made.Assessment, made.How, made.Trees, len(made.Unreached)
	b.Repair, b.Why = made.Repair, made.Why
	return nil
}
