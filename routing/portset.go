// SPDX-License-Identifier: Apache-2.0

package routing

import (
	"math/bits"
	"slices"

	"example.org/ibconsole/fabric"
)

// PortSet is a set of port numbers of one switch, from 0 to 254.
type PortSet [4]uint64

// Add puts a port into the set.
func (s *PortSet) Add(port uint8) { s[port>>6] |= 1 << (port & 63) }

// Has reports whether a port is in the set.
func (s *PortSet) Has(port uint8) bool { return s[port>>6]>>(port&63)&1 != 0 }

// PortSets holds several sets of ports of one switch, for example one for each destination. Each set has only as many
// words as the highest port needs.
type PortSets struct {
	words int
	bits  []uint64
}

// PortSetWords returns the number of words of a set in [PortSets], given the highest port.
func PortSetWords(highestPort uint8) int { return int(highestPort)>>6 + 1 }

// NewPortSets returns n empty sets.
func NewPortSets(n int, highestPort uint8) PortSets {
	words := PortSetWords(highestPort)
	return PortSets{words: words, bits: make([]uint64, n*words)}
}

// PortSetsOf returns the sets that are stored in a slice. The argument words is the number of words of each set; see
// [PortSetWords].
func PortSetsOf(bits []uint64, words int) PortSets { return PortSets{words: words, bits: bits} }

// Clear empties all sets.
func (s PortSets) Clear() { clear(s.bits) }

// Len returns the number of sets.
func (s PortSets) Len() int { return len(s.bits) / s.words }

// Words returns the words of set i. The caller may change them.
func (s PortSets) Words(i fabric.SwitchIndex) []uint64 {
	return s.bits[int(i)*s.words : (int(i)+1)*s.words]
}

// Single returns the words of all sets. ok reports whether each set has only one word.
func (s PortSets) Single() (words []uint64, ok bool) { return s.bits, s.words == 1 }

// Range returns the lowest and the highest port that is in any of the sets. It returns 0 and 0 if all sets are empty.
func (s PortSets) Range() (lowest, highest int) {
	var union PortSet
	for i := 0; i < len(s.bits); i += s.words {
		for w, word := range s.bits[i : i+s.words] {
			union[w] |= word
		}
	}
	for w, word := range slices.Backward(union[:]) {
		if word != 0 {
			lowest = w<<6 + bits.TrailingZeros64(word)
		}
	}
	for w, word := range union {
		if word != 0 {
			highest = w<<6 + bits.Len64(word) - 1
		}
	}
	return lowest, highest
}

// Put replaces set i.
func (s PortSets) Put(i fabric.SwitchIndex, set *PortSet) { copy(s.Words(i), set[:]) }

// PutByPort replaces one word of each of the 64 sets from set 64*word on. The argument block is the number of this
// word. Port 64*block+i becomes a member of set 64*word+j if bit j of ports[i] is set. PutByPort changes ports.
func (s PortSets) PutByPort(word int, block uint8, ports *[64]uint64) {
	transpose(ports)
	first := word * 64
	if s.words == 1 {
		copy(s.bits[first:], ports[:])
		return
	}
	for j, set := range ports[:min(64, s.Len()-first)] {
		s.bits[(first+j)*s.words+int(block)] = set
	}
}

// Has reports whether a port is in set i.
func (s PortSets) Has(i fabric.SwitchIndex, port uint8) bool {
	return s.Words(i)[port>>6]>>(port&63)&1 != 0
}

// Add puts a port into set i.
func (s PortSets) Add(i fabric.SwitchIndex, port uint8) { s.Words(i)[port>>6] |= 1 << (port & 63) }
