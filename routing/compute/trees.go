// SPDX-License-Identifier: Apache-2.0

package compute

import (
	"context"
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/checks/mcast"
	"example.org/ibconsole/routing/engines/torus"
)

// trees adds the multicast tables of the known groups to what was routed.
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
		g.Warnings = append(g.Warnings, fmt.Sprintf("the trees of %d multicast LIDs have cycles, in which packets would go round for ever; OpenSM makes the same with these hop counts (see check mcast)", found.Cycles))
	}
	g.Multicast = &Trees{LIDs: made.LIDs, Alone: made.Alone, Changed: -1, Groups: job.GroupsOf}
	if job.Before != nil && job.Before.MFT != nil {
		g.Multicast.Changed = mcast.Changed(job.Before, &tables)
	}
	return nil
}

// TreeLoop is the credit loop that unicast and multicast of torus-2QoS have together, nil where there is none
// and for tables of other engines.
func (job *Job) TreeLoop(ctx context.Context, tables *fabric.Tables) (*torus.TreeLoop, error) {
	grid, ok := torus.Of(tables)
	if !ok {
		return nil, nil
	}
	opt := job.Options
	opt.LMC, opt.Progress = tables.Fabric.MaxLMC(), nil
	return grid.TreeLoop(ctx, tables, opt)
}

// toldLoop warns of a loop, and says how to have the datelines without it.
func toldLoop(l *torus.TreeLoop) string {
	if l.Clear == nil {
		return l.String()
	}
	return l.String() + " (suggest torus FILE clear=yes writes that torus_config)"
}
