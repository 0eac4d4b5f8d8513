// SPDX-License-Identifier: Apache-2.0

// Package file is OpenSM's engine that takes forwarding tables from a file
// (osm_ucast_file.c of OpenSM 3.3.23).
package file

import (
	"context"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/osm"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/minhop"
)

// Name is the engine's name in opensm.conf.
const Name = "file"

// Engine lays the tables of a file over a fabric.
type Engine struct {
	// Routes is the file (lfts_file). Without one the engine routes as minhop
	// does, as OpenSM's.
	Routes *osm.RouteFile
}

// Name implements [routing.Engine].
func (Engine) Name() string { return Name }

// Route implements [routing.Engine]. It refuses a fabric that the file names a
// port of which it does not have. A switch that the file does not name gets an
// empty table.
func (e Engine) Route(ctx context.Context, f *fabric.Fabric, opt routing.Options) (*routing.Result, error) {
	if e.Routes == nil {
		return minhop.Engine{}.Route(ctx, f, opt)
	}
	tables, rep, err := e.Routes.Apply(f)
	if err != nil {
		return nil, &routing.RefusedError{Engine: Name, Reason: err.Error()}
	}
	for sw, n := range f.Switches {
		tables.Known[sw] = f.Nodes[n].InSubnet
		tables.Top[sw] = f.MaxLID
	}
	tables.Origin = Name
	return &routing.Result{Tables: tables, Hops: routing.NewDistances(f), Warnings: rep.Lines()}, nil
}
