// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"fmt"
	"slices"

	"example.org/ibconsole/fabric"
)

// write writes all, as far as nothing fails.
func (a *applier) write() {
	a.writeLIDs()
	a.writeStates()
	if a.barrier("ports", a.waysUp()) {
		return
	}
	a.writeTops(false)
	if a.barrier("tops that rise", a.topsDone(false)) {
		return
	}
	ends := a.stepEnds()
	for i, end := range ends {
		begin := 0
		if i > 0 {
			begin = ends[i-1]
		}
		a.writeBlocks(begin, end)
		a.begun = end
		if a.barrier(fmt.Sprintf("step %d of %d", i+1, len(ends)), !slices.Contains(a.done.blocks[begin:end], false)) {
			return
		}
	}
	a.writeTops(true)
	a.barrier("tops that fall", a.topsDone(true))
}

// barrier stops if not all is done.
func (a *applier) barrier(what string, done bool) (stop bool) {
	if !done {
		a.report.Stopped = what
	}
	return !done
}

// waysUp says that no link between switches failed to come up.
func (a *applier) waysUp() bool {
	for i, s := range a.w.States {
		p := &a.f.Ports[s.Port]
		if !a.done.states[i] && a.f.Nodes[p.Node].Switch != fabric.None && a.f.PeerSwitch(s.Port) != fabric.None {
			return false
		}
	}
	return true
}

func (a *applier) topsDone(last bool) bool {
	for i, t := range a.w.Tops {
		if t.Last == last && !a.done.tops[i] {
			return false
		}
	}
	return true
}

// stepEnds are the places in the list of blocks at which steps end.
func (a *applier) stepEnds() []int {
	var ends []int
	for i := range a.w.Blocks {
		if i+1 == len(a.w.Blocks) || a.w.Blocks[i+1].Step != a.w.Blocks[i].Step {
			ends = append(ends, i+1)
		}
	}
	return ends
}

// latest says of each write that was begun whether its block was not written again.
func (a *applier) latest() []bool {
	latest := make([]bool, a.begun)
	seen := make(map[[2]int32]bool, a.begun)
	for i := a.begun - 1; i >= 0; i-- {
		block := [2]int32{a.w.Blocks[i].Switch, int32(a.w.Blocks[i].Num)}
		latest[i] = !seen[block]
		seen[block] = true
	}
	return latest
}
