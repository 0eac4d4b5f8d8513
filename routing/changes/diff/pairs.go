// SPDX-License-Identifier: Apache-2.0

package diff

import (
	"bytes"
	"context"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/checks/walk"
)

// lot is how many destinations one piece of work has: as many as share the cache lines of a table.
const lot = fabric.BlockSize

type kind uint8

const (
	kindSame kind = iota
	kindChanged
	kindCutOff
	kindConnected
	kindUnreached
	kindUnknown
	kinds
)

// walked is what the walk over all pairs found.
type walked struct {
	m        *matching
	examples int
	lots     []lotResult
	workers  []*worker
}

type lotResult struct {
	counts   [kinds]int64
	examples [kinds][]pair
}

// pair are two indexes into hosts.
type pair struct{ src, dst int32 }

func (m *matching) walk(ctx context.Context, opt Options) (*walked, error) {
	w := &walked{m: m, examples: opt.Examples}
	w.lots = make([]lotResult, (len(m.hosts)+lot-1)/lot)
	w.workers = make([]*worker, routing.Workers())
	err := routing.ForEach(ctx, len(w.lots), opt.Progress, func(i, n int) {
		if w.workers[i] == nil {
			w.workers[i] = newWorker(w)
		}
		w.workers[i].run(&w.lots[n], int32(n*lot), min(int32((n+1)*lot), int32(len(m.hosts))))
	})
	w.workers = slices.DeleteFunc(w.workers, func(x *worker) bool { return x == nil })
	return w, err
}

// worker is the scratch memory of one goroutine.
type worker struct {
	*walked
	old, new workerSide
	// same says for each switch of the old picture that its path is the same.
	same  []bool
	fates []fates
}

// fates are where the packets of a group end in each picture.
type fates struct{ old, new walk.Fate }

type workerSide struct {
	*side
	tree *walk.Tree
	lids []uint16
	cols [][]uint8
	// weight counts the hosts whose packets a switch passes.
	weight []int32
	// paths counts the pairs that leave by each port of a switch.
	paths []int64
}

func newWorker(w *walked) *worker {
	return &worker{
		walked: w, old: newWorkerSide(&w.m.old), new: newWorkerSide(&w.m.new),
		same: make([]bool, len(w.m.old.f.Switches)), fates: make([]fates, len(w.m.groups)),
	}
}

func newWorkerSide(s *side) workerSide {
	w := workerSide{
		side: s, tree: walk.NewTree(s.wires), cols: make([][]uint8, lot),
		weight: make([]int32, len(s.f.Switches)), paths: make([]int64, len(s.f.Ports)),
	}
	for i := range w.cols {
		w.cols[i] = make([]uint8, len(s.f.Switches))
	}
	return w
}

// run takes the hosts from first to before end as destinations.
func (w *worker) run(r *lotResult, first, end int32) {
	hosts := w.m.hosts[first:end]
	w.old.lids, w.new.lids = w.old.lids[:0], w.new.lids[:0]
	for _, h := range hosts {
		w.old.lids = append(w.old.lids, w.old.lid(h.old))
		w.new.lids = append(w.new.lids, w.new.lid(h.new))
	}
	walk.Columns(w.old.t, w.old.lids, w.old.cols)
	walk.Columns(w.new.t, w.new.lids, w.new.cols)
	for i, h := range hosts {
		w.destination(r, first+int32(i), h, w.old.cols[i], w.new.cols[i])
	}
}

func (w *worker) destination(r *lotResult, dst int32, h host, oldCol, newCol []uint8) {
	equal := w.m.aligned && h.old == h.new && w.old.lid(h.old) != 0 && w.new.lid(h.new) != 0 && bytes.Equal(oldCol, newCol)
	w.old.start(h.old, oldCol)
	w.new.start(h.new, newCol)
	for i := range w.m.groups {
		g := &w.m.groups[i]
		f := fates{old: w.old.fate(h.old, g.old)}
		switch {
		case !equal:
			f.new = w.new.fate(h.new, g.new)
		case g.old != g.new:
			f.new = w.old.fate(h.old, g.new)
		default:
			f.new = f.old
		}
		w.fates[i] = f
	}
	if !equal {
		w.compare()
	}
	for i := range w.m.groups {
		w.count(r, int32(i), dst, equal)
	}
	w.old.flow(w.old.tree)
	if equal {
		w.new.flow(w.old.tree)
	} else {
		w.new.flow(w.new.tree)
	}
}

func (s *workerSide) start(dst fabric.PortIndex, col []uint8) {
	s.tree.Start(walk.ToPort(dst), col)
}

// fate is where packets that come in at x end, Lost where the destination has no LID.
func (s *workerSide) fate(dst fabric.PortIndex, x walk.Target) walk.Fate {
	if s.lid(dst) == 0 {
		return walk.Lost
	}
	return s.tree.Fate(x)
}

// compare sets same for all switches whose packets the old picture delivers.
func (w *worker) compare() {
	for _, sw := range w.old.tree.Order {
		w.same[sw] = false
		if w.old.tree.Fates[sw] != walk.Reaches {
			continue
		}
		entry := w.old.tree.Entry(sw)
		other := w.old.otherSwitch[sw]
		if other == fabric.None || w.new.tree.Entry(other) != entry || !w.m.sameLink[w.old.first[sw]+fabric.PortIndex(entry)] {
			continue
		}
		next := w.old.tree.Next(sw)
		w.same[sw] = next < 0 || w.same[next]
	}
}

// count counts the pairs from a group to a destination, notes examples and
// puts the hosts of the group onto the switch where their packets come in.
func (w *worker) count(r *lotResult, group, dst int32, equal bool) {
	g := &w.m.groups[group]
	n := int32(len(g.hosts))
	if w.m.groupOf[dst] == group {
		n--
	}
	if n == 0 {
		return
	}
	f := w.fates[group]
	k := w.kind(g, f, equal)
	r.counts[k] += int64(n)
	if k != kindSame && len(r.examples[k]) < w.examples {
		w.note(r, k, g, dst)
	}
	if k == kindUnknown { // the loads of both pictures are those of the pairs that both know
		return
	}
	if f.old == walk.Reaches && g.old >= 0 {
		w.old.weight[g.old] += n
	}
	if f.new == walk.Reaches && g.new >= 0 {
		w.new.weight[g.new] += n
	}
}

func (w *worker) kind(g *group, f fates, equal bool) kind {
	switch {
	case f.old == walk.Open || f.new == walk.Open:
		return kindUnknown
	case f.old != walk.Reaches && f.new != walk.Reaches:
		return kindUnreached
	case f.new != walk.Reaches:
		return kindCutOff
	case f.old != walk.Reaches:
		return kindConnected
	case g.same && (equal || g.old < 0 || w.same[g.old]):
		return kindSame
	}
	return kindChanged
}

func (w *worker) note(r *lotResult, k kind, g *group, dst int32) {
	for _, src := range g.hosts {
		if src != dst && len(r.examples[k]) < w.examples {
			r.examples[k] = append(r.examples[k], pair{src, dst})
		}
	}
}

// flow takes the weights along a tree and counts what leaves by each port. All weights are 0 afterwards.
func (s *workerSide) flow(tree *walk.Tree) {
	for _, sw := range slices.Backward(tree.Order) {
		n := s.weight[sw]
		if n == 0 {
			continue
		}
		s.weight[sw] = 0
		s.paths[s.first[sw]+fabric.PortIndex(tree.Entry(sw))] += int64(n)
		if next := tree.Next(sw); next >= 0 {
			s.weight[next] += n
		}
	}
}

// result puts counts and examples into r.
func (w *walked) result(r *Result) {
	var sum lotResult
	for i := range w.lots {
		for k := range kinds {
			sum.counts[k] += w.lots[i].counts[k]
			free := w.examples - len(sum.examples[k])
			sum.examples[k] = append(sum.examples[k], w.lots[i].examples[k][:min(free, len(w.lots[i].examples[k]))]...)
		}
	}
	r.Pairs = Pairs{
		Same: sum.counts[kindSame], Changed: sum.counts[kindChanged], CutOff: sum.counts[kindCutOff],
		Connected: sum.counts[kindConnected], Unreached: sum.counts[kindUnreached], Unknown: sum.counts[kindUnknown],
	}
	for _, n := range sum.counts {
		r.Pairs.Total += n
	}
	r.CutOff = w.named(sum.examples[kindCutOff])
	r.Connected = w.named(sum.examples[kindConnected])
	r.Changed = w.named(sum.examples[kindChanged])
}

func (w *walked) named(pairs []pair) []Pair {
	named := make([]Pair, len(pairs))
	for i, p := range pairs {
		named[i] = Pair{w.m.named(w.m.hosts[p.src]), w.m.named(w.m.hosts[p.dst])}
	}
	return named
}

func (m *matching) named(h host) Port {
	if h.old != fabric.None {
		return m.old.named(h.old)
	}
	return m.new.named(h.new)
}
