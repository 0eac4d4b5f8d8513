// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	"example.org/ibconsole/fabric"
)

// After returns the tables of the switches once the plan is carried out, including entries that it leaves unchanged.
// Their LIDs are the old ones. O(switches x LIDs).
func (p *Plan) After(live *fabric.Tables) *fabric.Tables {
	after := *live
	top := uint16(0)
	for _, t := range p.Tops {
		top = max(top, t.New)
	}
	for _, b := range p.Blocks {
		if int(b.Num) >= live.LFT.Blocks() {
			top = max(top, b.Num*fabric.BlockSize)
		}
	}
	if after.LFT = live.LFT.Grown(top); after.LFT == live.LFT {
		after.LFT = live.LFT.Clone()
	}
	after.Top, after.Origin = slices.Clone(live.Top), "the plan"
	for _, t := range p.Tops {
		after.Top[t.Switch] = t.New
	}
	for i := range p.Blocks { // ascending by step
		b := &p.Blocks[i]
		copy(after.LFT.Block(b.Switch, int(b.Num)), b.New[:])
	}
	after.SL2VL, after.MFT = p.sl2vlsAfter(live.SL2VL, true), p.multicastAfter(live)
	return &after
}

// EntrySteps returns a table that holds, in place of each entry, the step in which its block changes, or 0 where the
// entry stays the same. It returns nil if the plan has more steps than an entry can hold. O(switches x LIDs).
func (p *Plan) EntrySteps(live *fabric.Tables) *fabric.LFT {
	if p.Steps >= fabric.NoPath {
		return nil
	}
	top := uint16(0)
	for i := range p.Blocks {
		top = max(top, p.Blocks[i].Num*fabric.BlockSize)
	}
	turns := fabric.NewLFT(len(live.Fabric.Switches), top)
	for s := range live.Fabric.NumSwitches() {
		clear(turns.Row(s))
	}
	for i := range p.Blocks {
		b := &p.Blocks[i]
		row := turns.Block(b.Switch, int(b.Num))
		for k := range row {
			if b.Old[k] != b.New[k] {
				row[k] = uint8(b.Step)
			}
		}
	}
	return turns
}
