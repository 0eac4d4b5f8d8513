// SPDX-License-Identifier: Apache-2.0

package updn

import (
	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// comparePorts finds the least-hop ports of a switch towards each switch by comparing its least counts with what its
// neighbours' steps to it were tried from, 64 switches at once. O(links of sw x switches x bits of a count / 64).
func (m *matrix) comparePorts(sw fabric.SwitchIndex, sets routing.PortSets) {
	sets.Clear()
	slots := m.steps.into[m.steps.slot[sw]:m.steps.slot[sw+1]]
	var less [8]uint64
	wanted := less[:m.leastBits.depth]
	for word := range m.leastBits.words {
		known := oneLess(wanted, m.leastBits.at(int(sw), word))
		for begin := 0; begin < len(slots); begin += 64 {
			var ports [64]uint64
			for i, st := range slots[begin:min(begin+64, len(slots))] {
				if st == noStep {
					continue
				}
				from := m.leastBits
				if st.turn() == barred {
					from = m.barredBits
				}
				ports[i] = known &^ differ(wanted, from.at(int(st.peer()), word))
			}
			sets.PutByPort(word, uint8(begin/64), &ports)
		}
	}
}
