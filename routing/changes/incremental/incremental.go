// SPDX-License-Identifier: Apache-2.0

package incremental

import (
	"context"
	"errors"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// ErrNoTables says that there is nothing to go on from.
var ErrNoTables = errors.New("incremental routing goes on from the tables of the base, and there are none")

// Unreached is a switch from which a LID cannot be reached any more.
type Unreached struct {
	Switch fabric.SwitchIndex
	LID    uint16
}

// Result is what [Route] made.
type Result struct {
	Tables *fabric.Tables
	// Touched counts the entries that are others than before, Switches those that have some.
	Touched, Switches int
	// Unreached are the entries for which there is no path; they are as they were.
	Unreached []Unreached
	// Looked counts the entries that had to be looked at one by one, LIDs those of
	// which some entry was found to lead nowhere.
	Looked, LIDs int
	// Changes are what differs, with what that invalidates.
	Changes []Verdict
}

// Route adapts tables to f. Old switches and ports are found by their GUIDs, unless the fabrics have the same
// indexes, as those of failures on paper do. O(ports + changed links x LIDs + switches x LIDs to be routed).
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

// run repairs the entries for some LIDs, each by lid.
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

// task is a LID with the switches whose entries for it no longer lead anywhere.
type task struct {
	lid    uint16
	broken []fabric.SwitchIndex
	// anew says that all switches are to be routed anew for it.
	anew bool
}
