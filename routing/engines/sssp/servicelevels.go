// SPDX-License-Identifier: Apache-2.0

package sssp

import (
	"context"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// ServiceLevels assigns SLs to the paths of another engine's tables so that they cannot deadlock, as [DeadlockFree]
// does. Each SL has its own VL. It returns the number of VLs. If this number is one, the returned SLs and VLs are nil.
// It returns a [routing.RefusedError] if the subnet has too few VLs. It costs the same as [DeadlockFree] without the
// computation of tables.
func ServiceLevels(ctx context.Context, lft *fabric.LFT, f *fabric.Fabric, opt routing.Options,
	engine string) (fabric.PathSLs, *fabric.SL2VL, int, error) {
	opt.Progress = nil
	g := newGraph(f, &opt)
	r := &router{search: newSearch(g), name: engine, opt: &opt, targets: g.allTargets(&opt), lft: lft}
	if err := r.readPorts(ctx); err != nil {
		return nil, nil, 0, err
	}
	d := newDeadlocks(r, true)
	if err := d.remove(ctx); err != nil || d.needed == 1 {
		return nil, nil, d.needed, err
	}
	return d.serviceLevels(d.needed), routing.VLPerSL(f, d.vls), d.needed, nil
}

// allTargets lists all end ports, including those of routers, switch by switch. The switches follow.
func (g *graph) allTargets(opt *routing.Options) []target {
	l := lister{graph: g, opt: opt, listed: make([]bool, len(g.f.Ports))}
	for _, s := range g.members {
		node := g.f.SwitchNode(s)
		for p := fabric.PortIndex(1); p <= fabric.PortIndex(node.NumPorts); p++ {
			if far := g.f.Ports[node.FirstPort+p].Peer; far != fabric.None &&
				!g.f.Nodes[g.f.Ports[far].Node].IsSwitch() {
				l.add(far, s, uint8(p))
			}
		}
	}
	for _, s := range g.members {
		l.add(g.f.SwitchNode(s).FirstPort, s, 0)
	}
	return l.all
}

// readPorts copies the ports towards all targets from the tables.
func (r *router) readPorts(ctx context.Context) error {
	var lids []uint16
	for _, t := range r.targets {
		for k := range t.lids {
			lids = append(lids, t.lid+uint16(k))
		}
	}
	n := len(r.hosts)
	r.ports = make([]uint8, len(lids)*n)
	return routing.ForEach(ctx, (n+together-1)/together, nil, func(_, i int) {
		for s := i * together; s < min((i+1)*together, n); s++ {
			row := r.lft.Row(fabric.SwitchIndex(s))
			for k, lid := range lids {
				r.ports[k*n+s] = row[lid]
			}
		}
	})
}
