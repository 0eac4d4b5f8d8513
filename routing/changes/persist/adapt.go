// SPDX-License-Identifier: Apache-2.0

// Package persist adapts a saved routing to the present subnet. It follows section 7 of the memo "OpenSM Unicast
// Routing Enhancements for Scalability" (Zahavi and Kalka, 2005): it compares the saved topology with the subnet,
// classifies each change by the memo's table 1, uses the tables, min-hop tables and roots that are still valid, and
// computes only the rest.
package persist

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/snapshot"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/changes/incremental"
	"example.org/ibconsole/routing/checks/credits"
	"example.org/ibconsole/routing/engines/assign"
)

// How is the method that produced the tables of a [Result].
type How string

// The methods, from the least computation to the most.
const (
	// Kept tables are the saved ones.
	Kept How = "as saved"
	// FromMinHop tables are the saved tables, with invalid entries replaced by ports of the saved min-hop tables.
	FromMinHop How = "adapted by the saved min-hop tables"
	// Adapted tables are the saved tables, repaired by [incremental.Route].
	Adapted How = "adapted"
	// Counted tables are the result of the engine with the saved roots and recomputed min-hop tables. Saved entries are
	// kept where they are among the shortest.
	Counted How = "adapted by recomputed min-hop tables"
	// Recomputed tables use nothing of the saved tables.
	Recomputed How = "recomputed"
)

// ErrNoTables means that a file has a topology but no routes.
var ErrNoTables = errors.New("the file has no routes")

// Assessment lists the changes since a routing was saved, and which parts of the saved routing are still valid.
type Assessment struct {
	Verdicts []incremental.Verdict
	// MinHop is set if min-hop tables were saved and are still valid. Roots is set if roots were saved and are still
	// valid.
	MinHop, Roots bool
}

// Assess compares the subnet of a saved routing with f.
func Assess(f *fabric.Fabric, saved *snapshot.Snapshot) Assessment {
	j := Assessment{Verdicts: incremental.Verdicts(saved.Fabric, f)}
	if r := saved.Routing; r != nil {
		j.MinHop = r.MinHop != nil && !slices.ContainsFunc(j.Verdicts, func(v incremental.Verdict) bool {
			return v.MinHop
		})
		j.Roots = r.Roots != nil && !slices.ContainsFunc(j.Verdicts, incremental.Verdict.Roots)
	}
	return j
}

// Result is a saved routing that was adapted to a subnet.
type Result struct {
	Assessment
	How    How
	Tables *fabric.Tables
	// Hops are the hop counts that were used, or nil if they are not known.
	Hops routing.Hops
	// SavedRoots are the saved roots by their present indexes, or nil if they are not valid.
	SavedRoots []fabric.SwitchIndex
	// Result is the result of the engine if one was used, or nil.
	Result *routing.Result
	// Repair is the method that replaced broken paths without min-hop tables, or "" if no path was replaced so. Why
	// lists the reasons why repairs with fewer changes were not taken.
	Repair Repair
	Why    []string
	// Unreached lists entries without a path.
	Unreached []incremental.Unreached
	// Trees lists the multicast LIDs whose trees are invalid. The multicast tables have no entries for them.
	Trees []uint16
}

// Router routes a subnet by the engine of the saved routing, or by its replacement. roots are node GUIDs, nil if
// unknown. existing holds entries to keep where they are among the shortest, nil for no entries.
type Router func(ctx context.Context, roots []uint64, existing *fabric.LFT) (*routing.Result, error)

// countsHops contains the engines whose tables follow from min-hop tables. dor is set for dimension-order routing,
// roots for engines that need roots.
var countsHops = map[string]struct{ dor, roots bool }{"minhop": {}, "dor": {dor: true}, "updn": {roots: true},
	"dnup": {}}

// Adapt adapts a saved routing to f and computes only the parts that the changes made invalid. It returns [ErrNoTables]
// if no tables were saved, the error of the router, or the error of ctx if ctx ends first.
func Adapt(ctx context.Context, f *fabric.Fabric, saved *snapshot.Snapshot, opt routing.Options,
	route Router) (*Result, error) {
	if saved.Tables == nil {
		return nil, ErrNoTables
	}
	a := adapter{ctx: ctx, f: f, saved: saved, opt: opt, route: route, res: &Result{Assessment: Assess(f, saved)}}
	if a.res.Roots {
		a.res.SavedRoots = a.roots()
	}
	if err := a.adapt(); err != nil {
		return nil, err
	}
	return a.res, nil
}

type adapter struct {
	ctx   context.Context
	f     *fabric.Fabric
	saved *snapshot.Snapshot
	opt   routing.Options
	route Router
	res   *Result
}

func (a *adapter) adapt() error {
	old := a.saved.Tables
	engine, counts := countsHops[a.engine()]
	switch {
	case a.invalid(incremental.AllRoutes):
		return a.recompute(nil, nil)
	case !a.incomplete():
		a.res.How, a.res.Tables = Kept, Transfer(a.f, old)
	case counts && !a.res.MinHop:
		var roots []uint64
		if engine.roots {
			roots = a.rootGUIDs()
		}
		return a.recompute(roots, Transfer(a.f, old).LFT)
	case counts:
		if err := a.byMinHop(engine.dor); err != nil {
			return err
		}
	default:
		return a.repair()
	}
	a.keepMFT()
	return nil
}

// engine returns the engine that made the tables, or "" if it is unknown.
func (a *adapter) engine() string {
	if a.saved.Routing == nil {
		return ""
	}
	return a.saved.Routing.Engine
}

func (a *adapter) invalid(what incremental.Extent) bool {
	return slices.ContainsFunc(a.res.Verdicts, func(v incremental.Verdict) bool { return v.LFT == what })
}

// incomplete reports whether something must be routed, because routes are invalid or a port has no routes.
func (a *adapter) incomplete() bool {
	if a.invalid(incremental.ThroughPort) || a.invalid(incremental.ChangedLIDs) {
		return true
	}
	was := a.saved.Fabric
	for _, e := range a.f.EndPorts {
		if p := &a.f.Ports[e]; p.LID != 0 && was.PortByGUID(p.GUID) == fabric.None {
			return true
		}
	}
	for s := range a.f.NumSwitches() {
		n := a.f.SwitchNode(s)
		if old := was.SwitchByGUID(n.GUID); n.InSubnet && (old == fabric.None || !a.saved.Tables.Known[old]) {
			return true
		}
	}
	return false
}

func (a *adapter) recompute(roots []uint64, existing *fabric.LFT) error {
	res, err := a.route(a.ctx, roots, existing)
	if err != nil {
		return err
	}
	a.res.How, a.res.Tables, a.res.Hops, a.res.Result = Recomputed, res.Tables, res.Hops, res
	if existing != nil {
		a.res.How = Counted
		a.keepMFT()
		return nil
	}
	if old := a.saved.Tables.MFT; old != nil && res.Tables.MFT == nil {
		a.res.Trees = used(a.saved.Tables)
	}
	return nil
}

// byMinHop replaces invalid entries by ports of the saved min-hop tables.
func (a *adapter) byMinHop(dor bool) error {
	hops := newSavedHops(a.f, a.saved)
	if hops == nil {
		return a.recompute(nil, nil)
	}
	opt := a.opt
	opt.Existing = nil
	if a.f.MaxLMC() == a.saved.Fabric.MaxLMC() {
		opt.Existing = Transfer(a.f, a.saved.Tables).LFT
	}
	lft, err := assign.Tables(a.ctx, a.f, hops, &opt, dor)
	if err != nil {
		return fmt.Errorf("route by saved min-hop tables: %w", err)
	}
	a.res.How, a.res.Hops = FromMinHop, hops
	a.res.Tables = fabric.NewTables(a.f, lft, a.saved.Tables.Origin)
	return nil
}

// repair replaces invalid entries without min-hop tables and without adding a credit loop.
func (a *adapter) repair() error {
	made, err := incremental.Route(a.ctx, a.f, a.saved.Tables, a.opt)
	if err != nil {
		return err
	}
	guard := Guard{
		Old: a.saved.Tables,
		Credits: func(ctx context.Context, t *fabric.Tables) (*credits.Result, error) {
			return credits.Check(ctx, t, credits.Options{})
		},
		Full: func(ctx context.Context) (*routing.Result, error) { return a.route(ctx, nil, nil) },
	}
	done, err := guard.Repair(a.ctx, made)
	if err != nil {
		return err
	}
	r := a.res
	r.How, r.Tables, r.Unreached, r.Repair, r.Why = Adapted, done.Tables, done.Unreached, done.Repair, done.Why
	if done.Repair == ByEngine || done.Repair == FewerByEngine {
		r.How, r.Hops, r.Result = Recomputed, done.Full.Hops, done.Full
	}
	a.keepMFT()
	return nil
}

// keepMFT keeps the valid multicast trees.
func (a *adapter) keepMFT() {
	t := a.res.Tables
	if t.MFT != nil && a.res.How != Kept || a.saved.Tables.MFT == nil {
		return
	}
	t.MFT = transferMFT(a.f, a.saved.Tables, nodesFrom(a.f, a.saved.Fabric))
	a.res.Trees = dropTrees(t, a.saved.Fabric)
}

// used returns the multicast LIDs that have entries in the tables.
func used(t *fabric.Tables) (all []uint16) {
	for i := range t.MFT.LIDs() {
		mlid := fabric.FirstMLID + uint16(i)
		for s := range t.Fabric.NumSwitches() {
			if slices.ContainsFunc(t.MFT.Ports(s, mlid), func(w uint64) bool { return w != 0 }) {
				all = append(all, mlid)
				break
			}
		}
	}
	return all
}

func (a *adapter) roots() (now []fabric.SwitchIndex) {
	for _, s := range a.saved.Routing.Roots {
		now = append(now, a.f.SwitchByGUID(a.saved.Fabric.SwitchNode(s).GUID))
	}
	slices.Sort(now)
	return now
}

func (a *adapter) rootGUIDs() (guids []uint64) {
	for _, s := range a.res.SavedRoots {
		guids = append(guids, a.f.SwitchNode(s).GUID)
	}
	return guids
}
