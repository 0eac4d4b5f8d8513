// SPDX-License-Identifier: Apache-2.0

// Package sssp implements routing by single-source shortest paths. It routes to one destination at a time. The load of
// these paths makes the cables longer for the paths to the next destination. The tables equal OpenSM's byte for byte
// (osm_ucast_dfsssp.c of OpenSM 3.3.23). The engine dfsssp also assigns SLs to the paths so that they cannot deadlock
// (Domke, Hoefler and Nagel, "Deadlock-Free Oblivious Routing for Arbitrary Topologies", IPDPS 2011).
package sssp

import (
	"context"
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/hugepages"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing"
)

// Engine is the engine sssp: routing by single-source shortest paths. It balances routes well and ignores deadlocks.
type Engine struct{}

// DeadlockFree is the engine dfsssp. It adds SLs to the tables of [Engine], each with its own VL, so that the paths
// between adapters cannot deadlock.
type DeadlockFree struct{}

// Name implements [routing.Engine].
func (Engine) Name() string { return "sssp" }

// Name implements [routing.Engine].
func (DeadlockFree) Name() string { return "dfsssp" }

// Route implements [routing.Engine]. Routers get no routes. It refuses a subnet in which OpenSM's distances of 31 bits
// do not reach all switches. These distances contain the square of the number of LIDs for every hop.
//
// Route takes O(LIDs x links x log switches). The searches are sequential, LID by LID, because each search lengthens
// arcs for the next. Another processor plans ahead, and all processors write the tables.
func (e Engine) Route(ctx context.Context, f *fabric.Fabric, opt routing.Options) (*routing.Result, error) {
	r, err := newRouter(f, &opt, e.Name(), 1)
	if err == nil {
		err = r.route(ctx)
	}
	if err != nil {
		return nil, err
	}
	return r.result(), nil
}

// router routes to all destinations.
type router struct {
	*search
	name    string
	opt     *routing.Options
	targets []target
	lft     *fabric.LFT
	// ports holds the tables LID by LID, in the order in which LIDs are routed. The port of switch s in row i is at
	// i*switches+s.
	ports []uint8
	// done and total count steps of progress. Each LID is one step in each phase.
	done, total int
	warnings    []string
}

func newRouter(f *fabric.Fabric, opt *routing.Options, name string, phases int) (*router, error) {
	if err := routing.Check(f, opt); err != nil {
		return nil, err
	}
	if opt.BrokenNodeFile != "" {
		return nil, routing.RefuseFile(name, "%s has a line that OpenSM cannot read", opt.BrokenNodeFile)
	}
	g := newGraph(f, opt)
	r := &router{search: newSearch(g), name: name, opt: opt, targets: g.targets(opt)}
	for _, t := range r.targets {
		r.total += phases * t.lids
	}
	return r, r.reachable()
}

// reachable returns a refusal if a search from the subnet manager's port does not reach all switches.
func (r *router) reachable() error {
	if len(r.members) == 0 {
		return nil
	}
	found := 0
	if sm := r.f.SMPort; sm != fabric.None {
		end := r.f.EndPortOf(sm)
		if sw, local := r.f.AttachedSwitch(end); sw != fabric.None && (local == 0 || isAdapter(r.f, end)) {
			var p plan
			newLevels(r.graph).planTo(sw, &p)
			r.begin(&p)
			r.run(local == 0)
			found = len(r.tree)
		}
	}
	if found == len(r.members) {
		return nil
	}
	return routing.Refuse(r.name, "only %d of %d switches are within a distance of %d from the subnet manager, "+
		"expected all; a hop counts the square of the number of LIDs", found, len(r.members), infinity)
}

func (r *router) route(ctx context.Context) error {
	if n := routing.RouterPorts(r.f); n > 0 {
		r.warnings = append(r.warnings, prose.Verb(n, "port of routers", "gets", "get")+" no routes")
	}
	missing := 0
	rows := 0
	for _, t := range r.targets {
		rows += t.lids
	}
	r.ports = hugepages.Make[uint8](rows * len(r.hosts))
	plans := r.planFor(r.roots())
	defer plans.stop()
	row := 0
	for i, t := range r.targets {
		if i == 0 || t.otherPaths(&r.targets[i-1]) {
			r.begin(plans.next())
		}
		for range t.lids {
			r.run(t.local == 0)
			ports := r.ports[row*len(r.hosts) : (row+1)*len(r.hosts)]
			if len(r.tree) < len(ports) {
				fabric.FillNoPath(ports)
			}
			r.use(ports)
			ports[t.sw] = t.local
			row++
			missing += len(r.members) - len(r.tree)
			if err := r.step(ctx); err != nil {
				return err
			}
		}
	}
	if err := r.tables(ctx); err != nil {
		return err
	}
	if missing > 0 {
		r.warnings = append(r.warnings,
			fmt.Sprintf("%d entries have no path: it would exceed the greatest distance of OpenSM's %s, %d", missing,
				r.name, infinity))
	}
	return nil
}

// roots returns the switches for which plans are computed, in the order of the targets.
func (r *router) roots() []fabric.SwitchIndex {
	var roots []fabric.SwitchIndex
	for i, t := range r.targets {
		if i == 0 || t.otherPaths(&r.targets[i-1]) {
			roots = append(roots, t.sw)
		}
	}
	return roots
}

// otherPaths reports whether the paths to t need another plan, or begin differently, than the paths to the previous
// target.
func (t *target) otherPaths(before *target) bool {
	return t.sw != before.sw || (t.local == 0) != (before.local == 0)
}

// together is the number of switches whose ports in a row fill a cache line.
const together = 64

// tables computes the tables of the switches from the ports.
func (r *router) tables(ctx context.Context) error {
	n := len(r.hosts)
	r.lft = fabric.BlankLFT(n, r.f.MaxLID)
	return routing.ForEach(ctx, (n+together-1)/together, nil, func(_, i int) {
		low := i * together
		high := min(low+together, n)
		rows := make([][]uint8, 0, together)
		for s := low; s < high; s++ {
			rows = append(rows, r.lft.Row(fabric.SwitchIndex(s)))
			fabric.FillNoPath(rows[s-low])
		}
		at := 0
		for _, t := range r.targets {
			for k := range t.lids {
				for s, port := range r.ports[at+low : at+high] {
					rows[s][int(t.lid)+k] = port
				}
				at += n
			}
		}
	})
}

const stepsAtOnce = 16

// step counts a LID as done.
func (r *router) step(ctx context.Context) error {
	r.done++
	if r.done%stepsAtOnce != 0 && r.done != r.total {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if r.opt.Progress != nil {
		r.opt.Progress(r.done, r.total)
	}
	return nil
}

func (r *router) result() *routing.Result {
	t := fabric.NewTables(r.f, r.lft, r.name)
	hops := newHops(t)
	return &routing.Result{Tables: t, Hops: hops, Multicast: &groups{r.graph, hops}, Warnings: r.warnings}
}
