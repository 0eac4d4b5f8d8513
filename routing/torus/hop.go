// SPDX-License-Identifier: Apache-2.0

package torus

// distances are how far apart two places of a ring are without crossing its dateline,
// which is between its last place and its first, and across it.
func distances(a, b, radix int) (direct, round int) {
	if a > b {
		a, b = b, a
	}
	return b - a, radix - (b - a)
}

// crosses says whether the shorter way between two places of a ring crosses its
// dateline. Where both are as long it does not.
func crosses(a, b, radix int) bool {
	direct, round := distances(a, b, radix)
	return round < direct
}

// shorter is the direction of the shorter way, 1 for up and 0 for down.
func shorter(from, to, radix int) int {
	if (to > from) != crosses(from, to, radix) {
		return 1
	}
	return 0
}

// noWay is the group that leads nowhere.
const noWay = noGroup

// ways has the group by which a switch sends along one dimension to each
// coordinate: t.Radix[d] entries of every switch.
type ways [dims][]uint8

// newWays finds the ways along rings: the shorter one where it is whole, else the
// other. Towards a switch that is missing, from which the path would turn, it is
// the shorter one as far as it goes; along z, after which there is no turn, it is
// none. O(switches x sum of the radixes x radix).
func (t *Torus) newWays() *ways {
	var w ways
	for d := range dims {
		w[d] = make([]uint8, len(t.switches)*t.Radix[d])
		for s := range t.switches {
			for to := range t.Radix[d] {
				w[d][s*t.Radix[d]+to] = t.way(int32(s), d, to)
			}
		}
	}
	return &w
}

func (t *Torus) way(s int32, d, to int) uint8 {
	c := t.switches[s].at
	if c[d] == to {
		return noWay
	}
	first := uint8(2*d + shorter(c[d], to, t.Radix[d]))
	c[d] = to
	if t.number(c) == absent {
		if d == 2 || len(t.switches[s].groups[first]) == 0 {
			return noWay
		}
		return first
	}
	for _, group := range []uint8{first, first ^ 1} {
		if t.leads(s, group, t.number(c)) {
			return group
		}
	}
	return noWay
}

// leads says whether a switch lies down or up the ring of another before a gap.
func (t *Torus) leads(s int32, group uint8, to int32) bool {
	for s != absent && s != to {
		s = t.next(s, int(group))
	}
	return s == to
}

// towards is the group by which switch s sends to switch d: along x first, then y,
// then z, and along the next dimension early where a failure blocks the way.
func (t *Torus) towards(w *ways, s, d int32) uint8 {
	from, to := &t.switches[s].at, &t.switches[d].at
	for dim := range dims {
		if from[dim] == to[dim] {
			continue
		}
		if group := w[dim][int(s)*t.Radix[dim]+to[dim]]; group != noWay {
			return group
		}
	}
	return noWay
}
