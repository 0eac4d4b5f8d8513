// SPDX-License-Identifier: Apache-2.0

package counted

import (
	"cmp"
	"maps"
	"slices"
)

// plug is a port by the GUID of its node and its number.
type plug struct {
	guid uint64
	num  int
}

// cable is a link by its two ends, the lower one first.
type cable [2]plug

func cableOf(a, b plug) cable {
	if comparePlugs(a, b) > 0 {
		a, b = b, a
	}
	return cable{a, b}
}

// comparePlugs orders ports by GUID and number.
func comparePlugs(a, b plug) int {
	return cmp.Or(cmp.Compare(a.guid, b.guid), cmp.Compare(a.num, b.num))
}

func cableAt(p *port) cable {
	return cableOf(plug{p.node.guid, p.num}, plug{p.peer.node.guid, p.peer.num})
}

// change is the effect of a command on a what-if: a failure, a repair, or cables that were plugged in or out.
type change struct {
	number  int
	what    string
	failed  []cable
	mended  []cable
	added   []cable
	removed []cable
	node    *node // if one was added
}

// whole holds all nodes and cables of a state, including unreachable ones.
type whole struct {
	nodes  map[uint64]*node
	cables map[cable]bool
}

// wholeOf returns a subnet after changes.
func wholeOf(net *subnet, changes []change) *whole {
	w := &whole{nodes: net.byGUID, cables: map[cable]bool{}}
	for p := range net.links() {
		w.cables[cableAt(p)] = true
	}
	return w.with(changes)
}

// with applies changes in the order of their numbers.
func (w *whole) with(changes []change) *whole {
	w = &whole{nodes: maps.Clone(w.nodes), cables: maps.Clone(w.cables)}
	off := map[cable]bool{}
	for _, c := range slices.SortedFunc(slices.Values(changes), func(a, b change) int { return a.number - b.number }) {
		for _, x := range c.added {
			w.cables[x] = true
		}
		for _, x := range c.removed {
			delete(w.cables, x)
		}
		for _, x := range c.failed {
			off[x] = true
		}
		for _, x := range c.mended {
			delete(off, x)
		}
		if c.node != nil {
			w.nodes[c.node.guid] = c.node
		}
	}
	for x := range off {
		delete(w.cables, x)
	}
	return w
}

// at returns the cables of a node.
func (w *whole) at(guid uint64) (all []cable) {
	for x := range w.cables {
		if x[0].guid == guid || x[1].guid == guid {
			all = append(all, x)
		}
	}
	slices.SortFunc(all, func(a, b cable) int {
		return cmp.Or(cmp.Compare(a[0].guid, b[0].guid), cmp.Compare(a[0].num, b[0].num))
	})
	return all
}

// up counts the ports of a node that have a cable.
func (w *whole) up(guid uint64) (n int) {
	for c := range w.cables {
		for _, p := range c {
			if p.guid == guid {
				n++
			}
		}
	}
	return n
}
