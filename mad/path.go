// SPDX-License-Identifier: Apache-2.0

package mad

import (
	"errors"
	"fmt"
	"strconv"
)

// MaxHops is the number of hops of the longest directed route (IBA 14.2.2).
const MaxHops = 63

// ErrPath says that a directed route cannot be made of what was given.
var ErrPath = errors.New("not a directed route")

// Path is a directed route: the ports by which a packet leaves one node after the other, beginning with the
// local one. The zero Path leads to the local node itself. Paths can be compared and be keys of maps.
type Path struct {
	n    uint8
	hops [MaxHops]uint8
}

// Append returns the path that goes on by these ports. The error wraps [ErrPath] beyond [MaxHops] hops.
func (p Path) Append(ports ...uint8) (Path, error) {
	if int(p.n)+len(ports) > MaxHops {
		return Path{}, fmt.Errorf("%w: %d hops, at most %d go", ErrPath, int(p.n)+len(ports), MaxHops)
	}
	p.n += uint8(copy(p.hops[p.n:], ports))
	return p, nil
}

// Len is the number of hops, 0 for the local node.
func (p Path) Len() int { return int(p.n) }

// Hop is the port by which hop i, from 0, leaves its node.
func (p Path) Hop(i int) uint8 { return p.hops[:p.n][i] }

// Parent returns the path without its last hop; the local node is its own parent.
func (p Path) Parent() Path {
	if p.n > 0 {
		p.n--
		p.hops[p.n] = 0
	}
	return p
}

// String prints the path as the tools take it: "0" is the local node, "0,1,5" leaves by port 1, then by 5.
func (p Path) String() string {
	b := make([]byte, 0, 2+4*int(p.n))
	b = append(b, '0')
	for _, port := range p.hops[:p.n] {
		b = append(b, ',')
		b = strconv.AppendUint(b, uint64(port), 10)
	}
	return string(b)
}
