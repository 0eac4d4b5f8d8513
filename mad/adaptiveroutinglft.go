// SPDX-License-Identifier: Apache-2.0

package mad

import "encoding/binary"

// AdaptiveRoutingLIDs is how many LIDs are in a block.
const AdaptiveRoutingLIDs = 16

// LIDState says how a switch routes packets to a LID.
type LIDState uint8

// The states, as they go over the wire.
const (
	LIDBounded LIDState = iota
	LIDFree
	LIDStatic
	LIDHash
)

// AdaptiveRoutingLFT is NVIDIA's own attribute AdaptiveRoutingLinearForwardingTable as its switches since SwitchX
// answer it: a block of 16 LIDs of the first table, that of LID 16*modifier first. An element is a word, bits counted
// from the lowest, as published headers of NVIDIA's have it; it was tried on no switch:
//
//	0-11 Group  16-23 Port  24-27 Table  30-31 State
type AdaptiveRoutingLFT [AdaptiveRoutingLIDs]AdaptiveRoutingEntry

// AdaptiveRoutingEntry is how packets to a LID leave a switch.
type AdaptiveRoutingEntry struct {
	Group uint16 // of the LID, the port where the state is [LIDStatic]
	Port  uint8  // of packets that may not be routed adaptively
	Table uint8  // of the groups
	State LIDState

	spare uint32
}

func (*AdaptiveRoutingLFT) AttrID() AttrID { return AttrAdaptiveRoutingLFT }

func (t *AdaptiveRoutingLFT) UnmarshalBinary(b []byte) error {
	if err := checkLength(AttrAdaptiveRoutingLFT, b); err != nil {
		return err
	}
	for i := range t {
		w := binary.BigEndian.Uint32(b[4*i:])
		t[i] = AdaptiveRoutingEntry{
			Group: uint16(w & 0xfff), Port: uint8(w >> 16), Table: uint8(w >> 24 & 0xf), State: LIDState(w >> 30),
			spare: w & 0x3000_f000,
		}
	}
	return nil
}

func (t *AdaptiveRoutingLFT) AppendBinary(dst []byte) ([]byte, error) {
	dst, b := grow(dst)
	for i := range t {
		e := &t[i]
		binary.BigEndian.PutUint32(b[4*i:], uint32(e.Group&0xfff)|uint32(e.Port)<<16|uint32(e.Table&0xf)<<24|
			uint32(e.State&3)<<30|e.spare)
	}
	return dst, nil
}
