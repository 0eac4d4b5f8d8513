// SPDX-License-Identifier: Apache-2.0

// Package compute computes the tables of a subnet from beginning to end: it assigns LIDs, tries the engines of a chain,
// or adapts existing tables, or applies the routes of a file, computes the trees of multicast groups, and counts the
// results.
//
// A [Job] holds everything that this depends on. [Unicast] does the same without multicast and without counting the
// changes, for example to measure an engine.
package compute

import (
	"context"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/changes/incremental"
	"example.org/ibconsole/routing/checks/credits"
	"example.org/ibconsole/routing/engines/torus"
)

// Keep controls whether routes that are still among the shortest stay as they are.
type Keep uint8

// The values of Keep.
const (
	// KeepAsOpenSM keeps them if OpenSM would: if nothing came up since the tables were made. OpenSM computes all
	// routes on its first sweep and whenever a link or host has come up.
	KeepAsOpenSM Keep = iota
	KeepYes
	KeepNo
)

// Job describes a subnet to compute tables for.
type Job struct {
	// Fabric is the subnet, which may lack LIDs. Failed reports that it is a what-if of Base.
	Fabric *fabric.Fabric
	Failed bool
	// Base is the subnet before failures. Before are its tables, nil for none, and Against is their name.
	Base    *fabric.Fabric
	Before  *fabric.Tables
	Against string

	// Engines are tried in order. Torus caches the torus that was recognised in Base, for a torus-2QoS without
	// configuration. Nil means no cache.
	Engines []routing.Engine
	Options routing.Options
	Torus   *torus.Cache
	LIDs    LIDs
	// Past is what the subnet manager remembers of the events after Base, empty if nothing was routed since. Keep
	// applies to its routes, or else to those of Before. Cached keeps them as OpenSM's unicast cache does.
	Past   Past
	Keep   Keep
	Cached bool
	// Groups are the multicast groups. GroupsOf names their source, "" if none are known.
	Groups   []fabric.Group
	GroupsOf string

	// NoQoS turns quality of service off: OpenSM writes no SL2VL tables then.
	NoQoS bool

	// Notes precede the warnings of an engine.
	Notes []string

	// Incremental adapts the tables of Before instead of routing in full. CompareFull routes in full as well, for
	// comparison. Facts is a cache of results for Before.
	Incremental, CompareFull bool
	Facts                    Facts
}

// Facts may cache results that follow from tables.
type Facts interface {
	RoutesFrom(context.Context, *fabric.Tables) (*incremental.Base, error)
	Credits(context.Context, *fabric.Tables, credits.Options) (*credits.Result, error)
}
