// SPDX-License-Identifier: Apache-2.0

// Package routing computes forwarding tables out of a fabric, follows paths through them, and compares them.
//
// An engine is a function: fabric and options in, tables and figures out. It logs nothing and reads no file.
//
// Read first the example, then [Engine], [Options] and [Result]. What is below this package stands in three wings:
//
//   - engines: each engine is a package of its own, and package engines lists them
//     and tries one after the other. Begin with minhop, which is the shortest.
//   - checks: what tables are worth. Package walk follows one path, trees all paths to
//     one destination; reach, credits, linkload, balance, uses and mcast judge by them.
//     Package choices follows every choice of switches that route adaptively.
//   - changes: from tables to other tables. Package diff compares two, plan says how to
//     write one over the other, incremental, persist and ucastcache keep what still
//     holds, and resilience lets everything fail in turn.
//
// Package paths makes path records of tables, classify guesses what nodes are for, adaptive makes
// groups of ports.
package routing

import (
	"context"
	"errors"
	"fmt"

	"example.org/ibconsole/fabric"
)

// Engine computes routes.
type Engine interface {
	// Name is the engine's name in opensm.conf: "minhop".
	Name() string
	// Route computes tables for the part of f that is in the subnet. Every end port must have a LID
	// ([fabric.AssignLIDs]). It fails with a [RefusedError] where the engine does not take this fabric, and with
	// ctx's error.
	Route(ctx context.Context, f *fabric.Fabric, opt Options) (*Result, error)
}

// Result is what an engine computed.
type Result struct {
	Tables *fabric.Tables
	// Hops are the hop counts that the engine routed by.
	Hops Hops
	// Roots are the switches that the engine took for the fabric's roots, in ascending order; nil where it knows none.
	Roots []fabric.SwitchIndex
	// Ranks are the distances of the switches from the roots, or for dnup from the switches with hosts, by
	// switch index, [Unranked] outside the subnet; nil where the engine does not rank.
	Ranks []int32
	// CAOrder is the order of the compute nodes, as end ports, that suits the tables of ftree, with
	// [fabric.None] for each that a leaf switch has less than the fullest one; nil from other engines.
	CAOrder []fabric.PortIndex
	// Multicast lays out multicast groups where the engine does it itself; nil where Hops decide (package mcast).
	Multicast GroupRouter
	// Recommend begins anew to say which port OpenSM would choose by these hop counts; nil where that is not known.
	Recommend func(Hops) Recommend
	// Warnings say what was noticed, one sentence each.
	Warnings []string
}

// Recommend says by which port OpenSM would send to a LID if it had to choose now. It is for one goroutine.
type Recommend = func(sw fabric.SwitchIndex, lid uint16) uint8

// GroupRouter makes the trees of multicast groups.
type GroupRouter interface {
	// AddGroup adds to tables the tree of a multicast LID for the end ports of its members, all of the
	// subnet, each once, and returns those that it does not reach. The LID must be in the tables. It may be
	// called from several goroutines for different LIDs.
	AddGroup(mft *fabric.MFT, mlid uint16, members []fabric.PortIndex) (outside []fabric.PortIndex, err error)
}

// Unranked is the rank of a switch that has none.
const Unranked int32 = -1

// Route computes routes by an engine. The error says by which.
func Route(ctx context.Context, e Engine, f *fabric.Fabric, opt Options) (*Result, error) {
	res, err := e.Route(ctx, f, opt)
	if _, refused := errors.AsType[*RefusedError](err); err != nil && !refused {
		err = fmt.Errorf("route with %s: %w", e.Name(), err)
	}
	return res, err
}

// RefusedError says that an engine does not take a fabric, so that the next one may be tried.
type RefusedError struct {
	Engine, Reason string
	// Counted are the tables that the engine had made before it refused, nil for none; see [Options].
	Counted *fabric.LFT
	// Hops are what it had counted by then, to all LIDs where they are [LIDHops], nil for none.
	Hops Hops
	// TooFewVLs says that with more VLs it would take the fabric, as far as it has counted how many that takes.
	TooFewVLs bool
	// File says that it is what stands in a file of its options that the engine does not take.
	File bool
}

func (e *RefusedError) Error() string { return fmt.Sprintf("%s refuses: %s", e.Engine, e.Reason) }

// Refuse makes a [RefusedError].
func Refuse(engine, format string, args ...any) error {
	return &RefusedError{Engine: engine, Reason: fmt.Sprintf(format, args...)}
}

// RefuseFile makes a [RefusedError] for what stands in a file.
func RefuseFile(engine, format string, args ...any) error {
	return &RefusedError{Engine: engine, Reason: fmt.Sprintf(format, args...), File: true}
}

// RefuseVLs makes a [RefusedError] for want of VLs.
func RefuseVLs(engine, format string, args ...any) error {
	return &RefusedError{Engine: engine, Reason: fmt.Sprintf(format, args...), TooFewVLs: true}
}

// RefuseWithHops makes a [RefusedError] of another refusal for who had counted hops by then.
func RefuseWithHops(hops Hops, refused error) error {
	if e, ok := errors.AsType[*RefusedError](refused); ok {
		e.Hops = hops
	}
	return refused
}

// Hops are hop counts between switches as an engine counts them.
type Hops interface {
	// Least is the least number of hops from switch sw to switch dst, NoHops where there is no path.
	Least(sw, dst fabric.SwitchIndex) uint8
	// Through is the number of hops from sw to dst that leaves by this port, NoHops where that is no path.
	Through(sw fabric.SwitchIndex, port uint8, dst fabric.SwitchIndex) uint8
}

// LIDHops are [Hops] to each LID, those of adapters included.
type LIDHops interface {
	Hops
	LeastTo(sw fabric.SwitchIndex, lid uint16) uint8
	ThroughTo(sw fabric.SwitchIndex, port uint8, lid uint16) uint8
}

// NoHops is the hop count of what cannot be reached, as in OpenSM's lid matrix.
const NoHops = 0xff
