// SPDX-License-Identifier: Apache-2.0

// Package minhop is OpenSM's default engine: least-hop ports, the least used of
// them first (osm_ucast_mgr.c and osm_switch.c of OpenSM 3.3.23).
package minhop

import (
	"context"
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// Engine is the min-hop engine. It gives the tables that OpenSM computes from
// scratch, to the byte.
type Engine struct{}

// Name implements [routing.Engine].
func (Engine) Name() string { return "minhop" }

// Route implements [routing.Engine]. O(switches^2 x ports + switches x LIDs).
func (e Engine) Route(ctx context.Context, f *fabric.Fabric, opt routing.Options) (*routing.Result, error) {
	for _, p := range f.EndPorts {
		if f.Ports[p].LID == 0 {
			return nil, fmt.Errorf("%s has no LID", f.PortName(p))
		}
	}
	dist := routing.NewDistances(f)
	lft := fabric.NewLFT(len(f.Switches), f.MaxLID)
	groups := targetOrder(f)
	workers := make([]*assigner, routing.Workers())
	err := routing.ForEach(ctx, len(f.Switches), opt.Progress, func(worker, s int) {
		if !f.SwitchNode(int32(s)).InSubnet {
			return
		}
		if workers[worker] == nil {
			workers[worker] = newAssigner(f, dist, groups)
		}
		workers[worker].assign(int32(s), lft.Row(int32(s)))
	})
	if err != nil {
		return nil, fmt.Errorf("route with %s: %w", e.Name(), err)
	}
	return &routing.Result{Tables: fabric.NewTables(f, lft, e.Name()), Hops: dist}, nil
}
