// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"iter"
	"math/bits"
	"slices"

	"example.org/ibconsole/mad"
)

// FirstMLID is the lowest multicast LID (IBA 1.2.1, 4.1.3).
const FirstMLID = 0xC000

// MFT holds multicast forwarding tables. For each switch and multicast LID it holds the set of egress ports.
type MFT struct {
	Top uint16 // the highest multicast LID with an entry, FirstMLID-1 for none
	// Unread marks the switches whose tables were not read. It is nil if all tables were read.
	Unread   []bool
	switches int
	words    int
	slab     []uint64
}

// MFTSize returns the memory in bytes that [NewMFT] allocates for a number of multicast LIDs.
func MFTSize(f *Fabric, lids int) int64 {
	return int64(len(f.Switches)) * int64(lids) * int64(mftWords(f)) * 8
}

// NewMFT returns empty tables for the multicast LIDs from [FirstMLID] to top.
func NewMFT(f *Fabric, top uint16) *MFT {
	t := &MFT{Top: max(top, FirstMLID-1), switches: len(f.Switches), words: mftWords(f)}
	t.slab = make([]uint64, t.switches*t.LIDs()*t.words)
	return t
}

// mftWords returns the number of 64-bit words in the port set of a switch.
func mftWords(f *Fabric) int {
	highest := 0
	for _, n := range f.Switches {
		highest = max(highest, int(f.Nodes[n].NumPorts))
	}
	return highest>>6 + 1
}

// WasRead reports whether the table of a switch was read.
func (t *MFT) WasRead(sw SwitchIndex) bool { return t.Unread == nil || !t.Unread[sw] }

// LIDs returns the number of multicast LIDs from FirstMLID to Top.
func (t *MFT) LIDs() int { return int(t.Top) - FirstMLID + 1 }

// Ports returns the port set of a switch for a multicast LID. Port p is bit p&63 of word p>>6. The result is nil if the
// LID is not in the tables. Callers that make the tables may write to the set.
func (t *MFT) Ports(sw SwitchIndex, mlid uint16) []uint64 {
	if mlid < FirstMLID || mlid > t.Top {
		return nil
	}
	i := (int(sw)*t.LIDs() + int(mlid-FirstMLID)) * t.words
	return t.slab[i : i+t.words : i+t.words]
}

// Has reports whether a packet to mlid leaves a switch through the port.
func (t *MFT) Has(sw SwitchIndex, mlid uint16, port uint8) bool {
	set := t.Ports(sw, mlid)
	return int(port>>6) < len(set) && set[port>>6]>>(port&63)&1 != 0
}

// Add adds a port to the port set of a switch for a multicast LID. The switch and the LID must be in the tables.
func (t *MFT) Add(sw SwitchIndex, mlid uint16, port uint8) {
	t.Ports(sw, mlid)[port>>6] |= 1 << (port & 63)
}

// Block returns a block of a switch's table: 32 multicast LIDs and 16 ports, see [mad.MulticastMod]. LIDs above Top
// have no ports.
func (t *MFT) Block(sw SwitchIndex, num uint16, position uint8) (block mad.MulticastForwardingTable) {
	word, shift := int(position)*mad.MFTPorts/64, int(position)*mad.MFTPorts%64
	first := FirstMLID + int(num)*mad.MFTBlock
	for i := range min(mad.MFTBlock, int(t.Top)+1-first) {
		if ports := t.Ports(sw, uint16(first+i)); word < len(ports) {
			block[i] = uint16(ports[word] >> shift)
		}
	}
	return block
}

// Clone returns a copy that can be changed.
func (t *MFT) Clone() *MFT {
	c := *t
	c.slab = slices.Clone(t.slab)
	return &c
}

// Any reports whether a packet to mlid leaves the switch through any port.
func (t *MFT) Any(sw SwitchIndex, mlid uint16) bool {
	return slices.ContainsFunc(t.Ports(sw, mlid), func(set uint64) bool { return set != 0 })
}

// Each yields the ports through which a packet to mlid leaves a switch, in ascending order.
func (t *MFT) Each(sw SwitchIndex, mlid uint16) iter.Seq[int] {
	return func(yield func(int) bool) {
		for w, set := range t.Ports(sw, mlid) {
			for ; set != 0; set &= set - 1 {
				if !yield(w<<6 + bits.TrailingZeros64(set)) {
					return
				}
			}
		}
	}
}
