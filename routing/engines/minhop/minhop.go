// SPDX-License-Identifier: Apache-2.0

// Package minhop implements OpenSM's default engine min-hop, and dimension order routing (osm_ucast_mgr.c of OpenSM
// 3.3.23). The two engines choose differently among the same least-hop ports.
package minhop

import (
	"context"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/engines/assign"
)

// Engine is the min-hop engine. It takes the least used of the least-hop ports. Its tables equal OpenSM's byte for
// byte.
type Engine struct{}

// Name implements [routing.Engine].
func (Engine) Name() string { return "minhop" }

// Route implements [routing.Engine]. It takes O(switches^2 x ports / 64 + switches x LIDs), and with hop weights
// O(switches^2 x ports + switches x LIDs). The graph and the order of destinations are computed sequentially.
func (e Engine) Route(ctx context.Context, f *fabric.Fabric, opt routing.Options) (*routing.Result, error) {
	return route(ctx, f, routing.NewGraph(f), opt, e.Name(), false)
}

func route(ctx context.Context, f *fabric.Fabric, g *routing.Graph, opt routing.Options, name string,
	dor bool) (*routing.Result, error) {
	m, err := Hops(ctx, f, g, &opt)
	if err != nil {
		return nil, err
	}
	lft, err := assign.Tables(ctx, f, m, &opt, dor)
	if err != nil {
		return nil, err
	}
	return &routing.Result{Tables: fabric.NewTables(f, lft, name), Hops: m}, nil
}
