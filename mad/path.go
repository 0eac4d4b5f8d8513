// SPDX-License-Identifier: Apache-2.0

package mad

import (
	"errors"
	"fmt"
	"strconv"
)

// MaxHops is the maximum number of hops of a directed route (IBA 14.2.2).
const MaxHops = 63

// ErrPath reports that the input is not a valid directed route.
var ErrPath = errors.New("not a directed route")

// Path is a directed route: the output port of each node on the route, beginning with the local node. The zero Path
// leads to the local node itself. Paths are comparable.
type Path struct {
	n    uint8
	hops [MaxHops]uint8
}

// Append returns the path extended by these ports. If the new path has more than [MaxHops] hops, the error wraps
// [ErrPath] and [ErrHops].
func (p Path) Append(ports ...uint8) (Path, error) {
	if int(p.n)+len(ports) > MaxHops {
		return Path{}, fmt.Errorf("%w: %w: %d, at most %d are possible", ErrPath, ErrHops, int(p.n)+len(ports), MaxHops)
	}
	p.n += uint8(copy(p.hops[p.n:], ports))
	return p, nil
}

// Len returns the number of hops, 0 for the local node.
func (p Path) Len() int { return int(p.n) }

// Hop returns the output port of hop i. Hops are counted from 0.
func (p Path) Hop(i int) uint8 { return p.hops[:p.n][i] }

// Parent returns the path without its last hop. The parent of the path to the local node is this path itself.
func (p Path) Parent() Path {
	if p.n > 0 {
		p.n--
		p.hops[p.n] = 0
	}
	return p
}

// String returns the path in the form that the diagnostic tools use. "0" is the local node. "0,1,5" leaves the local
// node through port 1 and the next node through port 5.
func (p Path) String() string {
	b := make([]byte, 0, 2+4*int(p.n))
	b = append(b, '0')
	for _, port := range p.hops[:p.n] {
		b = append(b, ',')
		b = strconv.AppendUint(b, uint64(port), 10)
	}
	return string(b)
}
