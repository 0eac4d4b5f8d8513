// SPDX-License-Identifier: Apache-2.0

package mad

import (
	"errors"
	"fmt"
	"strconv"
)

// MaxHops is the number of hops of the longest directed route (IBA 14.2.2).
const MaxHops = 63

// ErrPath reports that a directed route cannot be made from the input.
var ErrPath = errors.New("not a directed route")

// Path is a directed route: the output port at each node, beginning with the local one. The zero Path leads to the
// local node itself. Paths are comparable.
type Path struct {
	n    uint8
	hops [MaxHops]uint8
}

// Append returns the path extended by these ports. The error wraps [ErrPath] beyond [MaxHops] hops.
func (p Path) Append(ports ...uint8) (Path, error) {
	if int(p.n)+len(ports) > MaxHops {
		return Path{}, fmt.Errorf("%w: %d hops, at most %d are possible", ErrPath, int(p.n)+len(ports), MaxHops)
	}
	p.n += uint8(copy(p.hops[p.n:], ports))
	return p, nil
}

// Len returns the number of hops, 0 for the local node.
func (p Path) Len() int { return int(p.n) }

// Hop returns the output port of hop i, from 0.
func (p Path) Hop(i int) uint8 { return p.hops[:p.n][i] }

// Parent returns the path without its last hop; the local node is its own parent.
func (p Path) Parent() Path {
	if p.n > 0 {
		p.n--
		p.hops[p.n] = 0
	}
	return p
}

// String returns the path in the form that the tools use: "0" is the local node, "0,1,5" leaves it by port 1 and the
// next node by port 5.
func (p Path) String() string {
	b := make([]byte, 0, 2+4*int(p.n))
	b = append(b, '0')
	for _, port := range p.hops[:p.n] {
		b = append(b, ',')
		b = strconv.AppendUint(b, uint64(port), 10)
	}
	return string(b)
}
