// SPDX-License-Identifier: Apache-2.0

package paths

import (
	"bytes"
	"context"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/pathdb"
	"example.org/ibconsole/routing"
)

// entries holds the forwarding tables by tile. For each tile and switch, it holds the entries for the LIDs of the
// tile's groups contiguously.
type entries struct {
	ports    []uint8
	switches int
	// starts holds the start of the LIDs of each tile, in the order of the groups.
	starts []int
}

// of returns the entries of switch sw for the LIDs of a tile.
func (e *entries) of(tile, sw int) []uint8 {
	width := e.starts[tile+1] - e.starts[tile]
	at := e.starts[tile]*e.switches + sw*width
	return e.ports[at : at+width]
}

// gather fills in entries. It reads each table once from start to end. O(switches x LIDs).
func (b *builder) gather(ctx context.Context) error {
	e := entries{switches: len(b.f.Switches)}
	var lids []uint16
	for i := range b.groups {
		if i%pathdb.TileGroups == 0 {
			e.starts = append(e.starts, len(lids))
		}
		lids = append(lids, b.groups[i].lids...)
	}
	e.starts = append(e.starts, len(lids))
	highest := 0
	for _, l := range lids {
		highest = max(highest, int(l))
	}
	e.ports = make([]uint8, e.switches*len(lids))
	b.entries = e
	return routing.ForEach(ctx, e.switches, nil, func(_, sw int) {
		row := b.row(sw)
		if len(row) <= highest {
			// Above the LinearFDBTop the switch forwards no packets.
			row = slices.Concat(row, bytes.Repeat([]byte{fabric.NoPath}, highest+1-len(row)))
		}
		for tile := range len(e.starts) - 1 {
			out := e.of(tile, sw)
			for i, l := range lids[e.starts[tile]:e.starts[tile+1]] {
				out[i] = row[l]
			}
		}
	})
}

// row returns the entries of a switch up to its LinearFDBTop. It returns no entries for an unread table.
func (b *builder) row(sw int) []uint8 {
	if !b.t.Known[sw] {
		return nil
	}
	row := b.t.LFT.Row(fabric.SwitchIndex(sw))
	return row[:min(int(b.t.Top[sw])+1, len(row))]
}
