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
	// Live is what the switches hold, as last read, or what a file has.
	Live Kind = "live"
	// Base is the live state that the what-if started from.
	Base Kind = "base"
	// WhatIf is the base with simulated failures and additions.
	WhatIf Kind = "whatif"
	// Staged has tables that were computed or loaded, and not written.
	Staged Kind = "staged"
)

// Kinds are the kinds of states.
var Kinds = []Kind{Live, Base, WhatIf, Staged}

// Picture is a state of the subnet. It is immutable.
type Picture struct {
	Kind   Kind
	Fabric *fabric.Fabric
	// Tables are nil if they are unknown. Their fabric is Fabric.
	Tables *fabric.Tables
	// Hops are the hop counts that the tables were computed with, nil if unknown.
	Hops routing.Hops
	// Recommend is [routing.Result.Recommend].
	Recommend func(routing.Hops) routing.Recommend
	// Roots and Ranks are those that the engine found in the fabric, nil for none.
	Roots []fabric.SwitchIndex
	Ranks []int32
	// CAOrder is [routing.Result.CAOrder].
	CAOrder []fabric.PortIndex
	// Multicast is [routing.Result.Multicast].
	Multicast routing.GroupRouter
	When      time.Time
	// Limits are the widths and speeds that ports support, by port index, nil if unknown.
	Limits []fabric.LinkLimit
	// VLArb are the VL arbitration tables of linked ports, by port index, nil if unread.
	VLArb map[fabric.PortIndex]*sweep.VLArb
	// Health has the values that ports report of their links in addition to counters, nil if unread.
	Health *health.Report
	// Far has the groups of adaptive routing and the private tables of a file, nil if it has none.
	Far *ibdiagnet.Far
	// Unlike is why OpenSM may compute different tables, "" if no reason is known. UnsetVLs is
	// [compute.Figures.UnsetVLs].
	Unlike, UnsetVLs string
	// file is the file that a base without live tables was loaded from, escaped.
	file string
	// Simulated lists what was simulated in the fabric that staged tables or a history entry were computed for, "" for
	// nothing.
	Simulated string
	// Entry is the history entry that the picture was read from, nil for none.
	Entry *history.Entry
	// by has the engine that computed the tables, nil if unknown.
	by *maker
	// madeOf is the fabric that staged tables were computed for, before LIDs were assigned.
	madeOf *fabric.Fabric
	// heldOn are the tables that the switches were expected to hold when staged tables or a base were made. An entry
	// of a switch that is in none of them was written by others.
	heldOn []*fabric.Tables
}

// maker is an engine with its options. chain are the engines that were tried, as in [settings.Settings].
type maker struct {
	engine string
	chain  []string
	given  []settings.Setting
	// cached is true for tables of the unicast cache, which an engine alone does not reproduce.
	cached bool
}

// SetMaker sets the engine that made new tables, and the settings that it used.
func (p *Picture) SetMaker(engine string, set *settings.Settings) {
	p.by = &maker{engine: engine, chain: set.Chain, given: set.Given}
}

// RoutedWith returns the engine that computed the tables as in opensm.conf, with [engines.NoFallback] if the chain has
// it, and its options. ok is false if they are unknown.
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

// Maker returns the engine and the options that the tables were computed with, as text. Without a known engine it
// returns the origin of the tables.
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

// IsComputed reports whether the state is a history entry of a route or a load. Switches may never have held it.
func (p *Picture) IsComputed() bool {
	return p.Entry != nil && (p.Entry.Kind == history.Route || p.Entry.Kind == history.Load)
}

// pictureOf returns the state in a file. Its time is that in the file, or now.
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

// On returns the state with its tables transferred to another fabric: unchanged if it has the same indexes and LIDs,
// otherwise by GUIDs.
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

// Unreachable returns the nodes that failures have separated from the subnet, by index.
func (p *Picture) Unreachable() []fabric.NodeIndex {
	return slices.Sorted(maps.Keys(p.Fabric.UnreachableNodes()))
}

// HopTable returns the hop counts that the tables were computed with, otherwise the least hop counts.
func (p *Picture) HopTable() routing.Hops {
	if p.Hops != nil {
		return p.Hops
	}
	return routing.NewDistances(p.Fabric)
}

// Managed returns the fabric of the state. For staged tables it is the fabric once they are written, with all links
// active.
func (p *Picture) Managed() *fabric.Fabric {
	if p.Kind != Staged {
		return p.Fabric
	}
	return p.Fabric.Activated()
}

// LinkState returns the state of the link of a port, for staged tables once they are written, as in [Picture.Managed].
func (p *Picture) LinkState(port fabric.PortIndex) mad.PortState {
	if p.Kind == Staged && p.Fabric.Discovered(port) {
		return mad.PortActive
	}
	return p.Fabric.Ports[port].State
}

// Routing returns the engine, chain and options that the tables were computed with, if known, without hop counts.
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

// Unstage removes the staged tables. The next route starts from the base again.
func (ps *Pictures) Unstage() {
	ps.Staged, ps.Stale, ps.Written, ps.past, ps.lastBase = nil, false, false, compute.Past{}, nil
}
