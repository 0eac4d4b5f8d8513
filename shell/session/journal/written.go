// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/write"
	"example.org/ibconsole/routing/changes/diff"
)

// Written describes what the last commit of a session wrote. Later sweeps compare the switches with it, to detect
// changes by others.
type Written struct {
	ID     int64          // of the commit in the journal, 0 for none
	Tables *fabric.Tables // the tables that it was to write
	Before *fabric.Tables // the tables that the switches held
	// Halfway has the values between those of Before and Tables, see [history.Snapshot]. It is nil for none.
	Halfway *fabric.Tables
	left    map[block]bool
}

// block is a block of the forwarding table of a switch.
type block struct {
	guid uint64
	num  uint16
}

// NewWritten returns the description of a commit's writes. It is uncertain whether the blocks in the argument left were
// written.
func NewWritten(id int64, tables, before, halfway *fabric.Tables, left []write.Block) *Written {
	w := &Written{ID: id, Tables: tables, Before: before, Halfway: halfway, left: map[block]bool{}}
	for _, b := range left {
		w.left[block{before.Fabric.SwitchNode(b.Switch).GUID, b.Num}] = true
	}
	return w
}

// Overwritten returns the forwarding entries that others have changed since the commit. In a block that may not have
// been written, an entry counts if it has neither the old nor the new value, nor the one in between. For a nil Written
// the result is empty.
func (w *Written) Overwritten(live *fabric.Tables) (found write.Conflicts) {
	if w == nil || live == nil || !fabric.KeepsLIDsByGUID(w.Tables.Fabric, live.Fabric) {
		return found
	}
	for e := range diff.Changes(w.Tables, live) {
		n := live.Fabric.SwitchNode(e.SwitchNew)
		if w.left[block{n.GUID, e.LID / fabric.BlockSize}] {
			sw := w.Before.Fabric.SwitchByGUID(n.GUID) // Halfway has the same fabric
			if sw == fabric.None || w.Before.Port(sw, e.LID) == e.New ||
				w.Halfway != nil && w.Halfway.Port(sw, e.LID) == e.New {
				continue
			}
		}
		found.Add(live.Fabric.NodeName(live.Fabric.Switches[e.SwitchNew]), n.GUID, fmt.Sprintf("LID %d", e.LID), e.Old,
			e.New, e.Old)
	}
	return found.AfterWriting()
}
