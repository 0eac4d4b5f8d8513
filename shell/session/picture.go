// SPDX-License-Identifier: Apache-2.0

package session

import (
	"maps"
	"slices"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats"
	"example.org/ibconsole/fabric/formats/ibdiagnet"
	"example.org/ibconsole/fabric/formats/snapshot"
	"example.org/ibconsole/fabric/health"
	"example.org/ibconsole/fabric/sweep"
	"example.org/ibconsole/history"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/changes/persist"
	"example.org/ibconsole/routing/compute"
	"example.org/ibconsole/routing/engines"
	"example.org/ibconsole/shell/session/settings"
)

// Kind is the kind of a state of a subnet.
type Kind string

// The kinds of states.
const (
	// Live is the state of the switches when they were last read, or the contents of a file.
	Live Kind = "live"
	// Base is the state from which the what-if started.
	Base Kind = "base"
	// WhatIf is the base with the simulated failures and additions.
	WhatIf Kind = "whatif"
	// Staged is a state whose tables were computed or loaded, but not written.
	Staged Kind = "staged"
)

// Kinds are the kinds of states.
var Kinds = []Kind{Live, Base, WhatIf, Staged}

// Picture is a state of the subnet. It is immutable.
type Picture struct {
	Kind   Kind
	Fabric *fabric.Fabric
	// Tables are the forwarding tables of Fabric, or nil if unknown.
	Tables *fabric.Tables
	// Hops are the hop counts with which the tables were computed, or nil if unknown.
	Hops routing.Hops
	// Recommend is [routing.Result.Recommend].
	Recommend func(routing.Hops) routing.Recommend
	// Roots and Ranks are the roots and ranks of switches that the engine found, or nil if it found none.
	Roots []fabric.SwitchIndex
	Ranks []int32
	// CAOrder is [routing.Result.CAOrder].
	CAOrder []fabric.PortIndex
	// Multicast is [routing.Result.Multicast].
	Multicast routing.GroupRouter
	When      time.Time
	// Limits are the widths and speeds that ports support, by port index. It is nil if unknown.
	Limits []fabric.LinkLimit
	// VLArb are the VL arbitration tables of linked ports, by port index. It is nil if they were not read.
	VLArb map[fabric.PortIndex]*sweep.VLArb
	// Health holds the values that ports report about their links in addition to counters. It is nil if they were not
	// read.
	Health *health.Report
	// Far holds the adaptive-routing groups and the private tables from a file, or nil if the file has none.
	Far *ibdiagnet.Far
	// Unlike is the reason why OpenSM may compute different tables, or "" if none is known. UnsetVLs is
	// [compute.Figures.UnsetVLs].
	Unlike, UnsetVLs string
	// file is the escaped name of the file from which a base without live tables was loaded.
	file string
	// Simulated describes the simulated changes in the fabric for which staged tables or a history entry were computed.
	// It is "" if there were none.
	Simulated string
	// Entry is the history entry from which the picture was read, or nil.
	Entry *history.Entry
	// The field by is the engine that computed the tables with its options, or nil if unknown.
	by *maker
	// madeOf is the fabric for which staged tables were computed, before LIDs were assigned.
	madeOf *fabric.Fabric
	// heldOn are tables that were expected on the switches when staged tables or a base were made. If the entry of a
	// switch is in none of these tables, another program wrote it.
	heldOn []*fabric.Tables
}

// maker is an engine with its options. The field chain lists the engines that were tried, as in [settings.Settings].
type maker struct {
	engine string
	chain  []string
	given  []settings.Setting
	// cached is set for tables from the unicast cache. The engine alone does not reproduce such tables.
	cached bool
}

// SetMaker records the engine that made new tables, and the settings that the engine used.
func (p *Picture) SetMaker(engine string, set *settings.Settings) {
	p.by = &maker{engine: engine, chain: set.Chain, given: set.Given}
}

// RoutedWith returns the engine that computed the tables, in the form of opensm.conf, and its options.
// [engines.NoFallback] is added if the chain contains it. ok is false if the engine and options are unknown.
func (p *Picture) RoutedWith() (engine string, given []settings.Setting, ok bool) {
	if p.by == nil || p.by.cached {
		return "", nil, false
	}
	engine = p.by.engine
	if slices.Contains(p.by.chain, engines.NoFallback) {
		engine += "," + engines.NoFallback
	}
	return engine, p.by.given, true
}

// Maker returns the engine and the options that computed the tables, as text. If the engine is unknown, it returns the
// origin of the tables.
func (p *Picture) Maker() (engine, options string) {
	switch {
	case p.Entry != nil:
		return p.Entry.Engine, p.Entry.Options
	case p.by != nil:
		return p.by.engine, settings.Words(p.by.given)
	case p.Tables != nil:
		return p.Tables.Origin, ""
	}
	return "", ""
}

// IsComputed reports whether the state is a history entry of a route or a load. Such a state may never have been on the
// switches.
func (p *Picture) IsComputed() bool {
	return p.Entry != nil && (p.Entry.Kind == history.Route || p.Entry.Kind == history.Load)
}

// pictureOf returns the state in a file. Its time is the time in the file, or now if the file has none.
func pictureOf(k Kind, file *formats.Subnet) *Picture {
	p := &Picture{Kind: k, Fabric: file.Fabric, Tables: file.Tables, When: file.When, Limits: file.Limits,
		Health: file.Health, Far: file.Far}
	if p.When.IsZero() {
		p.When = time.Now()
	}
	return p
}

// as returns the state as another kind.
func (p *Picture) as(k Kind) *Picture {
	if p == nil {
		return nil
	}
	c := *p
	c.Kind = k
	return &c
}

// On returns the state with its tables transferred to the fabric f. If f has the same indexes and LIDs, the tables are
// unchanged. Otherwise switches and ports are matched by GUID.
func (p *Picture) On(f *fabric.Fabric) *Picture {
	c := *p
	c.Fabric, c.Hops, c.Recommend, c.Roots, c.Ranks, c.CAOrder, c.Multicast = f, nil, nil, nil, nil, nil, nil
	if !fabric.SameNodes(p.Fabric, f) {
		c.Limits, c.VLArb, c.Health = nil, nil, nil // they have the old indexes
	}
	switch {
	case p.Tables == nil:
	case fabric.SameNodes(p.Fabric, f) && fabric.KeepsLIDs(p.Fabric, f):
		t := *p.Tables
		t.Fabric = f
		c.Tables = &t
	default:
		c.Tables = persist.Transfer(f, p.Tables)
		for s := range f.NumSwitches() { // an added switch has an empty table
			n := f.SwitchNode(s)
			c.Tables.Known[s] = c.Tables.Known[s] || n.InSubnet && p.Fabric.SwitchByGUID(n.GUID) == fabric.None
		}
	}
	return &c
}

// Unreachable returns the nodes that simulated failures have separated from the subnet, by index.
func (p *Picture) Unreachable() []fabric.NodeIndex {
	return slices.Sorted(maps.Keys(p.Fabric.UnreachableNodes()))
}

// HopTable returns the hop counts with which the tables were computed. If they are unknown, it returns the minimum hop
// counts.
func (p *Picture) HopTable() routing.Hops {
	if p.Hops != nil {
		return p.Hops
	}
	return routing.NewDistances(p.Fabric)
}

// Managed returns the fabric of the state. For staged tables it returns the fabric as it will be after the tables are
// written, with all links active.
func (p *Picture) Managed() *fabric.Fabric {
	if p.Kind != Staged {
		return p.Fabric
	}
	return p.Fabric.Activated()
}

// LinkState returns the state of the link at a port. For staged tables it is the state after they are written, as in
// [Picture.Managed].
func (p *Picture) LinkState(port fabric.PortIndex) mad.PortState {
	if p.Kind == Staged && p.Fabric.Discovered(port) {
		return mad.PortActive
	}
	return p.Fabric.Ports[port].State
}

// Routing returns the engine, the chain and the options that computed the tables, as far as they are known. It does not
// include hop counts.
func (p *Picture) Routing() *snapshot.Routing {
	r := &snapshot.Routing{Roots: p.Roots}
	if p.by != nil && !p.by.cached {
		r.Engine, r.Chain = p.by.engine, p.by.chain
		for _, g := range p.by.given {
			r.Options = append(r.Options, snapshot.Option(g))
		}
	}
	return r
}

// Unstage discards the staged tables. The next route starts from the base again.
func (ps *Pictures) Unstage() {
	ps.Staged, ps.Stale, ps.Written, ps.past, ps.lastBase = nil, false, false, compute.Past{}, nil
}
