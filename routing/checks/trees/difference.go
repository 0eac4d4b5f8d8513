// SPDX-License-Identifier: Apache-2.0

package trees

import (
	"example.org/ibconsole/fabric"
)

// Difference is in what tables and their fabric differ from those of a forest.
type Difference struct {
	Removed []fabric.Link
	// Edits are the entries that are others, each once.
	Edits []fabric.Edit
}

// Against says in what tables differ from those of the forest. It is for tables that [fabric.LFT.Patched] made of
// those of the forest, for their fabric or a part of it; ok is false for all else. O(switches + edits).
func (f *Forest) Against(now *fabric.Tables) (d Difference, ok bool) {
	was := f.Tables
	d.Removed, ok = fabric.Removed(was.Fabric, now.Fabric)
	if !ok {
		return d, false
	}
	if d.Edits, ok = now.LFT.EditsOf(was.LFT); !ok {
		return d, false
	}
	for sw := range now.Fabric.NumSwitches() {
		if !now.Fabric.SwitchNode(sw).InSubnet {
			continue
		}
		if was.Known[sw] != now.Known[sw] || was.Top[sw] != now.Top[sw] && !emptyFrom(was.LFT.Row(sw), min(was.Top[sw], now.Top[sw])) {
			return d, false
		}
	}
	for _, e := range d.Edits {
		if e.LID > now.Top[e.Switch] || e.LID > was.LFT.MaxLID {
			return d, false
		}
	}
	return d, true
}

// emptyFrom reports whether a row has no entry above a LID.
func emptyFrom(row []uint8, top uint16) bool {
	for _, port := range row[min(len(row), int(top)+1):] {
		if port != fabric.NoPath {
			return false
		}
	}
	return true
}
