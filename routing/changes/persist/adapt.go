// SPDX-License-Identifier: Apache-2.0

// Package persist brings a saved routing to the subnet as it is now. It follows section 7 of the memo "OpenSM
// Unicast Routing Enhancements for Scalability" (Zahavi and Kalka, 2005): the saved topology is compared with
// the subnet, each change is judged by the memo's table 1, what is still valid of the tables, the min-hop
// tables and the roots is used, and only the rest is computed.
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
	"example.org/ibconsole/routing/engines/assign"
)

// How says what the tables of a [Result] are made of.
type How string

// The ways, from the least that is computed to the most.
const (
	// Kept tables are the saved ones.
	Kept How = "as saved"
	// FromMinHop tables are the saved ones, with what is invalid chosen anew among the ports of saved min-hop tables.
	FromMinHop How = "adapted by the saved min-hop tables"
	// Adapted tables are the saved ones, repaired by [incremental.Route].
	Adapted How = "adapted"
	// Counted tables are the saved ones where they are among the shortest by
	// min-hop tables that were counted anew, for the saved roots.
	Counted How = "adapted by min-hop tables counted anew"
	// Anew tables have nothing of the saved ones.
	Anew How = "routed anew"
)

// ErrNoTables says that a file holds a topology and no routes.
var ErrNoTables = errors.New("there are no routes in it (dump routing writes such a file)")

// Judgement is what the changes since a routing was saved make of it.
type Judgement struct {
	Verdicts []incremental.Verdict
	// MinHop and Roots say that the saved ones are there and valid.
	MinHop, Roots bool
}

// Judge compares the subnet of a saved routing with f.
func Judge(f *fabric.Fabric, saved *snapshot.Snapshot) Judgement {
	j := Judgement{Verdicts: incremental.Verdicts(saved.Fabric, f)}
	if r := saved.Routing; r != nil {
		j.MinHop = r.MinHop != nil && !slices.ContainsFunc(j.Verdicts, func(v incremental.Verdict) bool {
			return v.MinHop
		})
		j.Roots = r.Roots != nil && !slices.ContainsFunc(j.Verdicts, incremental.Verdict.Roots)
	}
	return j
}

// Result is a routing that was brought to a subnet.
type Result struct {
	Judgement
	How    How
	Tables *fabric.Tables
	// Hops are what they were routed by, nil where that is not known.
	Hops routing.Hops
	// SavedRoots are the saved roots by their indexes now, nil where they are not valid.
	SavedRoots []fabric.SwitchIndex
	// Result is that of an engine that routed, else nil.
	Result *routing.Result
	// Unreached are entries that nothing could repair.
	Unreached []incremental.Unreached
	// Trees are the multicast LIDs whose trees are invalid; their tables are empty.
	Trees []uint16
}

// Router routes a subnet by the engine of the saved routing, or what stands in for it. Roots are node GUIDs,
// nil for unknown; existing are tables to keep where they are among the shortest, nil for none.
type Router func(ctx context.Context, roots []uint64, existing *fabric.LFT) (*routing.Result, error)

// countsHops are the engines whose tables follow from min-hop tables, and how.
var countsHops = map[string]struct{ dor, roots bool }{"minhop": {}, "dor": {dor: true}, "updn": {roots: true},
	"dnup": {}}

// Adapt brings a saved routing to f, and computes no more of it than the changes make invalid. It fails with
// [ErrNoTables], with the router's error, and with ctx's where ctx ends first.
func Adapt(ctx context.Context, f *fabric.Fabric, saved *snapshot.Snapshot, opt routing.Options,
	route Router) (*Result, error) {
	if saved.Tables == nil {
		return nil, ErrNoTables
	}
	a := adapter{ctx: ctx, f: f, saved: saved, opt: opt, route: route, res: &Result{Judgement: Judge(f, saved)}}
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
		return a.anew(nil, nil)
	case !a.incomplete():
		a.res.How, a.res.Tables = Kept, Lay(a.f, old)
	case old.SLs != nil || old.SL2VL != nil || a.engine() != "" && !counts:
		return a.anew(nil, nil)
	case counts && !a.res.MinHop:
		var roots []uint64
		if engine.roots {
			roots = a.rootGUIDs()
		}
		return a.anew(roots, Lay(a.f, old).LFT)
	case counts:
		if err := a.byMinHop(engine.dor); err != nil {
			return err
		}
	default:
		if err := a.incremental(); err != nil {
			return err
		}
	}
	a.keepMFT()
	return nil
}

// engine is the one that made the tables, "" where that is not known.
func (a *adapter) engine() string {
	if a.saved.Routing == nil {
		return ""
	}
	return a.saved.Routing.Engine
}

func (a *adapter) invalid(what incremental.Extent) bool {
	return slices.ContainsFunc(a.res.Verdicts, func(v incremental.Verdict) bool { return v.LFT == what })
}

// incomplete reports whether anything is to be routed: routes are invalid, or there are none of a port.
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

func (a *adapter) anew(roots []uint64, existing *fabric.LFT) error {
	res, err := a.route(a.ctx, roots, existing)
	if err != nil {
		return err
	}
	a.res.How, a.res.Tables, a.res.Hops, a.res.Result = Anew, res.Tables, res.Hops, res
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

// byMinHop chooses anew, among the least-hop ports that were saved, what is no longer valid.
func (a *adapter) byMinHop(dor bool) error {
	hops := newSavedHops(a.f, a.saved)
	if hops == nil {
		return a.anew(nil, nil)
	}
	opt := a.opt
	opt.Existing = nil
	if a.f.MaxLMC() == a.saved.Fabric.MaxLMC() {
		opt.Existing = Lay(a.f, a.saved.Tables).LFT
	}
	lft, err := assign.Tables(a.ctx, a.f, hops, &opt, dor)
	if err != nil {
		return fmt.Errorf("route by saved min-hop tables: %w", err)
	}
	a.res.How, a.res.Hops = FromMinHop, hops
	a.res.Tables = fabric.NewTables(a.f, lft, a.saved.Tables.Origin)
	return nil
}

func (a *adapter) incremental() error {
	res, err := incremental.Route(a.ctx, a.f, a.saved.Tables, a.opt)
	if err != nil {
		return err
	}
	a.res.How, a.res.Tables, a.res.Unreached = Adapted, res.Tables, res.Unreached
	return nil
}

// keepMFT keeps the multicast trees that are valid.
func (a *adapter) keepMFT() {
	t := a.res.Tables
	if t.MFT != nil && a.res.How != Kept || a.saved.Tables.MFT == nil {
		return
	}
	t.MFT = layMFT(a.f, a.saved.Tables, nodesFrom(a.f, a.saved.Fabric))
	a.res.Trees = dropTrees(t, a.saved.Fabric)
}

// used are the multicast LIDs that have entries.
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
