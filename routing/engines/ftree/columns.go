// SPDX-License-Identifier: Apache-2.0

package ftree

import (
	"bytes"
	"context"
	"encoding/binary"
	"slices"
	"sync"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// columns holds the table entries of all switches, one column for each LID, in the order in which the LIDs are routed.
// Another goroutine writes blocks of finished columns into the rows of the tables. In a row, the LIDs are first in the
// order of routing. At the end each row is permuted to the order of LIDs. This avoids a second copy of the tables.
type columns struct {
	lft *fabric.LFT
	// switches lists the switches in the order of the entries of a column. stride is the distance of columns in bytes.
	switches []fabric.SwitchIndex
	stride   int
	blank    []uint8
	// lids lists the LIDs in the order in which they are routed. places holds, for each LID, 1 + its index in lids.
	lids   []uint16
	places []uint16
	// gaps counts, for each LID, the switches without an entry. For a LID that was not routed, these are all switches.
	gaps []int32

	// open holds the blocks of columns that may still change. Their numbers start at first.
	open  [][]uint8
	first int
	// reopened holds the columns of LIDs that are routed again after their block was written. This happens if two ports
	// have the same LID.
	reopened map[uint16][]uint8
	closed   chan block   // in ascending order
	used     chan []uint8 // for reuse
	work     sync.WaitGroup
}

// blockSize is the number of columns that are written into a row at once. It is four cache lines, because each row is
// on other memory pages.
const blockSize = 4 * fabric.BlockSize

// block is a block of columns with their LIDs. The last block may be incomplete.
type block struct {
	columns []uint8
	lids    []uint16
}

// blocksAhead is the maximum number of blocks that wait to be written.
const blocksAhead = 2

// newColumns returns new columns and starts the goroutine that writes them. The caller must call tables or stop.
func newColumns(f *fabric.Fabric, switches []fabric.SwitchIndex) *columns {
	n := len(switches)
	c := &columns{
		lft: fabric.BlankLFT(n, f.MaxLID), switches: switches, stride: (n + 7) &^ 7,
		blank:  bytes.Repeat([]byte{fabric.NoPath}, n),
		places: make([]uint16, int(f.MaxLID)+1), gaps: slices.Repeat([]int32{int32(n)}, int(f.MaxLID)+1),
		reopened: map[uint16][]uint8{},
		closed:   make(chan block, blocksAhead), used: make(chan []uint8, blocksAhead+2),
	}
	c.work.Go(c.writeAll)
	return c
}

// of returns the column of a LID if the column may still change, otherwise nil.
func (c *columns) of(lid uint16) []uint8 {
	place := int(c.places[lid]) - 1 - c.first*blockSize
	if place < 0 {
		return c.reopened[lid]
	}
	return c.column(c.open[place/blockSize], place%blockSize)
}

func (c *columns) column(block []uint8, i int) []uint8 { return block[i*c.stride:][:len(c.switches)] }

// begin returns the column of a LID. It may still hold entries for another LID.
func (c *columns) begin(lid uint16) []uint8 {
	switch {
	case c.places[lid] == 0:
		c.add(lid)
	case c.of(lid) == nil:
		c.reopened[lid] = make([]uint8, len(c.switches))
	}
	return c.of(lid)
}

func (c *columns) add(lid uint16) {
	if len(c.lids)%blockSize == 0 {
		select {
		case used := <-c.used:
			c.open = append(c.open, used)
		default:
			c.open = append(c.open, make([]uint8, blockSize*c.stride))
		}
	}
	c.lids = append(c.lids, lid)
	c.places[lid] = uint16(len(c.lids))
}

// keep passes the full blocks to the writing goroutine. Their columns do not change any more.
func (c *columns) keep() {
	for len(c.open) > 0 && (c.first+1)*blockSize <= len(c.lids) {
		c.close()
	}
}

func (c *columns) close() {
	first := c.first * blockSize
	c.closed <- block{c.open[0], c.lids[first:min(first+blockSize, len(c.lids))]}
	c.open = c.open[1:]
	c.first++
}

func (c *columns) writeAll() {
	first := 0
	for b := range c.closed {
		for i, lid := range b.lids {
			c.count(lid, c.column(b.columns, i))
		}
		c.write(b.columns, first)
		first += blockSize
		select {
		case c.used <- b.columns:
		default:
		}
	}
}

// write writes a block into the rows. The argument first is the place of its first column in the order of routing.
func (c *columns) write(block []uint8, first int) {
	var rows [8][blockSize]uint8
	var square [8]uint64
	for slot := 0; slot < len(c.switches); slot += 8 {
		for place := 0; place < blockSize; place += 8 {
			for i := range square {
				square[i] = binary.LittleEndian.Uint64(block[(place+i)*c.stride+slot:])
			}
			routing.TransposeBytes(&square)
			for i, entries := range square {
				binary.LittleEndian.PutUint64(rows[i][place:], entries)
			}
		}
		for i, s := range c.switches[slot:min(slot+8, len(c.switches))] {
			copy(c.lft.Row(s)[first:], rows[i][:])
		}
	}
}

func (c *columns) count(lid uint16, column []uint8) {
	c.gaps[lid] = int32(bytes.Count(column, c.blank[:1]))
}

// stop ends the writing goroutine.
func (c *columns) stop() {
	close(c.closed)
	c.work.Wait()
}

// tables writes the remaining columns, ends the writing goroutine, and returns the complete tables.
func (c *columns) tables(ctx context.Context) (*fabric.LFT, error) {
	for len(c.open) > 0 {
		c.close()
	}
	c.stop()
	for lid, column := range c.reopened {
		c.count(lid, column)
	}
	rows := make([][]uint8, routing.Workers())
	err := routing.ForEach(ctx, len(c.switches), nil, func(worker, slot int) {
		row := c.lft.Row(c.switches[slot])
		byPlace := append(append(rows[worker][:0], fabric.NoPath), row...)
		rows[worker] = byPlace
		for lid, place := range c.places {
			row[lid] = byPlace[place]
		}
		fabric.FillNoPath(row[len(c.places):])
		for lid, column := range c.reopened {
			row[lid] = column[slot]
		}
	})
	return c.lft, err
}
