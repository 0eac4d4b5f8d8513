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

// minBatch is the minimum number of LIDs in a batch. The entries of a switch for these LIDs share cache lines.
const minBatch = fabric.BlockSize

// target is a LID of a destination host in each state. If the host has more LIDs in one state than in the other, LIDs
// of the other state are repeated.
type target struct {
	host            int32
	oldLID, newLID  uint16
	again, newAgain bool // the LID was counted before
	first, last     bool // of the host
}

type kind uint8

const (
	kindSame kind = iota
	kindChanged
	kindLost
	kindConnected
	kindUnreached
	kindUnknown
	kinds
)

// walked holds the counts and examples of a walk over all pairs.
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

// pair holds two indexes into hosts.
type pair struct{ src, dst int32 }

func (m *matching) walk(ctx context.Context, opt Options) (*walked, error) {
	w := &walked{m: m, examples: opt.Examples}
	targets, starts := m.targets()
	w.lots = make([]lotResult, len(starts)-1)
	w.workers = make([]*worker, routing.Workers())
	err := routing.ForEach(ctx, len(w.lots), opt.Progress, func(i, n int) {
		if w.workers[i] == nil {
			w.workers[i] = newWorker(w)
		}
		w.workers[i].run(&w.lots[n], targets[starts[n]:starts[n+1]])
	})
	w.workers = slices.DeleteFunc(w.workers, func(x *worker) bool { return x == nil })
	return w, err
}

// targets returns the LIDs of all hosts, divided into batches. All LIDs of a host are in one batch. The result starts
// holds the index of the first LID of each batch, followed by the total number of LIDs.
func (m *matching) targets() (targets []target, starts []int) {
	starts = []int{0}
	for i, h := range m.hosts {
		if len(targets)-starts[len(starts)-1] >= minBatch {
			starts = append(starts, len(targets))
		}
		was, is := m.old.numLIDs(h.old), m.new.numLIDs(h.new)
		n := max(was, is)
		for k := range n {
			targets = append(targets, target{
				host: int32(i), oldLID: m.old.lid(h.old) + uint16(k%was), newLID: m.new.lid(h.new) + uint16(k%is),
				again: k >= was, newAgain: k >= is, first: k == 0, last: k == n-1,
			})
		}
	}
	if len(targets) > 0 {
		starts = append(starts, len(targets))
	}
	return targets, starts
}

// numLIDs returns the number of LIDs of an end port, or 1 if it has none.
func (s *side) numLIDs(port fabric.PortIndex) int {
	if s.lid(port) == 0 {
		return 1
	}
	return 1 << s.f.Ports[port].LMC
}

// worker is the scratch memory of one goroutine.
type worker struct {
	*walked
	old, new workerSide
	// pairs holds, for each group, the worst result so far for the pairs from this group to the current host, over the
	// LIDs of the host.
	pairs []pairFates
	// same reports, for each switch of the old state, whether its path to the current LID is the same in both states.
	same  []bool
	fates []fates
}

// fates holds where the packets of a group end, in the old and in the new state.
type fates struct{ old, new walk.Fate }

// pairFates holds the worst fate in each state over several LIDs: lost is the worst, then open, then reaching the host.
// same is set if the paths to all these LIDs are the same in both states.
type pairFates struct {
	fates
	same bool
}

// worst returns the worse of two fates.
func worst(a, b walk.Fate) walk.Fate {
	for _, f := range []walk.Fate{walk.Lost, walk.UnreadTable} {
		if a == f || b == f {
			return f
		}
	}
	return a
}

type workerSide struct {
	*side
	tree *walk.Tree
	lids []uint16
	cols [][]uint8
	// weight counts, for each switch, the hosts whose packets pass the switch.
	weight []int32
	// paths counts, for each port of a switch, the pairs whose packets leave by the port.
	paths []int64
}

func newWorker(w *walked) *worker {
	return &worker{
		walked: w, old: newWorkerSide(&w.m.old), new: newWorkerSide(&w.m.new),
		same: make([]bool, len(w.m.old.f.Switches)), fates: make([]fates, len(w.m.groups)),
		pairs: make([]pairFates, len(w.m.groups)),
	}
}

func newWorkerSide(s *side) workerSide {
	return workerSide{
		side: s, tree: walk.NewTree(s.wires), weight: make([]int32, len(s.f.Switches)),
		paths: make([]int64, len(s.f.Ports)),
	}
}

// read reads the entries of all switches for lids into cols.
func (s *workerSide) read() {
	for len(s.cols) < len(s.lids) {
		s.cols = append(s.cols, make([]uint8, len(s.f.Switches)))
	}
	walk.Columns(s.t, s.lids, s.cols)
}

// run counts the pairs to some LIDs.
func (w *worker) run(r *lotResult, targets []target) {
	w.old.lids, w.new.lids = w.old.lids[:0], w.new.lids[:0]
	for i := range targets {
		w.old.lids = append(w.old.lids, targets[i].oldLID)
		w.new.lids = append(w.new.lids, targets[i].newLID)
	}
	w.old.read()
	w.new.read()
	for i := range targets {
		w.destination(r, &targets[i], w.old.cols[i], w.new.cols[i])
	}
}

func (w *worker) destination(r *lotResult, to *target, oldCol, newCol []uint8) {
	h := w.m.hosts[to.host]
	equal := w.m.aligned && h.old == h.new && w.old.lid(h.old) != 0 && w.new.lid(h.new) != 0 &&
		bytes.Equal(oldCol, newCol)
	w.old.tree.Start(walk.ToPort(h.old), oldCol)
	w.new.tree.Start(walk.ToPort(h.new), newCol)
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
		w.count(r, int32(i), to, equal)
	}
	w.old.flow(w.old.tree)
	if equal {
		w.new.flow(w.old.tree)
	} else {
		w.new.flow(w.new.tree)
	}
}

// fate returns where packets that enter the fabric at x end. It returns Lost if the destination has no LID.
func (s *workerSide) fate(dst fabric.PortIndex, x walk.Target) walk.Fate {
	if s.lid(dst) == 0 {
		return walk.Lost
	}
	return s.tree.Fate(x)
}

// compare sets w.same for all switches whose packets are delivered in the old state.
func (w *worker) compare() {
	for _, sw := range w.old.tree.Order {
		w.same[sw] = false
		if w.old.tree.Fates[sw] != walk.Reaches {
			continue
		}
		entry := w.old.tree.Entry(sw)
		other := w.old.otherSwitch[sw]
		if other == fabric.None || w.new.tree.Entry(other) != entry ||
			!w.m.sameLink[w.old.first[sw]+fabric.PortIndex(entry)] {
			continue
		}
		next := w.old.tree.Next(sw)
		w.same[sw] = next < 0 || w.same[next]
	}
}

// count combines the fates for one LID of a destination with those of its earlier LIDs. At the last LID of the
// destination, it counts the pairs from the group and notes examples. For delivered packets it adds the hosts of the
// group to the weight of the switch where their packets enter.
func (w *worker) count(r *lotResult, group int32, to *target, equal bool) {
	g := &w.m.groups[group]
	n := int32(len(g.hosts))
	if w.m.groupOf[to.host] == group {
		n--
	}
	if n == 0 {
		return
	}
	f, p := w.fates[group], &w.pairs[group]
	same := g.same && (equal || g.old < 0 || w.same[g.old])
	if to.first {
		*p = pairFates{f, same}
	} else {
		*p = pairFates{fates{worst(p.old, f.old), worst(p.new, f.new)}, p.same && same}
	}
	if to.last {
		k := p.kind()
		r.counts[k] += int64(n)
		if k != kindSame && len(r.examples[k]) < w.examples {
			w.note(r, k, g, to.host)
		}
	}
	if f.old == walk.UnreadTable || f.new == walk.UnreadTable { // loads count only paths that are known in both states
		return
	}
	if f.old == walk.Reaches && g.old >= 0 && !to.again {
		w.old.weight[g.old] += n
	}
	if f.new == walk.Reaches && g.new >= 0 && !to.newAgain {
		w.new.weight[g.new] += n
	}
}

func (p *pairFates) kind() kind {
	switch {
	case p.old == walk.UnreadTable || p.new == walk.UnreadTable:
		return kindUnknown
	case p.old != walk.Reaches && p.new != walk.Reaches:
		return kindUnreached
	case p.new != walk.Reaches:
		return kindLost
	case p.old != walk.Reaches:
		return kindConnected
	case p.same:
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

// flow moves the weights along a tree towards its root and counts the paths that leave by each port. All weights are 0
// afterwards.
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

// result stores counts and examples in r.
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
		Same: sum.counts[kindSame], Changed: sum.counts[kindChanged], Lost: sum.counts[kindLost],
		Connected: sum.counts[kindConnected], Unreached: sum.counts[kindUnreached], Unknown: sum.counts[kindUnknown],
	}
	for _, n := range sum.counts {
		r.Pairs.Total += n
	}
	r.Lost = w.named(sum.examples[kindLost])
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
	if h.inNew {
		return m.new.named(h.at)
	}
	return m.old.named(h.at)
}
