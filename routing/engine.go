// SPDX-License-Identifier: Apache-2.0

// Package routing computes forwarding tables for a fabric, follows paths through tables, and compares tables.
//
// An engine is a function: its inputs are a fabric and options, its results are tables and figures. It logs nothing and
// reads no file.
//
// Read the example first, then [Engine], [Options] and [Result]. The packages below this package form three groups:
//
//   - engines: each engine has its own package. Package engines lists the engines and tries one engine after the other.
//     Begin with minhop, the shortest engine.
//   - checks: the properties of tables. Package walk follows one path, package trees all paths to one destination.
//     Packages reach, credits, linkload, balance, uses and mcast use these two. Package choices follows every choice of
//     switches that route adaptively.
//   - changes: from tables to other tables. Package diff compares two sets of tables. Package plan orders the writes
//     that turn one set into the other. Packages incremental, persist and ucastcache keep the valid part of a set.
//     Package transition plans changes without credit loops on the way. Package resilience simulates all failures in
//     turn.
//
// Package paths makes path records of tables. Package classify finds the purpose of nodes. Package adaptive computes
// groups of ports for adaptive routing.
package routing

import (
	"context"
	"errors"
	"fmt"

	"example.org/ibconsole/fabric"
)

// Engine computes routes.
type Engine interface {
	// Name returns the name of the engine in opensm.conf, such as "minhop".
	Name() string
	// Route computes tables for the nodes of f that are in the subnet. Every end port must have a LID
	// ([fabric.AssignLIDs]). Route returns a [RefusedError] if the engine does not support the fabric, and the error of
	// ctx if ctx ends first.
	Route(ctx context.Context, f *fabric.Fabric, opt Options) (*Result, error)
}

// Result is the result of an engine.
type Result struct {
	Tables *fabric.Tables
	// Hops are the hop counts that the engine used.
	Hops Hops
	// Roots are the switches that the engine took as roots, in ascending order. Roots is nil if the engine has no
	// roots.
	Roots []fabric.SwitchIndex
	// Ranks are the distances of the switches from the roots, or for dnup from the switches with hosts. They are
	// indexed by switch, and [Unranked] outside the subnet. Ranks is nil if the engine does not rank switches.
	Ranks []int32
	// CAOrder is the order of the compute nodes that suits the tables of ftree, as a list of end ports. Leaf switches
	// with fewer compute nodes than the fullest leaf switch are padded with [fabric.None]. CAOrder is nil for other
	// engines.
	CAOrder []fabric.PortIndex
	// Multicast routes multicast groups. It is set only if the engine does that itself. If it is nil, Hops determine
	// the trees (package mcast).
	Multicast GroupRouter
	// Recommend creates a function that returns the port that OpenSM would choose, given some hop counts. The function
	// starts in OpenSM's initial state. Recommend is nil if OpenSM's choice is unknown.
	Recommend func(Hops) Recommend
	// Each warning is one sentence.
	Warnings []string
}

// Recommend returns the port by which OpenSM would forward packets to a LID if it chose the port now. It must not be
// called concurrently.
type Recommend = func(sw fabric.SwitchIndex, lid uint16) uint8

// GroupRouter computes the trees of multicast groups.
type GroupRouter interface {
	// AddGroup adds the tree of a multicast LID to the tables mft. The LID must be within the range of mft. The members
	// are end ports of the subnet, each listed once. AddGroup returns the members that the tree does not reach. It may
	// be called concurrently for different LIDs.
	AddGroup(mft *fabric.MFT, mlid uint16, members []fabric.PortIndex) (outside []fabric.PortIndex, err error)
}

// Unranked is the rank of a switch whose rank is not known.
const Unranked int32 = -1

// Route runs an engine. Its errors contain the name of the engine.
func Route(ctx context.Context, e Engine, f *fabric.Fabric, opt Options) (*Result, error) {
	res, err := e.Route(ctx, f, opt)
	if _, refused := errors.AsType[*RefusedError](err); err != nil && !refused {
		err = fmt.Errorf("route with %s: %w", e.Name(), err)
	}
	return res, err
}

// RefusedError reports that an engine does not support a fabric. The next engine of a chain may then be tried.
type RefusedError struct {
	Engine, Reason string
	// Counted are the tables that the engine had computed before it refused, or nil. See [Options.Counted].
	Counted *fabric.LFT
	// Hops are the hop counts that the engine had computed before it refused, or nil. They cover all LIDs if they are
	// [LIDHops].
	Hops Hops
	// TooFewVLs reports that the engine may accept the fabric with more VLs.
	TooFewVLs bool
	// File reports that the engine refused the contents of a file of its options.
	File bool
}

func (e *RefusedError) Error() string { return fmt.Sprintf("%s refuses: %s", e.Engine, e.Reason) }

// Refuse returns a [RefusedError].
func Refuse(engine, format string, args ...any) error {
	return &RefusedError{Engine: engine, Reason: fmt.Sprintf(format, args...)}
}

// RefuseFile returns a [RefusedError] for the contents of a file.
func RefuseFile(engine, format string, args ...any) error {
	return &RefusedError{Engine: engine, Reason: fmt.Sprintf(format, args...), File: true}
}

// RefuseVLs returns a [RefusedError] for too few VLs.
func RefuseVLs(engine, format string, args ...any) error {
	return &RefusedError{Engine: engine, Reason: fmt.Sprintf(format, args...), TooFewVLs: true}
}

// RefuseWithHops adds hop counts to an error if the error is a [RefusedError].
func RefuseWithHops(hops Hops, refused error) error {
	if e, ok := errors.AsType[*RefusedError](refused); ok {
		e.Hops = hops
	}
	return refused
}

// Hops are the hop counts between switches, as an engine counts them.
type Hops interface {
	// Least returns the least number of hops from switch sw to switch dst, or NoHops if there is no path.
	Least(sw, dst fabric.SwitchIndex) uint8
	// Through returns the number of hops from sw to dst by a port of sw, or NoHops if no path leads there by this port.
	Through(sw fabric.SwitchIndex, port uint8, dst fabric.SwitchIndex) uint8
}

// LIDHops are [Hops] to each LID, including the LIDs of hosts.
type LIDHops interface {
	Hops
	LeastTo(sw fabric.SwitchIndex, lid uint16) uint8
	ThroughTo(sw fabric.SwitchIndex, port uint8, lid uint16) uint8
}

// NoHops is the hop count of an unreachable destination, as in OpenSM's lid matrix.
const NoHops = 0xff
