// SPDX-License-Identifier: Apache-2.0

// Package ftree holds OpenSM's fat-tree engine (osm_ucast_ftree.c of OpenSM 3.3.23), which spreads the paths down
// to hosts so that all of them can shift data by any distance at once. It gives the tables that OpenSM computes,
// to the byte.
//
// The switches are ranked from the roots and numbered; leaf by leaf, the path to each host goes up by the least
// used port and from each switch on it down to all others. What one host's path counts decides the next one's, so
// hosts are routed in turn.
//
// Where a leaf switch has adapters and lower switches on its down-going ports, OpenSM orders the adapters by
// addresses in its memory; here they come in the order of [Engine.InMemory], or stay in that of ports, behind
// switches that have an index and before those without.
package ftree

import (
	"context"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// Name is the engine's name in opensm.conf.
const Name = "ftree"

// Engine is fat-tree routing.
type Engine struct {
	// InMemory are port GUIDs of adapters in the order of the addresses at which a running OpenSM holds them,
	// as far as it is known; its ca-order dump shows that of the compute nodes on one leaf. It matters where
	// a warning says so. Without it adapters stay in the order of ports.
	InMemory []uint64
	// Routed, where it is set, is told the LID of each compute node in the order in
	// which they are routed to, leaf by leaf. OpenSM's log for debugging tells the same.
	Routed func(lid uint16)
}

// Name implements [routing.Engine].
func (Engine) Name() string { return Name }

// Route implements [routing.Engine]. Where OpenSM does not take a fabric for a fat-tree it fails with a
// [NotFatTreeError], which is a refusal. O(LIDs x (switches + links of the tree)).
// Serial are the paths to one LID after the other, each of which counts for the next; others fill the tables meanwhile.
func (e Engine) Route(ctx context.Context, f *fabric.Fabric, opt routing.Options) (*routing.Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := routing.Check(f, &opt); err != nil {
		return nil, err
	}
	t, warnings, err := newTree(f, &opt, e.InMemory)
	if err != nil {
		return nil, err
	}
	base := baseHops(ctx, f, &opt)
	defer base.wait()
	w := newWalker(ctx, t, base)
	w.routed = e.Routed
	if err := w.routeAll(); err != nil {
		w.stop()
		return nil, err
	}
	lft, err := w.tables(ctx)
	if err != nil {
		return nil, err
	}
	tables := fabric.NewTables(f, lft, Name)
	for s := range tables.Top {
		if t.ranked(fabric.SwitchIndex(s)) {
			tables.Top[s] = t.maxLID
		}
	}
	return &routing.Result{
		Tables: tables, Hops: w.record, Roots: t.roots(), Ranks: t.ranks(), CAOrder: t.caOrder(),
		Warnings: slices.Concat(warnings, w.inMemoryOrder(), w.unreached()),
	}, nil
}
