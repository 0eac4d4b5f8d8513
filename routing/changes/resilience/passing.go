// SPDX-License-Identifier: Apache-2.0

package resilience

import (
	"context"
	"sync"
	"sync/atomic"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/hugepages"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/checks/trees"
	"example.org/ibconsole/routing/checks/walk"
)

// passing is how many ends send to a LID through a switch.
type passing struct {
	// own are the ends that send into a switch.
	own []uint16
	// others are by switch and LID those whose packets come from another switch, nil for a switch that none come to
	// from there but for LIDs of its own.
	others [][]uint16
	// whole are the LIDs at which the packets of all ends arrive.
	whole []bool
}

// at is how many ends send to a LID through a switch other than its own.
func (p *passing) at(sw fabric.SwitchIndex, lid uint16) int64 {
	n := int64(p.own[sw])
	if row := p.others[sw]; row != nil {
		n += int64(row[lid])
	}
	return n
}

// findPassing counts for all LIDs of ends, of which endOf has them. Of more ends than LIDs there can be it does not.
// O(switches x LIDs) on all processors.
func findPassing(ctx context.Context, forest *trees.Forest, ends *trees.Ends, endOf []int32) (*passing, error) {
	n := len(forest.Tables.Fabric.Switches)
	p := &passing{own: make([]uint16, n), others: make([][]uint16, n), whole: make([]bool, len(endOf))}
	if len(ends.Ports) > 0xffff {
		return p, nil
	}
	for _, g := range ends.Groups {
		if g.At >= 0 {
			p.own[g.At] += uint16(len(g.Ends))
		}
	}
	rows := &passRows{of: make([]atomic.Pointer[[]uint16], n), lids: len(endOf)}
	counters := make([]*passCounter, routing.Workers())
	err := routing.ForEach(ctx, (len(endOf)+fabric.BlockSize-1)/fabric.BlockSize, nil, func(worker, i int) {
		if counters[worker] == nil {
			counters[worker] = &passCounter{passing: p, forest: forest, rows: rows, sum: make([]uint16, n)}
		}
		for lid := i * fabric.BlockSize; lid < min((i+1)*fabric.BlockSize, len(endOf)); lid++ {
			if end := endOf[lid]; end >= 0 {
				p.whole[lid] = counters[worker].count(uint16(lid), ends.Ports[end])
			}
		}
	})
	for s := range rows.of {
		if row := rows.of[s].Load(); row != nil {
			p.others[s] = *row
		}
	}
	return p, err
}

// passCounter is the scratch memory of one goroutine.
type passCounter struct {
	*passing
	forest *trees.Forest
	rows   *passRows
	sum    []uint16
	// order are the switches by their depth.
	depth []uint8
	order [][]fabric.SwitchIndex
}

// count counts for a LID of an end port, and reports whether the packets of all ends arrive.
func (c *passCounter) count(lid uint16, end fabric.PortIndex) bool {
	at := c.forest.At[lid]
	if at == fabric.None {
		return false
	}
	column := c.forest.Column(lid)
	if column[at] != c.forest.Local[lid] || c.forest.Wires.Next(at, column[at]) != walk.ToPort(end) ||
		!c.sort(c.forest.Depth(lid)) {
		return false
	}
	for d := len(c.order) - 1; d > 0; d-- {
		for _, s := range c.order[d] {
			if n := c.sum[s] + c.own[s]; n > 0 {
				if c.sum[s] > 0 {
					c.rows.row(s)[lid] = c.sum[s]
					c.sum[s] = 0
				}
				c.sum[c.forest.Wires.Next(s, column[s])] += n
			}
		}
	}
	c.sum[at] = 0
	return true
}

// sort puts the switches in order of their depth, and reports whether all that ends send into have one.
func (c *passCounter) sort(depth []uint8) bool {
	if len(c.depth) > 0 && &c.depth[0] == &depth[0] {
		return true
	}
	c.depth = nil
	for d := range c.order {
		c.order[d] = c.order[d][:0]
	}
	for s, d := range depth {
		switch {
		case d != trees.Far:
			for len(c.order) <= int(d) {
				c.order = append(c.order, nil)
			}
			c.order[d] = append(c.order[d], fabric.SwitchIndex(s))
		case c.own[s] > 0:
			return false
		}
	}
	c.depth = depth
	return true
}

// passRows are the rows of others, made when a switch first needs one.
type passRows struct {
	of   []atomic.Pointer[[]uint16]
	lids int

	making sync.Mutex
	room   []uint16 // for rows that are to come
}

// row is the row of a switch.
func (r *passRows) row(s fabric.SwitchIndex) []uint16 {
	if row := r.of[s].Load(); row != nil {
		return *row
	}
	r.making.Lock()
	defer r.making.Unlock()
	if row := r.of[s].Load(); row != nil {
		return *row
	}
	if len(r.room) == 0 {
		r.room = hugepages.Make[uint16](min(rowsAtOnce, len(r.of)) * r.lids)
	}
	row := r.room[:r.lids:r.lids]
	r.room = r.room[r.lids:]
	r.of[s].Store(&row)
	return row
}

// rowsAtOnce is for how many rows room is made at a time.
const rowsAtOnce = 128
