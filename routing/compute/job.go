// SPDX-License-Identifier: Apache-2.0

package compute

import (
	"context"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/changes/incremental"
	"example.org/ibconsole/routing/checks/credits"
	"example.org/ibconsole/routing/engines/torus"
)

// Keep says whether routes that are still among the shortest stay as they are.
type Keep uint8

// The ways to keep routes.
const (
	// KeepAsOpenSM keeps them where OpenSM would: where things were only lost since the tables were made. OpenSM
	// computes all anew on its first sweep and whenever a link or host has come up.
	KeepAsOpenSM Keep = iota
	KeepYes
	KeepNo
)

// Job is a subnet to make tables for.
type Job struct {
	// Fabric is the subnet, which may lack LIDs. Failed says that it is a what-if of Base.
	Fabric *fabric.Fabric
	Failed bool
	// Base is the subnet before failures, and Before its tables, nil for none. Against names them.
	Base    *fabric.Fabric
	Before  *fabric.Tables
	Against string

	// Engines are tried in their order. Torus remembers what Base was recognised as for
	// a torus-2QoS that was given no configuration, nil where it goes without.
	Engines []routing.Engine
	Options routing.Options
	Torus   *torus.Known
	LIDs    LIDs
	// Past is what the subnet manager remembers of the events after Base, empty where nothing was routed since.
	// Keep is about its routes, or else those of Before, and Cached says to keep them as OpenSM's unicast cache does.
	Past   Past
	Keep   Keep
	Cached bool
	// Groups are the multicast groups, and GroupsOf says who named them, "" where none are known.
	Groups   []fabric.Group
	GroupsOf string

	// NoQoS says that quality of service is off: OpenSM writes no SL2VL tables then.
	NoQoS bool

	// Notes go before the warnings of an engine.
	Notes []string

	// Incremental adapts the tables of Before instead of routing anew; CompareFull does that
	// too, to compare. Facts, where set, knows some of Before.
	Incremental, CompareFull bool
	Facts                    Facts
}

// Facts is who may know already what follows from tables.
type Facts interface {
	RoutesFrom(context.Context, *fabric.Tables) (*incremental.Base, error)
	Credits(context.Context, *fabric.Tables, credits.Options) (*credits.Result, error)
}
