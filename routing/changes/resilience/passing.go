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

// passing holds the number of end ports whose packets to a LID pass a switch.
type passing struct {
	// own counts the ends attached to a switch.
	own []uint16
	// others[s][lid] counts the ends whose packets to lid enter switch s from another switch. others[s] is nil if
	// switch s receives packets from other switches only for its own LIDs.
	others [][]uint16
	// whole marks the LIDs that the packets of all end ports reach.
	whole []bool
}

// at returns the number of ends whose packets to a LID pass a switch. The switch must not be the one to which the LID's
// port is attached.
func (p *passing) at(sw fabric.SwitchIndex, lid uint16) int64 {
	n := int64(p.own[sw])
	if row := p.others[sw]; row != nil {
		n += int64(row[lid])
	}
	return n
}

// findPassing counts the ends for all LIDs that have an end in endOf. If there are more than 65,535 ends, all counts
// stay 0 and no LID is marked as whole. O(switches x LIDs) on all processors.
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
	// order lists the switches by depth.
	depth []uint8
	order [][]fabric.SwitchIndex
}

// count adds the counts for the LID of an end port. It reports whether the packets of all ends arrive at this port.
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

// sort orders the switches by depth. It reports whether all switches with ends have a path.
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

// passRows holds the rows of the field others. A row is allocated when its switch first needs it.
type passRows struct {
	of   []atomic.Pointer[[]uint16]
	lids int

	making sync.Mutex
	free   []uint16 // memory for further rows
}

// row returns the row of a switch.
func (r *passRows) row(s fabric.SwitchIndex) []uint16 {
	if row := r.of[s].Load(); row != nil {
		return *row
	}
	r.making.Lock()
	defer r.making.Unlock()
	if row := r.of[s].Load(); row != nil {
		return *row
	}
	if len(r.free) == 0 {
		r.free = hugepages.Make[uint16](min(rowsAtOnce, len(r.of)) * r.lids)
	}
	row := r.free[:r.lids:r.lids]
	r.free = r.free[r.lids:]
	r.of[s].Store(&row)
	return row
}

// rowsAtOnce is the number of rows that are allocated at a time.
const rowsAtOnce = 128
