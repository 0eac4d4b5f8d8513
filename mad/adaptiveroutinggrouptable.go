// SPDX-License-Identifier: Apache-2.0

package mad

import "encoding/binary"

// AdaptiveRoutingGroups is how many groups are in a block.
const AdaptiveRoutingGroups = 2

// PortMask is a set of the ports 0 to 255.
type PortMask [4]uint64

// Has reports whether a port is in the set.
func (m *PortMask) Has(port uint8) bool { return m[port>>6]>>(port&63)&1 != 0 }

// Add puts a port into the set.
func (m *PortMask) Add(port uint8) { m[port>>6] |= 1 << (port & 63) }

// AdaptiveRoutingGroupTable is NVIDIA's own attribute: a block of two groups of ports of the first table of groups,
// that of group 2*modifier first. A group is a number of 256 bits, of which bit n is port n, as published headers of
// NVIDIA's have it; it was tried on no switch.
type AdaptiveRoutingGroupTable [AdaptiveRoutingGroups]PortMask

func (*AdaptiveRoutingGroupTable) AttrID() AttrID { return AttrAdaptiveRoutingGroupTable }

func (t *AdaptiveRoutingGroupTable) UnmarshalBinary(b []byte) error {
	if err := checkLength(AttrAdaptiveRoutingGroupTable, b); err != nil {
		return err
	}
	for g := range t {
		for i := range t[g] {
			t[g][len(t[g])-1-i] = binary.BigEndian.Uint64(b[32*g+8*i:])
		}
	}
	return nil
}

func (t *AdaptiveRoutingGroupTable) AppendBinary(dst []byte) ([]byte, error) {
	dst, b := grow(dst)
	for g := range t {
		for i := range t[g] {
			binary.BigEndian.PutUint64(b[32*g+8*i:], t[g][len(t[g])-1-i])
		}
	}
	return dst, nil
}
