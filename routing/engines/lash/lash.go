// SPDX-License-Identifier: Apache-2.0

// Package lash implements layered shortest path routing. It distributes shortest paths between switches over VLs so
// that no VL has a cycle of dependencies. It uses as many VLs as needed (Skeie, Lysne and Theiss, "Layered Shortest
// Path (LASH) Routing in Irregular System Area Networks", CAC 2002). Its tables equal OpenSM's byte for byte, with the
// same number of VLs (osm_ucast_lash.c, osm_mesh.c of OpenSM 3.3.23).
package lash

import (
	"context"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/engines/minhop"
)

// Engine is layered shortest path routing.
type Engine struct{}

// Name implements [routing.Engine].
func (Engine) Name() string { return "lash" }

// Route implements [routing.Engine]. A pair of switches has the same SL in both directions, and each SL has its own VL.
// Route refuses a subnet with too few VLs. Hop counts are those of min-hop, as in OpenSM. It takes O(switches^2 x
// (depth + hops)) plus the search for cycles. Each VL adds pairs sequentially, and different VLs work concurrently.
func (e Engine) Route(ctx context.Context, f *fabric.Fabric, opt routing.Options) (*routing.Result, error) {
	if err := routing.Check(f, &opt); err != nil {
		return nil, err
	}
	hops, err := minhop.Hops(ctx, f, routing.NewGraph(f), &opt)
	if err != nil {
		return nil, err
	}
	all, _ := routing.DataVLs(f, &opt)
	if int(opt.LASHStartVL) >= all {
		return nil, routing.RefuseWithHops(hops,
			routing.RefuseVLs(e.Name(), "the subnet has %d VLs, none from lash_start_vl %d on", all, opt.LASHStartVL))
	}
	net := newNetwork(f, &opt)
	steps := 2 * len(net.switches)
	progress := func(done int) {
		if opt.Progress != nil {
			opt.Progress(done, steps)
		}
	}
	if opt.MeshAnalysis {
		if err := net.analyse(ctx); err != nil {
			return nil, err
		}
	}
	p, err := newPaths(ctx, net)
	if err != nil {
		return nil, err
	}
	l, err := newLayers(ctx, p, progress)
	if err != nil {
		return nil, err
	}
	if vls := all - int(opt.LASHStartVL); len(l.list) > vls {
		return nil, routing.RefuseWithHops(hops,
			routing.RefuseVLs(e.Name(), "paths without deadlock need %d VLs; the subnet has %d from "+
				"lash_start_vl %d on", len(l.list), vls, opt.LASHStartVL))
	}
	if err := l.balance(ctx, &opt); err != nil {
		return nil, err
	}
	lft, err := p.tables(ctx, &opt, func(done, _ int) { progress(len(net.switches) + done) })
	if err != nil {
		return nil, err
	}
	t := fabric.NewTables(f, lft, e.Name())
	t.SLs = &pathSLs{network: net, n: p.n, layerOf: l.layerOf, start: opt.LASHStartVL}
	t.SL2VL = routing.VLPerSL(f, all)
	return &routing.Result{Tables: t, Hops: hops}, nil
}

// tables computes the forwarding tables. The routes to ascending LIDs use the cables to a neighbour in turn. O(switches
// x LIDs).
func (p *paths) tables(ctx context.Context, opt *routing.Options, progress func(done, total int)) (*fabric.LFT, error) {
	type target struct {
		lid   uint16
		sw    int32
		local uint8
	}
	var targets []target
	for lid := 1; lid <= int(p.f.MaxLID); lid++ {
		end := p.f.PortByLID(uint16(lid))
		if end == fabric.None || lid-int(p.f.Ports[end].LID) >= 1<<min(opt.LMC, p.f.Ports[end].LMC) {
			continue
		}
		if sw, local := p.f.AttachedSwitch(end); sw != fabric.None && p.numbers[sw] != fabric.None {
			targets = append(targets, target{uint16(lid), p.numbers[sw], local})
		}
	}
	lft := fabric.NewLFT(len(p.f.Switches), p.f.MaxLID)
	err := routing.ForEach(ctx, p.n, progress, func(_, s int) {
		row := lft.Row(p.switches[s])
		var turns [256]int // by link
		for _, t := range targets {
			if t.sw == int32(s) {
				row[t.lid] = t.local
				continue
			}
			out := p.out[s*p.n+int(t.sw)]
			ports := p.links[s][out].ports
			row[t.lid] = ports[turns[out]%len(ports)]
			turns[out]++
		}
	})
	return lft, err
}

// pathSLs holds the SLs of pairs of switches.
type pathSLs struct {
	*network
	n       int
	layerOf []uint8
	start   uint8
}

// SL implements [fabric.PathSLs].
func (l *pathSLs) SL(src, dst uint16) uint8 {
	s, d := l.number(src), l.number(dst)
	if s == fabric.None || d == fabric.None {
		return 0
	}
	return l.start + l.layerOf[int(s)*l.n+int(d)]
}

// Range implements [fabric.RangedSLs].
func (l *pathSLs) Range(src, dst uint16) fabric.SLRange { return fabric.OneSL(l.SL(src, dst)) }

// Source implements [fabric.SpreadSLs].
func (l *pathSLs) Source(src uint16) int32 { return l.number(src) }

// number returns the number of the switch to which a LID belongs or is attached.
func (l *pathSLs) number(lid uint16) int32 {
	end := l.f.PortByLID(lid)
	if end == fabric.None {
		return fabric.None
	}
	sw, _ := l.f.AttachedSwitch(end)
	if sw == fabric.None {
		return fabric.None
	}
	return l.numbers[sw]
}
