// SPDX-License-Identifier: Apache-2.0

// Package incremental adapts forwarding tables to a changed subnet and changes only the entries that it must. It
// follows section 6 of the memo "OpenSM Unicast Routing Enhancements for Scalability" (Zahavi and Kalka, 2005), and its
// table 1 for what a change invalidates:
//
//   - Links of hosts change nothing.
//   - Routes over a failed switch link are distributed over the other links between the same two switches.
//   - If there are none, the switches whose routes use it get another path. Entries without any path stay
//     unchanged and are reported.
//
// The memo does not cover moved hosts and new switches: the LIDs of the former, and the tables and LIDs of the latter,
// are routed by the fewest hops. New links are not used until something is routed again.
package incremental

import (
	"context"
	"errors"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// ErrNoTables means that there are no tables to start from.
var ErrNoTables = errors.New("incremental routing: the base has no tables")

// Unreached is a switch without a path to a LID.
type Unreached struct {
	Switch fabric.SwitchIndex
	LID    uint16
}

// Result is the result of [Route].
type Result struct {
	Tables *fabric.Tables
	// Touched counts the changed entries, Switches the switches that have some.
	Touched, Switches int
	// Unreached lists the entries for which there is no path. They are unchanged.
	Unreached []Unreached
	// Looked counts the entries and links that were examined one by one. LIDs counts the LIDs with a broken entry.
	Looked, LIDs int
	// Changes lists the changes of the subnet, each with the routes that it invalidates.
	Changes []Verdict
}

// Route adapts old tables to the fabric f. It matches switches and ports by GUID, or by index if both fabrics have the
// same indexes, as after simulated failures. O(ports + changed links x LIDs + switches x LIDs to be routed).
func Route(ctx context.Context, f *fabric.Fabric, old *fabric.Tables, opt routing.Options) (*Result, error) {
	if old == nil {
		return nil, ErrNoTables
	}
	r := newChanged(f, old)
	if err := r.run(ctx, r.todo(), r.lid, opt.Progress); err != nil {
		return nil, err
	}
	return r.result(r.start.Patched(r.edits)), nil
}

// run calls the method lid for each task of the list todo. The method repairs the entries for the LID of the task.
func (r *repair) run(ctx context.Context, todo []task, lid func(task), progress func(done, total int)) error {
	for i, d := range todo {
		if i%256 == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			if progress != nil {
				progress(i, len(todo))
			}
		}
		lid(d)
	}
	r.lids = len(todo)
	if progress != nil {
		progress(len(todo), len(todo))
	}
	return nil
}

// task is the repair of the entries for one LID. It lists the switches whose entry for the LID is broken.
type task struct {
	lid    uint16
	broken []fabric.SwitchIndex
	// all is set if all switches must be routed to the LID.
	all bool
}
