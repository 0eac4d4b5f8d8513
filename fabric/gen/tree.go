// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"errors"
	"fmt"
	"slices"

	"example.org/ibconsole/fabric"
)

func fatTreeKind() Kind {
	return Kind{
		Name:  "fattree",
		Usage: "fattree levels=2|3 ports=K",
		Help: "Fat-tree of full bisection from K-port switches: 2 levels give K*K/2 hosts on K leaves and K/2 " +
			"spines, 3 levels K*K*K/4 hosts on K pods of K/2 leaves and K/2 aggregation switches, and K*K/4 spines.",
		form: form{params: []param{{name: "levels", min: 2, max: 3}, {name: "ports", min: 2, max: maxPorts}}},
		build: func(n *net, a arguments) error {
			k := a.value["ports"]
			if k%2 != 0 {
				return fmt.Errorf("ports: %d is odd, expected an even number", k)
			}
			t := tree{m: []int{k / 2, k}, w: []int{1, k / 2}, p: []int{1, 1}}
			if a.value["levels"] == 3 {
				t = tree{m: []int{k / 2, k / 2, k}, w: []int{1, k / 2, k / 2}, p: []int{1, 1, 1}}
			}
			return t.build(n)
		},
	}
}

func xgftKind() Kind {
	return Kind{
		Name:  "xgft",
		Usage: "xgft H M1,...,MH W1,...,WH [P1,...,PH]",
		Help: "Extended generalised fat-tree of H levels of switches (Ohring et al. 1995): a switch of level i has " +
			"Mi children, a node of level i-1 has Wi parents (hosts are level 0), connected by Pi parallel links " +
			"each (Zahavi's PGFT). W1 above 1 makes planes that only the hosts connect; the subnet is the first one.",
		form: form{params: []param{{name: "levels", min: 1, max: 8}}, list: true},
		build: func(n *net, a arguments) error {
			h := a.value["levels"]
			t := tree{p: slices.Repeat([]int{1}, h)}
			switch len(a.list) {
			case 3 * h:
				t.p = a.list[2*h:]
				fallthrough
			case 2 * h:
				t.m, t.w = a.list[:h], a.list[h:2*h]
			default:
				return fmt.Errorf("%d numbers follow the %d levels, expected %d numbers, or %d numbers with "+
					"parallel links",
					len(a.list), h, 2*h, 3*h)
			}
			return t.build(n)
		},
	}
}

// tree is a parallel-port generalized fat-tree PGFT(h; m; w; p) with h = len(m).
//
// A node of level l is a tuple of digits. Digit i (from 0) is less than w[i] if i < l, otherwise less than m[i]. A node
// of level l and a node of level l+1 are linked if all their digits except digit l are equal. The hosts are level 0.
type tree struct{ m, w, p []int }

// size returns the number of nodes on a level.
func (t tree) size(level int) int { return product(t.radix(level)...) }

// radix returns, for each digit of a node on a level, the number of values of the digit.
func (t tree) radix(level int) []int {
	r := append([]int(nil), t.m...)
	copy(r[:level], t.w[:level])
	return r
}

func (t tree) down(level int) int {
	if level == 0 {
		return 0
	}
	return product(t.m[level-1], t.p[level-1])
}

func (t tree) up(level int) int {
	if level == len(t.m) {
		return 0
	}
	return product(t.w[level], t.p[level])
}

func (t tree) check() error {
	switches := 0
	for l := 1; l <= len(t.m); l++ {
		if err := checkPorts(t.down(l) + t.up(l)); err != nil {
			return err
		}
		switches = min(switches+t.size(l), veryMany)
	}
	if t.up(0) > maxPorts {
		return errors.New("a host would need more than 254 ports")
	}
	return checkSize(switches, product(t.size(0), t.up(0)))
}

func (t tree) build(n *net) error {
	if err := t.check(); err != nil {
		return err
	}
	first := make([]fabric.NodeIndex, len(t.m)+1)
	var err error
	if first[0], err = n.addHosts(t.size(0), t.up(0)); err != nil {
		return err
	}
	for l := 1; l <= len(t.m); l++ {
		first[l], err = n.addRow(t.size(l), t.down(l)+t.up(l), func(i int) string { return t.name(l, i) })
		if err != nil {
			return err
		}
	}
	for l := range t.m {
		if err := t.linkUp(n, l, first[l], first[l+1]); err != nil {
			return err
		}
	}
	return nil
}

// linkUp links the nodes of a level to their parents. The first ports of a parent lead down. Parallel links follow
// round by round: a parent has one link to each child before it gets the second link to any child.
func (t tree) linkUp(n *net, level int, first, parents fabric.NodeIndex) error {
	for i := range t.size(level) {
		d := digits(i, t.radix(level))
		child := d[level]
		for u := range t.w[level] {
			d[level] = u
			parent := parents + fabric.NodeIndex(undigits(d, t.radix(level+1)))
			for q := range t.p[level] {
				upPort := 1 + t.down(level) + q*t.w[level] + u
				downPort := 1 + q*t.m[level] + child
				if err := n.link(first+fabric.NodeIndex(i), upPort, parent, downPort); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// name returns a name such as leaf-07 or spine-03 if the level is one row, or leaf-02-07 for leaf 7 of pod 2. It has a
// number for each digit that can have more than one value.
func (t tree) name(level, i int) string {
	role := fmt.Sprintf("level%d", level)
	switch {
	case level == 1:
		role = "leaf"
	case level == len(t.m):
		role = "spine"
	case len(t.m) == 3:
		role = "agg"
	}
	radix := t.radix(level)
	return coordinates(role, digits(i, radix), radix)
}

// coordinates returns the role followed by the digits of a node, for example leaf-02-07. The highest digit comes first.
// Digits count from 1, and digits with only one possible value are omitted.
func coordinates(role string, d, radix []int) string {
	name := role
	for k := len(d) - 1; k >= 0; k-- {
		if radix[k] > 1 {
			name += fmt.Sprintf("-%0*d", max(2, len(fmt.Sprint(radix[k]))), d[k]+1)
		}
	}
	if name == role {
		name += "-01"
	}
	return name
}

// digits returns the digits of the number i, lowest digit first.
func digits(i int, radix []int) []int {
	d := make([]int, len(radix))
	for k, r := range radix {
		d[k], i = i%r, i/r
	}
	return d
}

func undigits(d, radix []int) int {
	i := 0
	for k := len(d) - 1; k >= 0; k-- {
		i = i*radix[k] + d[k]
	}
	return i
}
