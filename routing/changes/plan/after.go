// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	"example.org/ibconsole/fabric"
)

// After are the tables that the switches hold when the plan is carried out, those that it leaves alone
// included. The LIDs in them are the old ones. O(switches x LIDs).
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

// Turns are, in the places of the entries of a table, the steps in which the blocks change them, 0 for those that
// do not change. There are none, and nil is returned, for a plan of more steps than fit. O(switches x LIDs).
func (p *Plan) Turns(live *fabric.Tables) *fabric.LFT {
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
