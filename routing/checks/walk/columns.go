// SPDX-License-Identifier: Apache-2.0

package walk

import "example.org/ibconsole/fabric"

// Columns transposes rows: cols[i][sw] becomes the entry of each switch for lids[i]. Neighbouring LIDs share a cache
// line of a switch. It allocates nothing. O(switches x LIDs).
func Columns(t *fabric.Tables, lids []uint16, cols [][]uint8) {
	for s := range t.Fabric.NumSwitches() {
		row := t.LFT.Row(s)
		top := min(int(t.Top[s]), len(row)-1)
		for i, lid := range lids {
			entry := uint8(fabric.NoPath)
			if int(lid) <= top {
				entry = row[lid]
			}
			cols[i][s] = entry
		}
	}
}
