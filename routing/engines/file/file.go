// SPDX-License-Identifier: Apache-2.0

// Package file implements OpenSM's engine that reads from files (osm_ucast_file.c of OpenSM 3.3.23). The files contain
// forwarding tables, or hop counts from which tables are computed.
package file

import (
	"bytes"
	"context"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/osm"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/engines/assign"
	"example.org/ibconsole/routing/engines/minhop"
)

// Name is the engine's name in opensm.conf.
const Name = "file"

// Engine applies the tables of a file to a fabric.
type Engine struct {
	// Routes are the tables (lfts_file). If Routes is nil, the engine computes tables as minhop does, like OpenSM's
	// engine.
	Routes *osm.RouteFile
	// Matrix is the text of a lid_matrix_dump_file, MatrixName its name. If Matrix is nil, the engine counts hops.
	Matrix     []byte
	MatrixName string
}

// Name implements [routing.Engine].
func (Engine) Name() string { return Name }

// Route implements [routing.Engine]. It refuses a fabric that lacks a port contained in the file. A switch that is not
// in Routes gets an empty table.
func (e Engine) Route(ctx context.Context, f *fabric.Fabric, opt routing.Options) (*routing.Result, error) {
	res := &routing.Result{}
	if e.Routes == nil && e.Matrix == nil {
		res.Warnings = append(res.Warnings, "no file is given (lfts_file=FILE, lid_matrix_dump_file=FILE): the "+
			"tables are those of minhop, as in OpenSM")
	}
	m, err := e.hops(ctx, f, &opt, res)
	if err != nil {
		return nil, err
	}
	res.Hops = m
	if e.Routes != nil {
		return res, e.apply(f, res)
	}
	lft, err := assign.Tables(ctx, f, m, &opt, false)
	if err != nil {
		return nil, err
	}
	res.Tables = fabric.NewTables(f, lft, Name)
	return res, nil
}

func (e Engine) hops(ctx context.Context, f *fabric.Fabric, opt *routing.Options, res *routing.Result) (assign.Matrix,
	error) {
	if e.Matrix == nil {
		return minhop.Hops(ctx, f, routing.NewGraph(f), opt)
	}
	m, rep, err := osm.ReadLIDMatrix(bytes.NewReader(e.Matrix), e.MatrixName, f)
	if err != nil {
		return nil, routing.RefuseFile(Name, "%v", err)
	}
	res.Warnings = append(res.Warnings, rep.Lines()...)
	return matrix{m, f}, nil
}

// apply sets the tables of Routes.
func (e Engine) apply(f *fabric.Fabric, res *routing.Result) error {
	tables, rep, err := e.Routes.Apply(f)
	if err != nil {
		return routing.RefuseFile(Name, "%v", err)
	}
	for sw, n := range f.Switches {
		tables.Known[sw] = f.Nodes[n].InSubnet
		tables.Top[sw] = f.MaxLID
	}
	tables.Origin = Name
	res.Tables = tables
	res.Warnings = append(res.Warnings, rep.Lines()...)
	return nil
}

// matrix finds the least-hop ports by the hop counts of a lid matrix that was read from a file.
type matrix struct {
	*osm.LIDMatrix
	f *fabric.Fabric
}

// LeastHopPorts implements [assign.Matrix].
func (m matrix) LeastHopPorts(sw fabric.SwitchIndex, scratch routing.PortSets) routing.PortSets {
	scratch.Clear()
	n := m.f.SwitchNode(sw)
	for dst := range m.f.NumSwitches() {
		least := m.Least(sw, dst)
		var set routing.PortSet
		for p := 1; p <= int(n.NumPorts) && least != routing.NoHops; p++ {
			if m.f.Ports[n.FirstPort+fabric.PortIndex(p)].Linked() && m.Through(sw, uint8(p), dst) == least {
				set.Add(uint8(p))
			}
		}
		scratch.Put(dst, &set)
	}
	return scratch
}
