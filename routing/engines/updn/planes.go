// SPDX-License-Identifier: Apache-2.0

package updn

import (
	"context"
	"encoding/binary"
	"math/bits"

	"example.org/ibconsole/internal/base/hugepages"
	"example.org/ibconsole/routing"
)

// planes holds the counts of all switches as bit planes, so that 64 counts are compared at once. The counts of switch s
// at indexes 64*w to 64*w+63 take depth words of bits, from word depth x (s*words+w) on. Word i of these holds bit i of
// each count. depth is large enough to distinguish counts of paths from [untried] and [routing.NoHops].
type planes struct {
	depth, words int
	bits         []uint64
}

// newPlanes converts rows of counts to bit planes. The argument longest is the highest count of a path. O(switches^2 x
// depth / 8) on all processors.
func newPlanes(ctx context.Context, counts []uint8, rows int, longest uint8) (*planes, error) {
	words := len(counts) / rows / 64
	p := &planes{depth: min(8, bits.Len(uint(longest)+2)), words: words}
	p.bits = hugepages.Make[uint64](rows * words * p.depth)
	const lot = 64
	err := routing.ForEach(ctx, (rows+lot-1)/lot, nil, func(_, i int) {
		for at := i * lot * words; at < min((i+1)*lot, rows)*words; at++ {
			p.put(at, counts[at*64:][:64])
		}
	})
	return p, err
}

// put sets the 64 counts at position at, which counts words over all rows.
func (p *planes) put(at int, counts []uint8) {
	to := p.bits[at*p.depth:][:p.depth]
	for b := range 8 {
		word := binary.LittleEndian.Uint64(counts[b*8:])
		for i := range to {
			to[i] |= word >> i & ones * gather >> 56 << (b * 8)
		}
	}
}

const (
	ones   = 0x0101010101010101 // the lowest bit of each byte
	gather = 0x0102040810204080 // moves the lowest bits of all bytes into the highest byte
)

// count returns the count of switch s at index d.
func (p *planes) count(s, d int) uint8 {
	count := 0
	for i, plane := range p.at(s, d/64) {
		count |= int(plane>>(d%64)&1) << i
	}
	if count >= 1<<p.depth-2 {
		count |= -1 << p.depth
	}
	return uint8(count)
}

func (p *planes) at(s, word int) []uint64 { return p.bits[(s*p.words+word)*p.depth:][:p.depth] }

// oneLess sets less to the counts minus one. It returns the bits of those counts that belong to a path between
// different switches.
func oneLess(less, counts []uint64) (known uint64) {
	borrow, some, all := ^uint64(0), uint64(0), ^uint64(0)
	for i, plane := range counts {
		less[i] = plane ^ borrow
		borrow &^= plane
		some |= plane
		all &= plane
	}
	return some &^ all
}

// differ returns the bits of the counts that differ from the wanted counts.
func differ(wanted, counts []uint64) (differing uint64) {
	for i, plane := range wanted[:len(counts)] {
		differing |= plane ^ counts[i]
	}
	return differing
}
