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

// Kind names one of the pictures of a subnet.
type Kind string

// The four pictures.
const (
	// Live is what the switches hold, as last read; of a file, what it says.
	Live Kind = "live"
	// Base is the live picture that the paper started from.
	Base Kind = "base"
	// WhatIf is the base with failures.
	WhatIf Kind = "whatif"
	// Staged is tables computed or loaded, and not written.
	Staged Kind = "staged"
)

// Kinds lists the pictures.
var Kinds = []Kind{Live, Base, WhatIf, Staged}

// Picture is one picture of the subnet. It never changes.
type Picture struct {
	Kind   Kind
	Fabric *fabric.Fabric
	// Tables are nil where none are known. Their fabric is Fabric.
	Tables *fabric.Tables
	// Hops are what the tables were routed by, nil where that is not known.
	Hops routing.Hops
	// Recommend is [routing.Result.Recommend].
	Recommend func(routing.Hops) routing.Recommend
	// Roots and Ranks are what the engine made of the fabric, nil where it did not.
	Roots []fabric.SwitchIndex
	Ranks []int32
	// CAOrder is [routing.Result.CAOrder].
	CAOrder []fabric.PortIndex
	// Multicast is [routing.Result.Multicast].
	Multicast routing.GroupRouter
	When      time.Time
	// Limits are what ports allow their links, by port index, nil where that is not
	// known.
	Limits []fabric.LinkLimit
	// VLArb are the VL arbitration tables of linked ports, by port index, nil where
	// they were not read.
	VLArb map[fabric.PortIndex]*sweep.VLArb
	// Health is what ports say of their links beside counters, nil where it was not read.
	Health *health.Report
	// Far are the groups of adaptive routing and the private tables beside Tables, nil where no file has them.
	Far *ibdiagnet.Far
	// Unlike says why OpenSM may hold other tables, "" where nothing is known of that, and UnsetVLs is
	// [compute.Figures.UnsetVLs].
	Unlike, UnsetVLs string
	// file is the file that a base without live tables was loaded from, escaped.
	file string
	// Simulated lists, of staged tables and of a history entry, what was simulated in the fabric that they were made
	// for, "" for nothing: that fabric never was so.
	Simulated string
	// Entry is the history entry that the picture was read from, nil for none.
	Entry *history.Entry
	// by is what the tables were routed with, nil where that is not known.
	by *maker
	// madeOf is the fabric that staged tables were made for, before LIDs were
	// assigned.
	madeOf *fabric.Fabric
	// heldOn are the tables that the maker of staged tables, or of a base, took the switches to hold: where they
	// hold something of none of these by now, somebody else has written it.
	heldOn []*fabric.Tables
}

// maker is an engine with its options. Chain are the engines that were tried, as [settings.Settings] has them.
type maker struct {
	engine string
	chain  []string
	given  []settings.Setting
	// cached is true for tables of the unicast cache, which no engine computes alone.
	cached bool
}

// SetMaker sets the engine that made new tables, and the settings that it used.
func (p *Picture) SetMaker(engine string, set *settings.Settings) {
	p.by = &maker{engine: engine, chain: set.Chain, given: set.Given}
}

// RoutedWith is the engine that made the tables as in opensm.conf, with [engines.NoFallback] where the chain had it,
// and its options; ok is false where that is not known.
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

// Maker returns the engine and the options that the tables were made with, in words. Without a known engine it
// returns where the tables come from.
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

// IsComputed reports whether the picture is a history entry of a route or a load, which the switches may never have
// held.
func (p *Picture) IsComputed() bool {
	return p.Entry != nil && (p.Entry.Kind == history.Route || p.Entry.Kind == history.Load)
}

// pictureOf is the picture that a file holds, of when it was written where that says it.
func pictureOf(k Kind, file *formats.Subnet) *Picture {
	p := &Picture{Kind: k, Fabric: file.Fabric, Tables: file.Tables, When: file.When, Limits: file.Limits,
		Health: file.Health, Far: file.Far}
	if p.When.IsZero() {
		p.When = time.Now()
	}
	return p
}

// as returns the picture under another name.
func (p *Picture) as(k Kind) *Picture {
	if p == nil {
		return nil
	}
	c := *p
	c.Kind = k
	return &c
}

// On returns the picture with its tables laid over another fabric: as they are where
// that has the same indexes and LIDs, else by GUIDs.
func (p *Picture) On(f *fabric.Fabric) *Picture {
	c := *p
	c.Fabric, c.Hops, c.Recommend, c.Roots, c.Ranks, c.CAOrder, c.Multicast = f, nil, nil, nil, nil, nil, nil
	if !fabric.SameNodes(p.Fabric, f) {
		c.Limits, c.VLArb, c.Health = nil, nil, nil // which go by the old indexes
	}
	switch {
	case p.Tables == nil:
	case fabric.SameNodes(p.Fabric, f) && fabric.KeepsLIDs(p.Fabric, f):
		t := *p.Tables
		t.Fabric = f
		c.Tables = &t
	default:
		c.Tables = persist.Transfer(f, p.Tables)
		for s := range f.NumSwitches() { // a switch that was added holds an empty table
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

// HopTable returns those that the picture was routed by, else the least there are.
func (p *Picture) HopTable() routing.Hops {
	if p.Hops != nil {
		return p.Hops
	}
	return routing.NewDistances(p.Fabric)
}

// Managed returns the fabric of a picture; where tables are staged for it, the
// fabric as it is once they are written, with all links active.
func (p *Picture) Managed() *fabric.Fabric {
	if p.Kind != Staged {
		return p.Fabric
	}
	return p.Fabric.Activated()
}

// LinkState returns the state of a port's link: where tables are staged, the state once they are written, as
// [Picture.Managed] has it.
func (p *Picture) LinkState(port fabric.PortIndex) mad.PortState {
	if p.Kind == Staged && p.Fabric.Discovered(port) {
		return mad.PortActive
	}
	return p.Fabric.Ports[port].State
}

// Routing returns how the picture was routed, without hops: with which engine, chain and options, where that is known.
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
