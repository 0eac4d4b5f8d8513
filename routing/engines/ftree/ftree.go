// SPDX-License-Identifier: Apache-2.0

// Package ftree implements OpenSM's fat-tree engine (osm_ucast_ftree.c of OpenSM 3.3.23). It distributes the paths down
// to hosts so that all hosts can shift data by any distance at once. Its tables equal OpenSM's byte for byte.
//
// The switches are ranked from the roots and numbered. Leaf by leaf, the path to each host goes up by the least used
// port, and from each switch on it down to all others. The counts of one host's path affect the next one's, so hosts
// are routed sequentially.
//
// If a leaf switch has adapters and lower switches on its down-going ports, OpenSM orders the adapters by addresses in
// its memory. Here they are in the order of [Engine.InMemory], or of ports, after the switches that have an index and
// before switches without one.
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
	// InMemory are port GUIDs of adapters in the order of their addresses in a running OpenSM, as far as known.
	// OpenSM's ca-order dump shows the order of the compute nodes on one leaf. It matters only if a warning reports so.
	// The default is the order of ports.
	InMemory []uint64
	// Routed, if not nil, is called with the LID of each compute node in the order in which they are routed, leaf by
	// leaf. OpenSM's debug log has the same order.
	Routed func(lid uint16)
}

// Name implements [routing.Engine].
func (Engine) Name() string { return Name }

// Route implements [routing.Engine]. If OpenSM does not accept a fabric as a fat-tree it returns a [NotFatTreeError],
// which is a refusal. O(LIDs x (switches + links of the tree)). The paths are computed sequentially, LID by LID,
// because each affects the next; other goroutines fill the tables meanwhile.
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
