// SPDX-License-Identifier: Apache-2.0

package ftree

import "example.org/ibconsole/fabric"

// connectRoots gives the switches above the leaf rank ways to the switches that they have none to: by way of
// the last leaf, where all of these turn from down to up.
func (w *walker) connectRoots() {
	n := len(w.rank)
	last := w.leaves[len(w.leaves)-1]
	lid := int(w.f.SwitchLID(last))
	toLeaf := w.columns[lid*n : (lid+1)*n]
	for dst := range fabric.SwitchIndex(n) {
		if !w.ranked(dst) || w.leafHops[dst] == fabric.NoPath {
			continue
		}
		lid := int(w.f.SwitchLID(dst))
		column := w.columns[lid*n : (lid+1)*n]
		w.record.begin(dst)
		for s := range fabric.SwitchIndex(n) {
			if !w.ranked(s) || w.rank[s] >= uint32(w.leafRank) || column[s] != fabric.NoPath || toLeaf[s] == fabric.NoPath {
				continue
			}
			column[s] = toLeaf[s]
			w.record.put(s, toLeaf[s], w.hopsToLeaf[s]+w.leafHops[dst])
		}
	}
}
