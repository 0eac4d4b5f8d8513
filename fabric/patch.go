// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"cmp"
	"slices"
	"sync/atomic"
)

// Edit sets one entry of a forwarding table.
type Edit struct {
	Switch SwitchIndex
	LID    uint16
	Port   uint8
}

// patch holds the entries in which tables differ from the tables under.
type patch struct {
	under *LFT
	// edits holds the entries as the caller passed them. own holds the same entries sorted by switch. The entries of
	// switch sw begin at own[first[sw]].
	edits, own []Edit
	first      []int32
	made       []atomic.Pointer[[]byte] // the rows that have been requested
}

// Patched returns tables that differ from t in the given entries. Each entry may occur only once. The new tables share
// the memory of t, so t must not be changed any more. A row with changed entries is made when it is first requested,
// possibly by several goroutines. O(switches + entries).
func (t *LFT) Patched(edits []Edit) *LFT {
	p := &patch{under: t, edits: edits, own: make([]Edit, len(edits)), first: make([]int32, len(t.rows)+1)}
	for _, e := range edits {
		p.first[e.Switch]++
	}
	end := int32(0)
	for sw, n := range p.first {
		end += n
		p.first[sw] = end
	}
	for _, e := range slices.Backward(edits) {
		p.first[e.Switch]--
		p.own[p.first[e.Switch]] = e
	}
	rows := slices.Clone(t.rows)
	for sw := range rows {
		own := p.of(SwitchIndex(sw))
		if len(own) == 0 {
			continue
		}
		rows[sw] = nil
		if !slices.IsSortedFunc(own, byLID) {
			slices.SortFunc(own, byLID)
		}
	}
	p.made = make([]atomic.Pointer[[]byte], len(rows))
	return &LFT{MaxLID: t.MaxLID, stride: t.stride, rows: rows, patch: p}
}

func byLID(a, b Edit) int { return cmp.Compare(a.LID, b.LID) }

// EditsOf returns the entries with which [LFT.Patched] made t from under. They are read-only. ok is false if t was not
// made from under.
func (t *LFT) EditsOf(under *LFT) (edits []Edit, ok bool) {
	if t == under {
		return nil, true
	}
	if t.patch == nil || t.patch.under != under {
		return nil, false
	}
	return t.patch.edits, true
}

func (p *patch) of(sw SwitchIndex) []Edit { return p.own[p.first[sw]:p.first[sw+1]] }

// otherPort does the work of [LFT.Port] for a row with changed entries that has not been made.
func (t *LFT) otherPort(sw SwitchIndex, lid uint16) uint8 {
	if int(lid) >= t.stride {
		return NoPath
	}
	own := t.patch.of(sw)
	if i, ok := slices.BinarySearchFunc(own, Edit{LID: lid}, byLID); ok {
		return own[i].Port
	}
	return t.patch.under.Port(sw, lid)
}

// patchedRow does the work of [LFT.Row] for a row with changed entries. It makes the row if necessary.
func (t *LFT) patchedRow(sw SwitchIndex) []byte {
	p := t.patch
	own := p.of(sw)
	if len(own) == 0 {
		return p.under.Row(sw)
	}
	if row := p.made[sw].Load(); row != nil {
		return *row
	}
	row := slices.Clone(p.under.Row(sw))
	for _, e := range own {
		row[e.LID] = e.Port
	}
	if !p.made[sw].CompareAndSwap(nil, &row) {
		return *p.made[sw].Load()
	}
	return row
}
