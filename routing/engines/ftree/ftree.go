// SPDX-License-Identifier: Apache-2.0

// Package ftree implements OpenSM's fat-tree engine (osm_ucast_ftree.c of OpenSM 3.3.23). It distributes the paths down
// to hosts so that all hosts can shift data by any distance at once. Its tables equal OpenSM's byte for byte.
//
// The switches are ranked from the roots and numbered. Hosts are routed leaf by leaf. The path to each host goes up by
// the least used port. From each switch on this path, paths go down to all other switches. The counts of one host's
// path affect the path of the next host, so hosts are routed sequentially.
//
// If a leaf switch has adapters and lower switches on its down-going ports, OpenSM orders the adapters by addresses in
// its memory. This package orders them by [Engine.InMemory], or by ports. They come after the switches that have an
// index and before switches without an index.
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
	// InMemory lists port GUIDs of adapters in the order of their addresses in a running OpenSM, as far as this order
	// is known. OpenSM's ca-order dump shows the order of the compute nodes on one leaf. The order matters only if a
	// warning says so. The default is the order of ports.
	InMemory []uint64
	// Routed, if not nil, is called with the LID of each compute node in the order in which the compute nodes are
	// routed, leaf by leaf. OpenSM's debug log has the same order.
	Routed func(lid uint16)
}

// Name implements [routing.Engine].
func (Engine) Name() string { return Name }

// Route implements [routing.Engine]. It returns a [NotFatTreeError], which is a refusal, if OpenSM does not accept the
// fabric as a fat-tree. O(LIDs x (switches + links of the tree)). Paths are computed sequentially, LID by LID, because
// each path affects the next. Meanwhile other goroutines fill the tables.
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
