// SPDX-License-Identifier: Apache-2.0

package assign

import "math/bits"

// routeNarrow computes the entries for the first LIDs of all targets. It requires that a set is one word.
func (a *assigner[S]) routeNarrow(sets []uint64) {
	n := &a.narrow
	n.begin(a.sw, a.row, &a.placeOf, a.count[:a.numPorts])
	for i, begin := range a.stretches {
		end := len(a.runs)
		if i+1 < len(a.stretches) {
			end = a.stretches[i+1]
		}
		switch runs := a.runs[begin:end]; {
		case a.keeping:
			n.routeKeeping(&a.targets, runs, sets, a.opt.Existing.Row(a.sw))
		case runs[0].counted:
			n.routeCounted(&a.targets, runs, sets)
		default:
			n.routeUncounted(&a.targets, runs, sets)
		}
	}
	n.end(a.count[:a.numPorts])
}

// spread computes the entry for the first LID of each target of a run by the first of the least used ports. Ports fill
// up in rounds: in each round, all least used ports take one target, in order. It is a faster version of firstLIDs that
// supports no options.
func (a *assigner[S]) spread(ports S, r *run) {
	lids := a.targets.lids[r.first:r.end]
	if port := first(ports); empty(without(ports, port)) {
		a.all(port, lids)
		if r.counted {
			a.count[port] += uint32(len(lids))
			a.forget(port)
		}
		return
	}
	a.use(ports)
	if !r.counted {
		a.all(first(a.best), lids)
		return
	}
	for len(lids) > 0 {
		for w := range len(a.best) {
			word, n := a.best[w], 0
			for word != 0 && n < len(lids) {
				port := uint8(w<<6 | bits.TrailingZeros64(word))
				word &= word - 1
				a.count[port]++
				a.row[lids[n]] = port
				n++
			}
			a.best[w], lids = word, lids[n:]
		}
		if empty(a.best) {
			a.refill()
		}
	}
}

func (a *assigner[S]) all(port uint8, lids []uint16) {
	row := a.row
	for _, lid := range lids {
		row[lid] = port
	}
}
