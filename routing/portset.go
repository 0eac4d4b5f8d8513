// SPDX-License-Identifier: Apache-2.0

package routing

import "math/bits"

// PortSet is a set of port numbers 0 to 254 of one switch.
type PortSet [4]uint64

// Add puts a port into the set.
func (s *PortSet) Add(port uint8) { s[port>>6] |= 1 << (port & 63) }

// Has says whether a port is in the set.
func (s *PortSet) Has(port uint8) bool { return s[port>>6]>>(port&63)&1 != 0 }

// Len is the number of ports in the set.
func (s *PortSet) Len() int {
	return bits.OnesCount64(s[0]) + bits.OnesCount64(s[1]) + bits.OnesCount64(s[2]) + bits.OnesCount64(s[3])
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
