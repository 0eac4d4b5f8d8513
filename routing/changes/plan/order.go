// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"context"
	"math"
	"math/bits"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/write"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/checks/walk"
)

type entries = [fabric.BlockSize]uint8

// blocks orders the writes of the blocks that change. byNum lists, for each block number, the switches that change this
// block, as indexes into pairs.
func (m *maker) blocks(ctx context.Context, byNum [][]int32) error {
	var nums []int
	for num, list := range byNum {
		if len(list) > 0 {
			nums = append(nums, num)
		}
	}
	o := &orderer{maker: m, pairOf: make([]int32, len(m.live.Fabric.Switches)), wires: walk.NewWires(m.live)}
	for s := range o.pairOf {
		o.pairOf[s] = fabric.None
	}
	for i, p := range m.pairs {
		o.pairOf[p.live] = int32(i)
	}
	workers := make([]*worker, routing.Workers())
	writes := make([][]blockWrite, len(nums))
	err := routing.ForEach(ctx, len(nums), nil, func(n, i int) {
		if workers[n] == nil {
			workers[n] = newWorker(o)
		}
		writes[i] = workers[n].block(nums[i], byNum[nums[i]])
	})
	if err != nil {
		return err
	}
	steps := 1
	for _, w := range workers {
		if w != nil {
			steps = max(steps, w.column.steps)
		}
	}
	m.number(writes, steps)
	return nil
}

// number lists the writes by step. It numbers the steps without gaps.
func (m *maker) number(writes [][]blockWrite, steps int) {
	counts := make([]int, steps+1)
	for _, list := range writes {
		for i := range list {
			counts[list[i].step.number(steps)]++
		}
	}
	at, nums := make([]int, steps+1), make([]int, steps+1)
	all := 0
	for s, n := range counts {
		at[s] = all
		all += n
		if n > 0 {
			m.plan.Steps++
			nums[s] = m.plan.Steps
		}
	}
	m.plan.Blocks = make([]write.Block, all)
	for _, list := range writes {
		for i := range list {
			s := list[i].step.number(steps)
			list[i].Step = nums[s]
			m.plan.Blocks[at[s]] = list[i].Block
			at[s]++
			if list[i].more {
				m.plan.Extra++
			}
		}
	}
}

// step is the number of a step. Positive numbers count from the first step (1), negative numbers from the last (-1).
type step int

func (s step) number(steps int) int {
	if s < 0 {
		return steps + 1 + int(s)
	}
	return int(s)
}

// blockWrite is the write of a block in one step. more is set if a later step writes the block again.
type blockWrite struct {
	write.Block
	step step
	more bool
}

// orderer holds the data that all workers share.
type orderer struct {
	*maker
	pairOf []int32 // by switch of the live fabric
	wires  walk.Wires
}

// worker orders the writes of one block number at a time.
type worker struct {
	*orderer
	column *column
	// old and new hold the block of each switch. turns[i] holds, for each switch, the turn of the entry of LID i of the
	// block.
	old, new []entries
	turns    [fabric.BlockSize][]turn
	lowered  []fabric.SwitchIndex
	at       []step
}

func newWorker(o *orderer) *worker {
	n := len(o.live.Fabric.Switches)
	w := &worker{orderer: o, column: newColumn(n), old: make([]entries, n), new: make([]entries, n)}
	for i := range w.turns {
		w.turns[i] = make([]turn, n)
	}
	return w
}

// block orders the writes of one block number of some switches. O(switches) for each LID that changes, where any order
// is safe.
func (w *worker) block(num int, list []int32) []blockWrite {
	w.load(num)
	lids := uint64(0)
	for _, p := range list {
		lids |= differing(&w.old[w.pairs[p].live], &w.new[w.pairs[p].live])
	}
	if num == 0 {
		lids &^= 1 // an entry for LID 0 means nothing
	}
	for set := lids; set != 0; set &= set - 1 {
		w.lid(num, bits.TrailingZeros64(set), list)
	}
	var writes []blockWrite
	for _, p := range list {
		writes = w.pack(writes, num, w.pairs[p], lids)
	}
	return writes
}

func differing(a, b *entries) (set uint64) {
	for i := range a {
		if a[i] != b[i] {
			set |= 1 << i
		}
	}
	return set
}

// load reads block num of all switches into old and new. The entries are those that apply after LinearFDBTops are
// raised and before LinearFDBTops are lowered.
func (w *worker) load(num int) {
	first := num * fabric.BlockSize
	for s := range w.old {
		old, top := &w.old[s], int(w.live.Top[s])
		p := w.pairOf[s]
		if p != fabric.None {
			top = max(top, int(w.staged.Top[w.pairs[p].staged]))
		}
		*old = *w.oldBlock(fabric.SwitchIndex(s), num)
		for i := max(0, top+1-first); i < fabric.BlockSize; i++ {
			old[i] = fabric.NoPath
		}
		w.new[s] = *old
		if p != fabric.None {
			staged := w.pairs[p].staged
			copy(w.new[s][:max(0, min(fabric.BlockSize, int(w.staged.Top[staged])+1-first))],
				w.newBlock(staged, num)[:])
		}
	}
}

// lid orders the writes of one column.
func (w *worker) lid(num, i int, list []int32) {
	c := w.column
	paths := hops{wires: w.wires, i: i, dead: c.dead}
	lid := uint16(num*fabric.BlockSize + i)
	from, to := w.owners(lid)
	if from == to && from != walk.Nowhere {
		paths.dst = from
	}
	c.changed = c.changed[:0]
	for _, p := range list {
		if s := w.pairs[p].live; w.old[s][i] != w.new[s][i] {
			c.changed = append(c.changed, s)
		}
	}
	if len(c.changed) < few && (w.falls(&paths, w.old, w.new) || w.falls(&paths, w.new, w.old)) {
		for _, s := range c.changed {
			w.turns[i][s] = turn{kind: anytime}
		}
		return
	}
	w.lowered = w.lowered[:0]
	for s := range c.dead {
		c.old[s] = paths.next(w.old, s)
		c.new[s] = c.old[s]
		if p := w.pairOf[s]; p != fabric.None && lid > w.staged.Top[w.pairs[p].staged] && lid <= w.live.Top[s] {
			w.lowered = append(w.lowered, s)
		}
	}
	for _, s := range c.changed {
		c.new[s] = paths.next(w.new, s)
	}
	c.order(w.lowered)
	for _, s := range c.changed {
		w.turns[i][s] = c.turns[s]
	}
}

// few is the number of changed switches above which lid computes the paths of all switches at once. With fewer changed
// switches it follows the path of each of them.
const few = 64

// falls reports whether, at each changed switch, the path by one set of entries gets shorter along the entry of another
// set.
func (w *worker) falls(paths *hops, these, others []entries) bool {
	for _, s := range w.column.changed {
		if far := paths.far(these, s); far > w.column.dead || paths.far(these, paths.next(others, s)) >= far {
			return false
		}
	}
	return true
}

// hops follows paths to one LID, which has index i in its block.
type hops struct {
	wires walk.Wires
	i     int
	// dst is the port that owns the LID. It is 0 if no port owns the LID or if the owner changes. Then only loops
	// count, and a path may end anywhere.
	dst  walk.Target
	dead fabric.SwitchIndex
}

// next returns the next hop of a switch: another switch, or the value delivered or dead.
func (h *hops) next(table []entries, s fabric.SwitchIndex) fabric.SwitchIndex {
	switch t := h.wires.Next(s, table[s][h.i]); {
	case t >= 0:
		return t
	case t == h.dst, h.dst == 0:
		return delivered
	}
	return h.dead
}

// far returns the number of hops from a switch to the destination. It returns more than dead if packets do not arrive.
func (h *hops) far(table []entries, s fabric.SwitchIndex) fabric.SwitchIndex {
	for n := range h.dead + 1 {
		switch s {
		case delivered:
			return n
		case h.dead:
			return h.dead + 1
		}
		s = h.next(table, s)
	}
	return h.dead + 1
}

// owners returns the ports that own a LID before and after the commit, both as ports of the live fabric. A port that
// the staged subnet does not reach keeps its LIDs.
func (w *worker) owners(lid uint16) (from, to walk.Target) {
	from, to = walk.Nowhere, walk.Nowhere
	live, staged := w.live.Fabric, w.staged.Fabric
	old, owner := live.PortByLID(lid), staged.PortByLID(lid)
	if old != fabric.None {
		from = walk.ToPort(old)
	}
	if owner != fabric.None {
		owner = live.PortByGUID(staged.Ports[owner].GUID)
	} else if old != fabric.None {
		if s := staged.PortByGUID(live.Ports[old].GUID); s == fabric.None || staged.Ports[s].LID == 0 {
			owner = old
		}
	}
	if owner != fabric.None {
		to = walk.ToPort(owner)
	}
	return from, to
}

// pack appends the writes of one block of a switch. The turns of the block's entries determine how few writes suffice.
func (w *worker) pack(writes []blockWrite, num int, p pair, lids uint64) []blockWrite {
	old, new := &w.old[p.live], &w.new[p.live]
	lids &= differing(old, new)
	steps := w.stepsOf(p.live, lids)
	content := w.oldBlock(p.live, num)
	for k, s := range steps {
		to := w.final(p, num)
		if k < len(steps)-1 {
			mix := *content
			for set := lids; set != 0; set &= set - 1 {
				if i := bits.TrailingZeros64(set); w.at[i] == s {
					mix[i] = new[i]
				}
			}
			to = &mix
		}
		writes = append(writes, blockWrite{
			write.Block{Switch: p.live, Num: uint16(num), Old: content, New: to, Read: content != unreadBlock}, s,
			k < len(steps)-1,
		})
		content = to
	}
	return writes
}

// final returns the content of a block after the commit. It still contains the entries that a lower LinearFDBTop hides.
func (w *worker) final(p pair, num int) *entries {
	block := w.newBlock(p.staged, num)
	top, first := int(w.staged.Top[p.staged]), num*fabric.BlockSize
	oldTop := min(int(w.live.Top[p.live]), first+fabric.BlockSize-1)
	if oldTop <= top {
		return block
	}
	mix := *block
	copy(mix[top+1-first:oldTop+1-first], w.old[p.live][top+1-first:])
	return &mix
}

// stepsOf chooses a step for each changed entry of a switch's block and stores the steps in w.at. It returns, in
// ascending order, the steps in which the block must be written.
func (w *worker) stepsOf(sw fabric.SwitchIndex, lids uint64) []step {
	var steps []step
	w.at = slices.Grow(w.at[:0], fabric.BlockSize)[:fabric.BlockSize]
	need := func(s step) step {
		if !slices.Contains(steps, s) {
			steps = append(steps, s)
		}
		return s
	}
	each := func(of kind, choose func(level step) step) {
		for set := lids; set != 0; set &= set - 1 {
			i := bits.TrailingZeros64(set)
			if t := w.turns[i][sw]; t.kind == of {
				w.at[i] = choose(step(t.level))
			}
		}
	}
	each(atFirst, func(level step) step { return need(level + 1) })
	each(atLast, func(level step) step { return need(-level - 1) })
	each(atEither, func(level step) step {
		if slices.Contains(steps, -level-1) {
			return -level - 1
		}
		return need(level + 1)
	})
	each(between, func(level step) step {
		if i := slices.IndexFunc(steps, func(s step) bool { return max(s, -s) > level }); i >= 0 {
			return steps[i]
		}
		return need(level + 1)
	})
	if len(steps) == 0 {
		steps = append(steps, 1)
	}
	slices.SortStableFunc(steps, func(a, b step) int {
		return cmp.Compare(a.number(math.MaxInt-1), b.number(math.MaxInt-1))
	})
	each(anytime, func(step) step { return steps[0] })
	return steps
}
