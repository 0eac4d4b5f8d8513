// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"cmp"
	"slices"
	"sync/atomic"
)

// Edit is what an entry of a forwarding table is to be.
type Edit struct {
	Switch SwitchIndex
	LID    uint16
	Port   uint8
}

// patch is what tables have of their own over others.
type patch struct {
	under *LFT
	// edits are as they were given, own those of each switch, which begin at first.
	edits, own []Edit
	first      []int32
	made       []atomic.Pointer[[]byte] // the rows that somebody asked for
}

// Patched returns tables that are those of t but for these entries, each of which is named at most once. They
// share the memory of t, which must not be written any more; a row with entries of its own is made when it is
// first asked for, and may be by several goroutines. O(switches + entries).
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

// EditsOf returns the entries, read-only, by which [LFT.Patched] made t of these other tables; else ok is false.
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

// otherPort is [LFT.Port] where the row is not there.
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

// patchedRow is [LFT.Row] where the row is not there.
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
