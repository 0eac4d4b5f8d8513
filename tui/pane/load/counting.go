// SPDX-License-Identifier: Apache-2.0

package load

import (
	"cmp"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/checks/linkload"
	"example.org/ibconsole/tui/pane"
)

// loading is what the load pane shows, computed beside the screen.
type loading struct {
	loads *linkload.Loads
	// between are the ports with links between switches, all those of all links, the ones with most paths first.
	between, all []fabric.PortIndex
	mean         float64 // of the links between switches
	most         int64   // of any link
	heat         heat
}

// heat is a map of the loads between two layers of switches.
type heat struct {
	rows, cols []fabric.SwitchIndex // rows are switches with hosts, cols those next to them, by switch index
	// up and down are the most paths over any link from a row to a column and back, row by row, -1 for no link.
	up, down []int64
	most     int64
}

// newLoading orders the links by their paths. O(links log links).
func newLoading(l *linkload.Loads, ix *pane.Index) *loading {
	r := &loading{loads: l}
	var sum int64
	for i := range l.Fabric.Ports {
		p := fabric.PortIndex(i)
		switch linkload.ClassOf(l.Fabric, p) {
		case linkload.None:
			continue
		case linkload.BetweenSwitches:
			r.between = append(r.between, p)
			sum += l.Paths[p]
		}
		r.all = append(r.all, p)
		r.most = max(r.most, l.Paths[p])
	}
	for _, list := range [][]fabric.PortIndex{r.between, r.all} {
		slices.SortStableFunc(list, func(a, b fabric.PortIndex) int { return cmp.Compare(l.Paths[b], l.Paths[a]) })
	}
	if n := len(r.between); n > 0 {
		r.mean = float64(sum) / float64(n)
	}
	r.heat = newHeat(l, ix)
	return r
}

func newHeat(l *linkload.Loads, ix *pane.Index) heat {
	var h heat
	if len(ix.Tiers) < 2 {
		return h
	}
	f := l.Fabric
	h.rows, h.cols = ix.Tiers[0], ix.Tiers[1]
	place := make(map[fabric.SwitchIndex]int, len(h.cols))
	for i, s := range h.cols {
		place[s] = i
	}
	h.up = make([]int64, len(h.rows)*len(h.cols))
	for i := range h.up {
		h.up[i] = -1
	}
	h.down = slices.Clone(h.up)
	for row, s := range h.rows {
		n := f.SwitchNode(s)
		for p := range n.Ports() {
			col, ok := place[f.PeerSwitch(p)]
			if !ok {
				continue
			}
			i := row*len(h.cols) + col
			h.up[i] = max(h.up[i], l.Paths[p])
			h.down[i] = max(h.down[i], l.Paths[f.Ports[p].Peer])
			h.most = max(h.most, h.up[i], h.down[i])
		}
	}
	return h
}
