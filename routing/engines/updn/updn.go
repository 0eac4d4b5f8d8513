// SPDX-License-Identifier: Apache-2.0

// Package updn implements the engines that rank switches and forbid certain turns: up/down routing and down/up routing
// (osm_ucast_updn.c and osm_ucast_dnup.c of OpenSM 3.3.23). The tables of both engines equal OpenSM's byte for byte.
package updn

import (
	"context"
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/engines/assign"
	"example.org/ibconsole/routing/engines/minhop"
)

// Engine is up/down routing. A packet goes up towards the roots, then down, and never up again.
type Engine struct{}

// Name implements [routing.Engine].
func (Engine) Name() string { return "updn" }

// Route implements [routing.Engine]. It refuses a fabric without roots, and warns of switches without a route. It takes
// O(switches x links + switches x LIDs). The ranks, the graph and the order of destinations are computed sequentially.
func (e Engine) Route(ctx context.Context, f *fabric.Fabric, opt routing.Options) (*routing.Result, error) {
	g := routing.NewGraph(f)
	r, err := findRoots(ctx, f, g, &opt)
	if err != nil {
		return nil, err
	}
	if len(r.switches) == 0 {
		return nil, routing.RefuseWithHops(r.hops, routing.Refuse(e.Name(), "%s", r.why))
	}
	ranks := rank(g, r.switches)
	turnOf := func(from, to fabric.SwitchIndex) turn { return upDown(f, &opt, ranks, from, to) }
	report := newReporter(opt.Progress, len(f.Switches), 2)
	res := &routing.Result{Roots: r.switches, Ranks: ranks}
	hasPreset := opt.ConnectRoots && r.hops != nil
	if d, _ := r.hops.(*routing.Distances); unrestricted(g, turnOf) && (!hasPreset || d != nil) {
		if d == nil {
			d = g.Distances(f)
		}
		report.skip()
		return finish(ctx, f, d, &opt, report, res, e.Name())
	}
	m := newMatrix(f, g, turnOf)
	if hasPreset {
		m.preset = func(dst fabric.SwitchIndex) routing.Hops {
			if ranks[dst] == 0 {
				return r.hops
			}
			return nil
		}
	}
	if _, err := m.search(ctx, report.phase()); err != nil {
		return nil, err
	}
	defer m.forget()
	return finish(ctx, f, m, &opt, report, res, e.Name())
}

// upDown returns the turn of a step between two switches. If both switches have the same rank, the switch with the
// greater number is the upper one. But between roots all steps go up.
func upDown(f *fabric.Fabric, opt *routing.Options, ranks []int32, from, to fabric.SwitchIndex) turn {
	up := ranks[from] > ranks[to]
	if ranks[from] == ranks[to] {
		up = ranks[from] == 0 || number(f, opt, from) > number(f, opt, to)
	}
	if up {
		return barred
	}
	return narrows
}

func number(f *fabric.Fabric, opt *routing.Options, sw fabric.SwitchIndex) uint64 {
	guid := f.SwitchNode(sw).GUID
	if id, ok := opt.IDs[guid]; ok {
		return id
	}
	return guid
}

// finish computes the tables from the hop counts m and completes the result.
func finish(ctx context.Context, f *fabric.Fabric, m assign.Matrix, opt *routing.Options, report *reporter,
	res *routing.Result, name string) (*routing.Result, error) {
	o := *opt
	o.Progress = report.phase()
	lft, err := assign.Tables(ctx, f, m, &o, false)
	if err != nil {
		return nil, err
	}
	res.Tables, res.Hops = fabric.NewTables(f, lft, name), m
	res.Warnings = append(res.Warnings, unreached(f, m, opt.ConnectRoots)...)
	return res, nil
}

// roots holds the roots of a fabric, and the hop counts that were used to find them.
type roots struct {
	switches []fabric.SwitchIndex
	// hops holds min-hop's counts. It is nil if OpenSM does not compute them.
	hops assign.Matrix
	// why is the reason why there are no roots.
	why string
}

// findRoots returns the roots in the options. If OpenSM also detects roots, it adds these.
func findRoots(ctx context.Context, f *fabric.Fabric, g *routing.Graph, opt *routing.Options) (r roots, err error) {
	isRoot := make([]bool, len(f.Switches))
	given := 0
	for _, guid := range opt.RootGUIDs {
		if s := f.SwitchByGUID(guid); s != fabric.None && f.SwitchNode(s).InSubnet {
			isRoot[s] = true
			given++ // repeated GUIDs count
		}
	}
	r.why = fmt.Sprintf("none of the %d root GUIDs is that of a switch of the subnet", len(opt.RootGUIDs))
	detect := opt.RootGUIDs == nil || opt.DetectRoots
	if detect || (opt.ConnectRoots && given > 1) {
		if r.hops, err = minhop.Hops(ctx, f, g, opt); err != nil {
			return roots{}, err
		}
	}
	if detect {
		r.why = detectRoots(f, r.hops, isRoot)
	}
	for s, is := range isRoot {
		if is {
			r.switches = append(r.switches, fabric.SwitchIndex(s))
		}
	}
	return r, nil
}
