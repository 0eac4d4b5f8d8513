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
	if a.lanes(false) {
		return
	}
	ends := a.stepEnds()
	for i, end := range ends {
		begin := 0
		if i > 0 {
			begin = ends[i-1]
		}
		a.writeBlocks(begin, end)
		a.begun.blocks = end
		if a.barrier(fmt.Sprintf("step %d of %d", i+1, len(ends)), !slices.Contains(a.done.blocks[begin:end], false)) {
			return
		}
	}
	a.writeTops(true)
	if a.barrier("tops that fall", a.topsDone(true)) || a.lanes(true) {
		return
	}
	a.multicast()
}

// lanes writes the tables of lanes that are, or are not, late.
func (a *applier) lanes(late bool) (stop bool) {
	begin, end := part(a.w.Lanes, func(l *Lanes) bool { return l.Late }, late)
	a.writeLanes(begin, end)
	a.begun.lanes = end
	what := "lanes"
	if late {
		what = "late lanes"
	}
	return a.barrier(what, !slices.Contains(a.done.lanes[begin:end], false))
}

// multicast takes branches of trees away, and then adds others.
func (a *applier) multicast() {
	for _, grow := range []bool{false, true} {
		begin, end := part(a.w.MFTs, func(b *MFTBlock) bool { return b.Grow }, grow)
		what := "multicast branches to take away"
		if grow {
			what = "multicast branches to add"
			if a.raiseMulticastTops(begin, end); a.barrier(what, len(a.low) == 0) {
				return
			}
		}
		a.writeMFTs(begin, end)
		a.begun.mfts = end
		if a.barrier(what, !slices.Contains(a.done.mfts[begin:end], false)) {
			return
		}
	}
}

// part are the places in a list of what is, or is not, the second of its two parts.
func part[T any](all []T, second func(*T) bool, want bool) (begin, end int) {
	middle := slices.IndexFunc(all, func(x T) bool { return second(&x) })
	if middle < 0 {
		middle = len(all)
	}
	if want {
		return middle, len(all)
	}
	return 0, middle
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
		if !a.done.states[i] && a.f.Nodes[p.Node].IsSwitch() && a.f.PeerSwitch(s.Port) != fabric.None {
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

// latest says of each of the writes that were begun whether the same was not written
// again.
func latest[T any, K comparable](begun []T, what func(*T) K) []bool {
	last := make([]bool, len(begun))
	seen := make(map[K]bool, len(begun))
	for i := len(begun) - 1; i >= 0; i-- {
		k := what(&begun[i])
		last[i] = !seen[k]
		seen[k] = true
	}
	return last
}
