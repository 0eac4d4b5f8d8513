// SPDX-License-Identifier: Apache-2.0

package compute

import (
	"context"
	"fmt"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/checks/mcast"
	"example.org/ibconsole/routing/engines/torus"
)

// trees adds the multicast tables of the known groups to the result.
func (job *Job) trees(ctx context.Context, res *Result) error {
	if job.GroupsOf == "" {
		return nil // a subnet without known groups has no multicast tables
	}
	f, hops := res.Tables.Fabric, res.Hops
	if hops == nil {
		hops = routing.NewDistances(f)
	}
	made, err := mcast.Route(ctx, f, mcast.Router(f, hops, res.Multicast), job.Groups, job.Options.Progress)
	if err != nil {
		return err
	}
	tables := *res.Tables
	tables.MFT = made.MFT
	res.Tables = &tables
	found, err := mcast.Check(ctx, &tables, job.Groups, nil)
	if err != nil {
		return err
	}
	g := &res.Figures
	g.Warnings = append(g.Warnings, made.Warnings...)
	if found.Cycles > 0 {
		g.Warnings = append(g.Warnings,
			fmt.Sprintf("the trees of %d multicast LIDs have cycles, in which packets would circulate forever; "+
				"OpenSM makes the same with these hop counts (see check mcast)", found.Cycles))
	}
	g.Multicast = &Trees{LIDs: made.LIDs, Alone: made.Alone, Changed: -1, Groups: job.GroupsOf}
	if job.Before != nil && job.Before.MFT != nil {
		g.Multicast.Changed = mcast.Changed(job.Before, &tables)
	}
	return nil
}

// rebuildTrees computes the trees of those multicast LIDs whose saved trees are invalid. If the result has no trees, it
// computes all trees. It uses the known groups, or the groups that the saved tables imply. It returns those of these
// LIDs that got a tree.
func (job *Job) rebuildTrees(ctx context.Context, res *Result, saved *fabric.Tables, invalid []uint16) (made []uint16,
	err error) {
	of := *job
	if of.GroupsOf == "" && saved.MFT != nil {
		of.Groups, of.GroupsOf = fabric.GroupsOf(saved), "the saved routing"
	}
	kept := res.Tables.MFT
	switch {
	case kept == nil:
		err = of.trees(ctx, res)
	case len(invalid) > 0:
		of.Groups = slices.DeleteFunc(slices.Clone(of.Groups), func(g fabric.Group) bool {
			return !slices.Contains(invalid, g.MLID)
		})
		if err = of.trees(ctx, res); err == nil {
			res.Tables.MFT = merged(res.Tables.Fabric, kept, res.Tables.MFT, invalid)
			res.Figures.Multicast = nil
		}
	}
	if err != nil || res.Tables.MFT == nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(invalid), func(mlid uint16) bool {
		return !slices.ContainsFunc(of.Groups, func(g fabric.Group) bool { return g.MLID == mlid })
	}), nil
}

// merged returns t with the entries for some multicast LIDs replaced by those of other tables.
func merged(f *fabric.Fabric, t, others *fabric.MFT, mlids []uint16) *fabric.MFT {
	m := t.Clone()
	for s := range f.NumSwitches() {
		for _, mlid := range mlids {
			if mlid <= others.Top {
				copy(m.Ports(s, mlid), others.Ports(s, mlid))
			}
		}
	}
	return m
}

// TreeLoop returns the credit loop of unicast and multicast of torus-2QoS. It returns nil if there is no loop or
// another engine computed the tables.
func (job *Job) TreeLoop(ctx context.Context, tables *fabric.Tables) (*torus.TreeLoop, error) {
	grid, ok := torus.Of(tables)
	if !ok {
		return nil, nil
	}
	opt := job.Options
	opt.LMC, opt.Progress = tables.Fabric.MaxLMC(), nil
	return grid.TreeLoop(ctx, tables, opt)
}

// mostTreeChecked is the maximum number of switches for which a routing searches for a [torus.TreeLoop]. For 1,728
// switches the search took 2 s.
const mostTreeChecked = 1000

// checkTree searches for a credit loop of torus-2QoS's multicast tree together with unicast, and stores it in the
// result.
func (job *Job) checkTree(ctx context.Context, res *Result) (err error) {
	if t := res.Tables; t.Fabric.NumSwitches() > mostTreeChecked {
		if grid, ok := torus.Of(t); ok && grid.HasMissing() {
			res.Figures.TreeUnchecked = true
			res.Figures.Warnings = append(res.Figures.Warnings, "multicast trees around the lost switch were "+
				"not checked for credit loops with unicast, because the check takes long on this torus")
		}
		return nil
	}
	g := &res.Figures
	if g.TreeLoop, err = job.TreeLoop(ctx, res.Tables); g.TreeLoop != nil {
		g.Warnings = append(g.Warnings, g.TreeLoop.String())
	}
	return err
}
