// SPDX-License-Identifier: Apache-2.0

package routing

import (
	"context"

	"example.org/ibconsole/fabric"
)

// Engine computes routes.
type Engine interface {
	// Name is the engine's name in opensm.conf: "minhop".
	Name() string
	// Route computes tables for the part of f that is in the subnet. Every end
	// port must have a LID ([fabric.AssignLIDs]). It fails with ctx's error where
	// ctx ends first.
	Route(ctx context.Context, f *fabric.Fabric, opt Options) (*Result, error)
}

// Options are what changes a route, by OpenSM's names, and how to report on the way.
type Options struct {
	// Progress, where set, is called now and then with the switches done and all
	// there are. It must be quick and may be called from several goroutines.
	Progress func(done, total int)
}

// Result is what an engine computed.
type Result struct {
	Tables *fabric.Tables
	// Hops are the hop counts that the engine routed by.
	Hops Hops
	// Warnings say what was noticed, one sentence each.
	Warnings []string
}

// Hops are hop counts between switches as an engine counts them.
type Hops interface {
	// Least is the least number of hops from switch sw to switch dst, NoHops
	// where there is no way.
	Least(sw, dst int32) uint8
	// Through is the number of hops from sw to dst that leaves by this port,
	// NoHops where that is no way.
	Through(sw int32, port uint8, dst int32) uint8
}

// NoHops is the hop count of what cannot be reached, as in OpenSM's lid matrix.
const NoHops = 0xff
