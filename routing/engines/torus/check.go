// SPDX-License-Identifier: Apache-2.0

package torus

import (
	"fmt"
	"strings"

	"example.org/ibconsole/routing"
)

// maxListed is the maximum number of examples in a warning or refusal.
const maxListed = 8

// check refuses a torus whose failures leave no routes without deadlock. These are a ring in several pieces, and
// missing switches that are not consecutive along the dimension that is routed last. OpenSM takes z for that dimension
// even if the torus has no z (osm_torus.c, routable_torus). A strict check does the same.
func (t *Torus) check(strict bool) error {
	var why []string
	for d := range dims {
		a, b := (d+1)%dims, (d+2)%dims
		if a > b {
			a, b = b, a
		}
		for i := range t.Radix[a] {
			for j := range t.Radix[b] {
				if cuts := t.cuts(d, Coordinates{}.moved(a, i).moved(b, j)); cuts > 1 {
					why = append(why, fmt.Sprintf("the %c ring at %c=%d %c=%d is in %d pieces (ERR 4E%02X)",
						axes[d], axes[a], i, axes[b], j, cuts, 0x33+2*d))
				}
			}
		}
	}
	along := t.last()
	if strict {
		along = dims - 1
	}
	if missing := t.missing(); t.deadlocks(missing, along) {
		why = append(why,
			fmt.Sprintf("paths around the missing switches at %s could deadlock, as these are not consecutive "+
				"along %c (ERR 4E38)", list(missing), axes[along]))
	}
	if why == nil {
		return nil
	}
	return routing.Refuse(Name, "%s", list(why))
}

// cuts returns the number of links that are missing in the ring through a place, along dimension d. It counts switches
// without a link to the next higher place.
func (t *Torus) cuts(d int, c Coordinates) (n int) {
	for c[d] = range t.Radix[d] {
		if s := t.number(c); s != absent && len(t.switches[s].groups[2*d+1]) == 0 {
			n++
		}
	}
	return n
}

// missing returns the places that have no switch.
func (t *Torus) missing() (all []Coordinates) {
	t.places(func(c Coordinates) {
		if t.number(c) == absent {
			all = append(all, c)
		}
	})
	return all
}

// last returns the highest dimension with more than one place. This dimension is routed last.
func (t *Torus) last() int {
	d := dims - 1
	for d > 0 && t.Radix[d] == 1 {
		d--
	}
	return d
}

// deadlocks reports whether the missing switches are not a single run along a dimension.
func (t *Torus) deadlocks(missing []Coordinates, along int) bool {
	for _, c := range missing {
		if c.moved(along, -c[along]) != missing[0].moved(along, -missing[0][along]) {
			return true
		}
		alone := t.number(c.moved(along, -1)) != absent && t.number(c.moved(along, 1)) != absent
		if alone && len(missing) > 1 {
			return true
		}
	}
	return false
}

// list joins some of many values.
func list[T any](all []T) string {
	var b strings.Builder
	for i, v := range all {
		switch {
		case i == maxListed:
			fmt.Fprintf(&b, " and %d more", len(all)-i)
			return b.String()
		case i > 0:
			b.WriteString("; ")
		}
		fmt.Fprint(&b, v)
	}
	return b.String()
}
