// SPDX-License-Identifier: Apache-2.0

package incremental

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/checks/credits"
	"example.org/ibconsole/routing/checks/trees"
)

// ErrCycle is returned if every remaining path from some switch to a LID would close a cycle of channel dependencies.
var ErrCycle = errors.New("every remaining path would close a credit loop")

// Scope determines which entries of the old tables an acyclic repair may replace.
type Scope uint8

// The scopes, from the fewest changes to the most.
const (
	// AnyOrder replaces only broken paths. The channel dependencies of the broken paths count as well, over the links
	// that still exist. Therefore no loop arises while packets meet old and new entries, in whatever order the switches
	// are written.
	AnyOrder Scope = iota
	// BrokenPaths replaces broken paths alone.
	BrokenPaths
	// BrokenLIDs replaces all paths to the LIDs of broken paths. It keeps old entries where they close no cycle.
	BrokenLIDs
)

// Broken holds tables of a fabric in which some switches have no path to some LIDs.
type Broken struct {
	*trees.Forest
	was *fabric.Fabric
}

// NewBroken prepares the repair of tables that were computed for another fabric. O(switches x LIDs) on all processors.
func NewBroken(ctx context.Context, t *fabric.Tables, was *fabric.Fabric) (*Broken, error) {
	forest, err := trees.NewForest(ctx, t)
	if err != nil {
		return nil, err
	}
	return &Broken{forest, was}, nil
}

// lost reports whether a switch is in the subnet and has no path to a LID. The LID must belong to a port.
func (b *Broken) lost(s fabric.SwitchIndex, lid uint16) bool {
	return b.Tables.Fabric.SwitchNode(s).InSubnet &&
		(b.Depth(lid)[s] == trees.Far || s == b.At[lid] && b.Column(lid)[s] != b.Local[lid])
}

// Lost returns the entries of tables from which packets do not arrive at a LID that a port has. O(switches x LIDs).
func Lost(ctx context.Context, t *fabric.Tables) (lost []Unreached, err error) {
	b, err := NewBroken(ctx, t, t.Fabric)
	if err != nil {
		return nil, err
	}
	for lid := range b.At {
		for s := range t.Fabric.NumSwitches() {
			if b.At[lid] != fabric.None && b.lost(s, uint16(lid)) {
				lost = append(lost, Unreached{s, uint16(lid)})
			}
		}
	}
	return lost, nil
}

// broken reports whether a LID belongs to a port and some switch has no path to it.
func (b *Broken) broken(lid uint16) bool {
	for s := range b.Tables.Fabric.NumSwitches() {
		if b.At[lid] != fabric.None && b.lost(s, lid) {
			return true
		}
	}
	return false
}

// RouteAcyclic repairs the tables so that the channel dependencies of all paths have no cycle, that is, no credit loop.
// Each new path is as short as that condition allows. The argument unreachable lists the entries that no path can
// repair.
//
// RouteAcyclic returns [ErrCycle] if the kept paths have a cycle, or if a switch finds no path without a cycle. It does
// not try other paths for earlier LIDs in that case. It returns the error of ctx if ctx ends first.
func (b *Broken) RouteAcyclic(ctx context.Context, scope Scope, unreachable []Unreached) (*Result, error) {
	t := b.Tables
	r := &acyclic{
		Broken: b, scope: scope, ends: trees.NewEnds(t, false), used: newCounts(t.Fabric),
		groups: make([][]int, len(t.Fabric.Switches)), without: map[Unreached]bool{},
	}
	for s := range r.used {
		countEntries(r.used[s], t.LFT.Row(fabric.SwitchIndex(s))[1:int(t.Fabric.MaxLID)+1])
	}
	for g := range r.ends.Groups {
		if at := r.ends.Groups[g].At; at >= 0 {
			r.groups[at] = append(r.groups[at], g)
		}
	}
	for _, u := range unreachable {
		r.without[u] = true
	}
	var err error
	if r.order, err = credits.NewOrder(ctx, r.kept(), credits.Options{}); err != nil {
		return nil, err
	}
	if r.order == nil {
		return nil, fmt.Errorf("repair %s: %w", t.Origin, ErrCycle)
	}
	for lid := 1; lid <= int(t.Fabric.MaxLID); lid++ {
		if lid%256 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err := r.repair(uint16(lid)); err != nil {
			return nil, err
		}
	}
	res := b.result(r.edits)
	res.Unreached, res.Looked, res.LIDs = unreachable, r.looked, r.lids
	return res, nil
}

// result returns the tables with the entries in edits.
func (b *Broken) result(edits []fabric.Edit) *Result {
	tables := *b.Tables
	tables.LFT = tables.LFT.Patched(edits)
	return &Result{Tables: &tables, Touched: len(edits), Switches: switches(edits)}
}

// acyclic is the work on one set of tables.
type acyclic struct {
	*Broken
	scope   Scope
	order   *credits.Order
	ends    *trees.Ends
	used    [][]uint16
	without map[Unreached]bool
	// groups lists, for each switch, the groups of end ports attached to it.
	groups [][]int

	edits        []fabric.Edit
	lids, looked int

	// The fields below describe the current LID: the entries and hop counts of all switches, the switches whose entries
	// are replaced, and the egress ports of one path.
	lid      uint16
	entries  []uint8
	depth    []uint8
	replaced []fabric.SwitchIndex
	out      []fabric.PortIndex
}

// kept returns the tables without the entries that the repair replaces. For AnyOrder it returns all entries.
func (r *acyclic) kept() *fabric.Tables {
	t := *r.Tables
	if r.scope == AnyOrder {
		return &t
	}
	var dropped []fabric.Edit
	for lid := 1; lid <= int(t.Fabric.MaxLID); lid++ {
		r.begin(uint16(lid))
		for _, s := range r.replaced {
			dropped = append(dropped, fabric.Edit{Switch: s, LID: uint16(lid), Port: fabric.NoPath})
		}
	}
	t.LFT = t.LFT.Patched(dropped)
	return &t
}

// begin finds the switches whose entries for a LID the repair replaces.
func (r *acyclic) begin(lid uint16) {
	f, target := r.Tables.Fabric, r.At[lid]
	r.lid, r.replaced = lid, r.replaced[:0]
	if target == fabric.None {
		return
	}
	r.entries, r.depth = append(r.entries[:0], r.Column(lid)...), append(r.depth[:0], r.Depth(lid)...)
	replace := func(all bool) {
		r.replaced = r.replaced[:0]
		for s := range f.NumSwitches() {
			if s != target && (all && f.SwitchNode(s).InSubnet || r.lost(s, lid)) && !r.without[Unreached{s, lid}] {
				r.replaced = append(r.replaced, s)
				r.depth[s] = trees.Far
			}
		}
	}
	if replace(false); r.scope == BrokenLIDs && len(r.replaced) > 0 {
		replace(true)
	}
}

// repair finds a path for each switch that has no path to a LID.
func (r *acyclic) repair(lid uint16) error {
	f, target := r.Tables.Fabric, r.At[lid]
	if target == fabric.None {
		return nil
	}
	r.begin(lid)
	if r.entries[target] != r.Local[lid] {
		r.set(target, r.Local[lid])
	} else if len(r.replaced) == 0 {
		return nil
	}
	r.lids++
	for h := uint8(1); h < trees.Far && len(r.replaced) > 0; h++ {
		r.replaced = slices.DeleteFunc(r.replaced, func(s fabric.SwitchIndex) bool { return r.route(s, h) })
	}
	if len(r.replaced) > 0 {
		s := r.replaced[0]
		return fmt.Errorf("find a path from %s to LID %d: %w", f.NodeName(f.Switches[s]), lid, ErrCycle)
	}
	return nil
}

// route sets a path of h hops for a switch. It reports whether a path of this length exists that closes no cycle.
func (r *acyclic) route(s fabric.SwitchIndex, h uint8) bool {
	links := r.candidates(s, h-1)
	was := r.entries[s]
	for _, l := range links {
		r.looked++
		mark := r.order.Mark()
		r.entries[s] = l.Port
		if r.add(s) {
			r.entries[s] = was
			r.set(s, l.Port)
			r.depth[s] = h
			return true
		}
		r.order.TakeBack(mark)
		r.entries[s] = was
	}
	return false
}

// candidates returns the links of a switch to neighbours with a given number of hops to the current LID. The link of
// the present entry comes first, then the links to the switch to which this entry led before the change, then the other
// links. Links of equal rank are ordered by their number of entries, fewest first.
func (r *acyclic) candidates(s fabric.SwitchIndex, hops uint8) []routing.SwitchLink {
	var links []routing.SwitchLink
	for _, l := range r.Graph.Of(s) {
		if r.depth[l.Peer] == hops {
			links = append(links, l)
		}
	}
	now := r.entries[s]
	f := r.Tables.Fabric
	before := formerPeer(f, r.was, r.was.SwitchByGUID(f.SwitchNode(s).GUID), now)
	rank := func(l routing.SwitchLink) int {
		switch {
		case l.Port == now:
			return 0
		case l.Peer == before:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(links, func(a, b routing.SwitchLink) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(r.used[s][a.Port], r.used[s][b.Port]))
	})
	return links
}

// set writes an entry.
func (r *acyclic) set(s fabric.SwitchIndex, port uint8) {
	was, used := r.entries[s], r.used[s]
	if was == port {
		return
	}
	if int(was) < len(used) && used[was] > 0 {
		used[was]--
	}
	used[port]++
	r.entries[s] = port
	r.edits = append(r.edits, fabric.Edit{Switch: s, LID: r.lid, Port: port})
}

// add adds the paths from all end ports of a switch to the current LID to the channel dependencies. It reports whether
// these paths close no cycle.
func (r *acyclic) add(s fabric.SwitchIndex) bool {
	f := r.Tables.Fabric
	r.out = r.out[:0]
	for x := s; x >= 0 && x != r.At[r.lid]; {
		port := f.SwitchNode(x).FirstPort + fabric.PortIndex(r.entries[x])
		r.out = append(r.out, port)
		x = f.PeerSwitch(port)
	}
	for _, g := range r.groups[s] {
		for _, end := range r.ends.Groups[g].Ends {
			if !r.order.AddFrom(r.ends.Ports[end], r.out, r.lid) {
				return false
			}
			if r.Tables.SLs == nil && r.Tables.SL2VL == nil {
				break // all packets share VL 0
			}
		}
	}
	return true
}
