// SPDX-License-Identifier: Apache-2.0

package sweep

import (
	"cmp"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// origin is what tables that were read say of themselves.
const origin = "live"

// reader reads forwarding tables into the slab of a fabric's tables.
type reader struct {
	*sweeper
	tables *fabric.Tables
	row    []int32 // switch of the fabric, by node of the sweep
}

// newReader asks for blocks 0 to LinearFDBTop of all switches: all first blocks,
// then all second ones, so that no switch gets a flood of requests.
func newReader(s *sweeper, b *builder) *reader {
	f := b.fabric
	r := &reader{sweeper: s, row: make([]int32, len(s.nodes))}
	tops := make([]uint16, len(f.Switches))
	known := make([]bool, len(f.Switches))
	var top uint16
	for sw, n := range f.Switches {
		i := b.order[n]
		r.row[i] = int32(sw)
		known[sw] = s.nodes[i].swKnown && f.Nodes[n].InSubnet
		tops[sw] = r.top(i)
		top = max(top, tops[sw])
	}
	r.tables = &fabric.Tables{Fabric: f, LFT: fabric.NewLFT(len(f.Switches), top), Top: tops, Known: known, Origin: origin}
	order := slices.Clone(f.Switches)
	slices.SortFunc(order, func(x, y int32) int { return cmp.Compare(x, y) })
	for block := range r.tables.LFT.Blocks() {
		for _, n := range order {
			i := b.order[n]
			if sw := r.row[i]; known[sw] && block <= int(tops[sw])/fabric.BlockSize {
				s.ask(task{kind: askBlock, node: i, mod: uint16(block)})
				s.progress.BlocksToDo++
			}
		}
	}
	s.answered[askBlock] = r.gotBlock
	return r
}

// top is the LinearFDBTop of a switch, if that can be.
func (r *reader) top(i int32) uint16 {
	n := &r.nodes[i]
	if n.sw.LinearFDBTop <= mad.LastUnicastLID {
		return n.sw.LinearFDBTop
	}
	r.warn("%s says that its LinearFDBTop is %d, which is above the highest unicast LID %d", r.name(i), n.sw.LinearFDBTop, mad.LastUnicastLID)
	return mad.LastUnicastLID
}

// read asks until no block is left, for what was lost on its way again.
func (r *reader) read() error {
	for round := 0; len(r.queue) > 0; round++ {
		if err := r.run(); err != nil {
			return err
		}
		if round < rounds {
			r.retry(round)
		}
	}
	return nil
}

func (r *reader) gotBlock(t task, reply *mad.Reply) {
	copy(r.tables.LFT.Block(r.row[t.node], int(t.mod)), reply.Data[:])
	r.progress.Blocks++
}

// finish gives up on the tables of switches of which a block is missing.
func (r *reader) finish() *fabric.Tables {
	for _, m := range r.misses {
		if m.task.kind != askBlock {
			continue
		}
		sw := r.row[m.task.node]
		if !r.tables.Known[sw] {
			continue
		}
		r.tables.Known[sw] = false
		row := r.tables.LFT.Row(sw)
		for i := range row {
			row[i] = fabric.NoPath
		}
	}
	return r.tables
}
