// SPDX-License-Identifier: Apache-2.0

package ftree

import (
	"bytes"
	"context"
	"slices"
	"sync"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// columns are the entries of all switches for one LID after the other, in the order in which these are routed to. Of
// columns that do not change any more another goroutine enters 64 at a time into the rows of the tables, at the place
// of their LIDs in that order; in the end each row gets the order of LIDs. So there is never a second copy of the tables.
type columns struct {
	lft   *fabric.LFT
	n     int // switches
	blank []uint8
	// lids are the LIDs in the order in which they are routed to, and places their places in it, plus one.
	lids   []uint16
	places []uint16
	// gaps are, by LID, how many switches have no entry; of LIDs that were not routed to, all.
	gaps []int32

	// open are the blocks of columns that may change, from block first on.
	open  [][]uint8
	first int
	// again are columns of LIDs that are routed to once more after theirs was closed: those that two ports have.
	again  map[uint16][]uint8
	closed chan block   // in ascending order
	used   chan []uint8 // for other columns
	work   sync.WaitGroup
}

// block is 64 columns, or the last ones, and their LIDs.
type block struct {
	columns []uint8
	lids    []uint16
}

// blocksAhead is how many blocks may wait for being entered.
const blocksAhead = 4

// newColumns must be followed by tables.
func newColumns(f *fabric.Fabric, blank []uint8) *columns {
	c := &columns{
		lft: fabric.BlankLFT(len(blank), f.MaxLID), n: len(blank), blank: blank,
		places: make([]uint16, int(f.MaxLID)+1), gaps: slices.Repeat([]int32{int32(len(blank))}, int(f.MaxLID)+1),
		again:  map[uint16][]uint8{},
		closed: make(chan block, blocksAhead), used: make(chan []uint8, blocksAhead+2),
	}
	c.work.Go(c.enterAll)
	return c
}

// of is the column of a LID that may change, nil of another one.
func (c *columns) of(lid uint16) []uint8 {
	place := int(c.places[lid]) - 1 - c.first*fabric.BlockSize
	if place < 0 {
		return c.again[lid]
	}
	return column(c.open[place/fabric.BlockSize], place%fabric.BlockSize, c.n)
}

func column(block []uint8, i, n int) []uint8 { return block[i*n : (i+1)*n] }

// begin is the column of a LID, which may hold entries of another one.
func (c *columns) begin(lid uint16) []uint8 {
	switch {
	case c.places[lid] == 0:
		c.add(lid)
	case c.of(lid) == nil:
		c.again[lid] = make([]uint8, c.n)
	}
	return c.of(lid)
}

func (c *columns) add(lid uint16) {
	if len(c.lids)%fabric.BlockSize == 0 {
		select {
		case used := <-c.used:
			c.open = append(c.open, used)
		default:
			c.open = append(c.open, make([]uint8, fabric.BlockSize*c.n))
		}
	}
	c.lids = append(c.lids, lid)
	c.places[lid] = uint16(len(c.lids))
}

// keep says that the columns there are do not change any more.
func (c *columns) keep() {
	for len(c.open) > 0 && (c.first+1)*fabric.BlockSize <= len(c.lids) {
		c.close()
	}
}

func (c *columns) close() {
	first := c.first * fabric.BlockSize
	c.closed <- block{c.open[0], c.lids[first:min(first+fabric.BlockSize, len(c.lids))]}
	c.open = c.open[1:]
	c.first++
}

func (c *columns) enterAll() {
	first := 0
	for b := range c.closed {
		for i, lid := range b.lids {
			c.count(lid, column(b.columns, i, c.n))
		}
		for s := range c.n {
			row := c.lft.Row(fabric.SwitchIndex(s))[first:][:fabric.BlockSize]
			for i := range row {
				row[i] = b.columns[i*c.n+s]
			}
		}
		first += fabric.BlockSize
		select {
		case c.used <- b.columns:
		default:
		}
	}
}

func (c *columns) count(lid uint16, column []uint8) {
	c.gaps[lid] = int32(bytes.Count(column, c.blank[:1]))
}

// stop ends the entering of columns.
func (c *columns) stop() {
	close(c.closed)
	c.work.Wait()
}

// tables are those with all columns, which do not change any more. It ends the entering of columns.
func (c *columns) tables(ctx context.Context) (*fabric.LFT, error) {
	for len(c.open) > 0 {
		c.close()
	}
	c.stop()
	for lid, column := range c.again {
		c.count(lid, column)
	}
	rows := make([][]uint8, routing.Workers())
	err := routing.ForEach(ctx, c.n, nil, func(worker, s int) {
		row := c.lft.Row(fabric.SwitchIndex(s))
		rows[worker] = append(rows[worker][:0], row...)
		fabric.Forget(row)
		for place, lid := range c.lids {
			row[lid] = rows[worker][place]
		}
		for lid, column := range c.again {
			row[lid] = column[s]
		}
	})
	return c.lft, err
}
