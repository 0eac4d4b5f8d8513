// SPDX-License-Identifier: Apache-2.0

package records

import (
	"cmp"
	"math"
	"slices"

	"example.org/ibconsole/fabric/counters"
)

// sum adds the counts of a block's ports in consecutive periods.
type sum struct {
	what    counters.Set
	present [perBlock]bool
	millis  [perBlock]uint64
	grown   [counters.NumCounters][perBlock]uint64
	sets    [numSets][perBlock]counters.Set
}

func (s *sum) reset() { *s = sum{} }

// add adds a block. If a port lacks a counter in one of the blocks, the port lacks this counter in the sum.
func (s *sum) add(b *block) {
	s.what |= b.what
	for nth := range uint16(perBlock) {
		if b.has(nth) {
			s.present[nth] = true
			s.millis[nth] += b.base
		}
	}
	for _, x := range b.others {
		s.millis[x.nth] += x.v - b.base // modulo 2^64
	}
	for c := range b.columns {
		for _, x := range b.columns[c] {
			s.grown[c][x.nth] = plus(s.grown[c][x.nth], x.v)
		}
	}
	for i := range b.sets {
		for _, x := range b.sets[i] {
			s.sets[i][x.nth] |= counters.Set(x.v)
		}
	}
}

// plus returns the sum of two numbers, or the maximum number if the sum is greater.
func plus(a, b uint64) uint64 {
	if a+b < a {
		return math.MaxUint64
	}
	return a + b
}

// otherFrom determines when the period of a port is stored separately. This happens if it deviates from the usual
// period by more than 1/otherFrom of the usual period.
const otherFrom = 64

// block returns the sum as a block.
func (s *sum) block() *block {
	b := &block{what: s.what}
	var millis []uint64
	for nth, there := range s.present {
		if there {
			b.present[nth/64] |= 1 << (nth % 64)
			millis = append(millis, s.millis[nth])
		}
	}
	if len(millis) > 0 {
		slices.Sort(millis)
		b.base = millis[len(millis)/2]
	}
	for nth, there := range s.present {
		if off := int64(s.millis[nth] - b.base); there && max(off, -off) > int64(b.base/otherFrom) {
			b.others = append(b.others, value{uint16(nth), s.millis[nth]})
		}
	}
	for c := range s.what.All() {
		for nth, v := range s.grown[c] {
			if v != 0 {
				b.columns[c] = append(b.columns[c], value{uint16(nth), v})
			}
		}
	}
	for i := range s.sets {
		for nth, set := range s.sets[i] {
			if set != 0 {
				b.sets[i] = append(b.sets[i], value{uint16(nth), uint64(set)})
			}
		}
	}
	return b
}

// at returns the value of a port in a list.
func at(list []value, nth uint16) (uint64, bool) {
	i, found := slices.BinarySearchFunc(list, nth, func(x value, nth uint16) int { return cmp.Compare(x.nth, nth) })
	if !found {
		return 0, false
	}
	return list[i].v, true
}
