// SPDX-License-Identifier: Apache-2.0

package load

import (
	"cmp"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
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
	r.heat = newHeat(l.Fabric, func(p fabric.PortIndex) int64 {
		return prose.When(l.Known(p), l.Paths[p], -1)
	}, r.mean, ix)
	return r
}
