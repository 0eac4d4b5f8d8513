// SPDX-License-Identifier: Apache-2.0

// Package compute computes the tables of a subnet from beginning to end. It assigns LIDs. It then tries the engines of
// a chain, adapts existing tables, or applies the routes of a file. Finally it computes the trees of multicast groups
// and counts the changes.
//
// A [Job] holds all inputs. [Unicast] does the same without multicast and without counting the changes, for example to
// measure an engine.
package compute

import (
	"context"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/changes/incremental"
	"example.org/ibconsole/routing/checks/credits"
	"example.org/ibconsole/routing/engines/torus"
)

// Keep controls whether existing routes that are still among the shortest stay unchanged.
type Keep uint8

// The values of Keep.
const (
	// KeepAsOpenSM keeps existing routes if OpenSM would keep them: if no link or host has come up since the tables
	// were made. OpenSM computes all routes on its first sweep and whenever a link or host has come up.
	KeepAsOpenSM Keep = iota
	KeepYes
	KeepNo
)

// Job describes a subnet to compute tables for.
type Job struct {
	// Fabric is the subnet. Its ports may have no LIDs. Failed is set if Fabric is a what-if of Base with failures.
	Fabric *fabric.Fabric
	Failed bool
	// Base is the subnet before failures. Before holds its tables, or nil. Against is the name of these tables.
	Base    *fabric.Fabric
	Before  *fabric.Tables
	Against string

	// Engines are tried in order. Torus caches the torus that was recognised in Base, for a torus-2QoS engine without a
	// configuration. If Torus is nil, nothing is cached.
	Engines []routing.Engine
	Options routing.Options
	Torus   *torus.Cache
	LIDs    LIDs
	// Past is what the subnet manager remembers of the events after Base. It is empty if nothing was routed since Base.
	// Keep applies to the routes in Past, or to the routes of Before if Past is empty. Cached keeps routes as OpenSM's
	// unicast cache does.
	Past   Past
	Keep   Keep
	Cached bool
	// Groups are the multicast groups. GroupsOf is the name of their source, or "" if no groups are known.
	Groups   []fabric.Group
	GroupsOf string

	// NoQoS turns quality of service off: OpenSM writes no SL2VL tables then.
	NoQoS bool

	// Notes precede the warnings of an engine.
	Notes []string

	// Incremental adapts the tables of Before instead of routing in full. CompareFull also routes in full, for
	// comparison. Facts is a cache of results about the tables of Before.
	Incremental, CompareFull bool
	Facts                    Facts
}

// Facts computes results that follow from tables. An implementation may cache them.
type Facts interface {
	RoutesFrom(context.Context, *fabric.Tables) (*incremental.Base, error)
	Credits(context.Context, *fabric.Tables, credits.Options) (*credits.Result, error)
}
