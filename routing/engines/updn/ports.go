// SPDX-License-Identifier: Apache-2.0

package updn

import (
	"encoding/binary"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// comparePorts finds the least-hop ports of a switch towards each switch by comparing its least counts with what its
// neighbours' steps to it were tried from, eight switches in a word. O(links of sw x switches / 8).
func (m *matrix) comparePorts(sw fabric.SwitchIndex, sets routing.PortSets) {
	sets.Clear()
	slots := m.steps.into[m.steps.slot[sw]:m.steps.slot[sw+1]]
	for word := range m.stride / 64 {
		wanted, known := oneLess(m.least[int(sw)*m.stride+word*64:])
		for begin := 0; begin < len(slots); begin += 64 {
			var ports [64]uint64
			for i, st := range slots[begin:min(begin+64, len(slots))] {
				if st.peer == fabric.None {
					continue
				}
				from := m.least
				if st.turn == barred {
					from = m.barred
				}
				ports[i] = known & equal(&wanted, from[int(st.peer)*m.stride+word*64:])
			}
			sets.PutByPort(word, uint8(begin/64), &ports)
		}
	}
}

// Each byte of a word.
const (
	ones   = 0x0101010101010101
	low7   = 0x7f7f7f7f7f7f7f7f
	gather = 0x0102040810204080 // brings the lowest bits of all bytes into the highest byte
)

// zeros has bit i where byte i of a word is 0.
func zeros(word uint64) uint64 {
	return ^((word&low7 + low7) | word) >> 7 & ones * gather >> 56
}

// oneLess is 64 counts less one each, and which of them are counts of a path.
func oneLess(counts []uint8) (less [8]uint64, known uint64) {
	for i := range less {
		word := binary.LittleEndian.Uint64(counts[i*8:])
		none := zeros(word) | zeros(^word)
		known |= (none ^ 0xff) << (i * 8)
		for b := range 8 {
			less[i] |= uint64(uint8(word>>(b*8))-1) << (b * 8)
		}
	}
	return less, known
}

// equal has bit i where count i of 64 is that wanted.
func equal(wanted *[8]uint64, counts []uint8) (same uint64) {
	counts = counts[:64]
	for i, word := range wanted {
		same |= zeros(word^binary.LittleEndian.Uint64(counts[i*8:])) << (i * 8)
	}
	return same
}
