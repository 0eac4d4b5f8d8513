// SPDX-License-Identifier: Apache-2.0

package torus

// distances returns two distances between places a and b of a ring: direct is the one that does not cross the dateline,
// round the one that crosses it. The dateline is between the last and the first place of the ring.
func distances(a, b, radix int) (direct, round int) {
	if a > b {
		a, b = b, a
	}
	return b - a, radix - (b - a)
}

// crosses reports whether the shorter path between two places of a ring crosses the dateline. If both paths have the
// same length, it returns false.
func crosses(a, b, radix int) bool {
	direct, round := distances(a, b, radix)
	return round < direct
}

// shorter returns the direction of the shorter path: 1 for up, 0 for down.
func shorter(from, to, radix int) int {
	if (to > from) != crosses(from, to, radix) {
		return 1
	}
	return 0
}

// noPath is the group without a path.
const noPath = noGroup

// paths holds, for each dimension, the groups by which switches send along the dimension. Each switch has t.Radix[d]
// entries, one for each coordinate to which it sends.
type paths [dims][]uint8

// newPaths finds the paths along rings. It takes the shorter path if that is complete, otherwise the other one. Towards
// a missing switch, where the path turns, it takes the shorter path as far as it goes. Along z no turn follows, so
// there is no path towards a missing switch. O(switches x sum of the radixes).
func (t *Torus) newPaths() *paths {
	var w paths
	for d := range dims {
		w[d] = make([]uint8, len(t.switches)*t.Radix[d])
		for s := range t.switches {
			t.pathsOf(int32(s), d, w[d][s*t.Radix[d]:(s+1)*t.Radix[d]])
		}
	}
	return &w
}

func (t *Torus) pathsOf(s int32, d int, to []uint8) {
	at, radix := t.switches[s].at, t.Radix[d]
	reach := [2]int{t.reach(s, 2*d), t.reach(s, 2*d+1)}
	c := at
	for c[d] = range radix {
		to[c[d]] = noPath
		if c[d] == at[d] {
			continue
		}
		first := shorter(at[d], c[d], radix)
		up := wrap(c[d]-at[d], radix)
		steps := [2]int{radix - up, up}
		switch missing := t.number(c) == absent; {
		case missing && d == dims-1:
		case missing && reach[first] > 0, !missing && steps[first] <= reach[first]:
			to[c[d]] = uint8(2*d + first)
		case !missing && steps[1-first] <= reach[1-first]:
			to[c[d]] = uint8(2*d + 1 - first)
		}
	}
}

// reach returns the number of consecutive switches in one direction along the ring of switch s, up to the first gap.
func (t *Torus) reach(s int32, group int) (steps int) {
	for at := t.next(s, group); at != absent && at != s; at = t.next(at, group) {
		steps++
	}
	return steps
}

// towards returns the group by which switch s sends to switch d. Packets travel along x first, then y, then z. If a
// failure blocks the path, s sends along the next dimension early.
func (t *Torus) towards(w *paths, s, d int32) uint8 {
	from, to := &t.switches[s].at, &t.switches[d].at
	for dim := range dims {
		if from[dim] == to[dim] {
			continue
		}
		if group := w[dim][int(s)*t.Radix[dim]+to[dim]]; group != noPath {
			return group
		}
	}
	return noPath
}
