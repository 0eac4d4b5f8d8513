// SPDX-License-Identifier: Apache-2.0

package routing

import "math/bits"

// PortSet is a set of port numbers 0 to 254 of one switch.
type PortSet [4]uint64

// Add puts a port into the set.
func (s *PortSet) Add(port uint8) { s[port>>6] |= 1 << (port & 63) }

// Remove takes a port out of the set.
func (s *PortSet) Remove(port uint8) { s[port>>6] &^= 1 << (port & 63) }

// Has says whether a port is in the set.
func (s *PortSet) Has(port uint8) bool { return s[port>>6]>>(port&63)&1 != 0 }

// Empty says whether the set has no ports.
func (s *PortSet) Empty() bool { return s[0]|s[1]|s[2]|s[3] == 0 }

// Len is the number of ports in the set.
func (s *PortSet) Len() int {
	return bits.OnesCount64(s[0]) + bits.OnesCount64(s[1]) + bits.OnesCount64(s[2]) + bits.OnesCount64(s[3])
}

// Single says whether a set that is not empty has one port only.
func (s *PortSet) Single() bool {
	if s[1]|s[2]|s[3] == 0 {
		return s[0]&(s[0]-1) == 0
	}
	return s.Len() == 1
}

// First is the lowest port in a set that is not empty.
func (s *PortSet) First() uint8 {
	w := 0
	for w < 3 && s[w] == 0 {
		w++
	}
	return uint8(w<<6 | bits.TrailingZeros64(s[w]))
}

// Nth is the port before which n others of the set come. The set must have more
// than n ports.
func (s *PortSet) Nth(n int) uint8 {
	for w, word := range s {
		if c := bits.OnesCount64(word); n >= c {
			n -= c
			continue
		}
		for ; n > 0; n-- {
			word &= word - 1
		}
		return uint8(w<<6 | bits.TrailingZeros64(word))
	}
	panic("routing: no such port in the set")
}

// From are the ports of the set that are not below port.
func (s *PortSet) From(port uint8) PortSet {
	t := *s
	for w := range int(port >> 6) {
		t[w] = 0
	}
	t[port>>6] &= ^uint64(0) << (port & 63)
	return t
}

// FirstFrom is the lowest port that is not below port, or where there is none the
// lowest of all. The set must not be empty.
func (s *PortSet) FirstFrom(port uint8) uint8 {
	if late := s.From(port); !late.Empty() {
		return late.First()
	}
	return s.First()
}

// And are the ports that are in both sets.
func (s *PortSet) And(t *PortSet) PortSet {
	return PortSet{s[0] & t[0], s[1] & t[1], s[2] & t[2], s[3] & t[3]}
}

// Without are the ports that are in s and not in t.
func (s *PortSet) Without(t *PortSet) PortSet {
	return PortSet{s[0] &^ t[0], s[1] &^ t[1], s[2] &^ t[2], s[3] &^ t[3]}
}

// Join adds the ports of t.
func (s *PortSet) Join(t *PortSet) {
	s[0] |= t[0]
	s[1] |= t[1]
	s[2] |= t[2]
	s[3] |= t[3]
}

// AppendTo appends the ports in ascending order.
func (s *PortSet) AppendTo(ports []uint8) []uint8 {
	for w, word := range s {
		for ; word != 0; word &= word - 1 {
			ports = append(ports, uint8(w*64+bits.TrailingZeros64(word)))
		}
	}
	return ports
}

// PortSets are sets of ports of one switch, such as one for each destination,
// with no more words for each than the highest port needs.
type PortSets struct {
	words int
	bits  []uint64
}

// PortSetWords is how many words a set in [PortSets] has.
func PortSetWords(highestPort uint8) int { return int(highestPort)>>6 + 1 }

// NewPortSets makes n empty sets.
func NewPortSets(n int, highestPort uint8) PortSets {
	words := PortSetWords(highestPort)
	return PortSets{words: words, bits: make([]uint64, n*words)}
}

// PortSetsOf are the sets that stand in bits, [PortSetWords] words each.
func PortSetsOf(bits []uint64, words int) PortSets { return PortSets{words: words, bits: bits} }

// Clear empties all sets.
func (s PortSets) Clear() { clear(s.bits) }

// Len is the number of sets.
func (s PortSets) Len() int { return len(s.bits) / s.words }

// At is set i.
func (s PortSets) At(i int32) (set PortSet) {
	if s.words == 1 {
		set[0] = s.bits[i]
		return set
	}
	copy(set[:], s.bits[int(i)*s.words:(int(i)+1)*s.words])
	return set
}

// Word is set i where [PortSetWords] is 1.
func (s PortSets) Word(i int32) uint64 { return s.bits[i] }

// Put replaces set i.
func (s PortSets) Put(i int32, set *PortSet) {
	copy(s.bits[int(i)*s.words:(int(i)+1)*s.words], set[:])
}

// Add puts a port into set i.
func (s PortSets) Add(i int32, port uint8) { s.bits[int(i)*s.words+int(port>>6)] |= 1 << (port & 63) }
