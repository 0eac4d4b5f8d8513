// SPDX-License-Identifier: Apache-2.0

package census

import (
	"cmp"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/checks/reach"
	"example.org/ibconsole/routing/checks/trees"
	"example.org/ibconsole/routing/checks/walk"
)

// counter holds the data that the workers share.
type counter struct {
	opt  Options
	ends *trees.Ends
	// origins lists the switches with ends, in the order of their lowest LIDs. originOf is the index in origins of each
	// switch, or -1. homeOf is indexed by end: the index in homes of the switch of the end, or -1.
	origins  []origin
	originOf []int32
	homeOf   []int32
	homes    []fabric.SwitchIndex
	todo     []target
	done     int
	// cells holds hashes of paths: one for each LID that is being counted and each origin of packets.
	cells   []uint64
	workers []*worker
	other   *comparison // nil for none
}

// origin is a switch with ends.
type origin struct {
	at   fabric.SwitchIndex
	ends []int32
}

// target is a destination LID. home is the index in [counter.homes] of the switch of its end port, or -1.
type target struct {
	trees.LID
	home int32
}

func newCounter(t *fabric.Tables, opt Options) *counter {
	e := trees.NewEnds(t, opt.Switches)
	c := &counter{
		opt: opt, ends: e, homeOf: make([]int32, len(e.Ports)),
		originOf: slices.Repeat([]int32{-1}, len(t.Fabric.Switches)), workers: make([]*worker, routing.Workers()),
	}
	homeOf := slices.Repeat([]int32{-1}, len(t.Fabric.Switches))
	for i, p := range e.Ports {
		c.homeOf[i] = -1
		at, _ := t.Fabric.AttachedSwitch(p)
		if at == fabric.None {
			continue
		}
		if homeOf[at] < 0 {
			homeOf[at] = int32(len(c.homes))
			c.homes = append(c.homes, at)
		}
		c.homeOf[i] = homeOf[at]
	}
	c.listOrigins()
	c.listTargets()
	if opt.Other != nil {
		c.other = newComparison(c, opt.Other)
	}
	return c
}

func (c *counter) listOrigins() {
	for i, g := range c.ends.GroupOf {
		at := c.ends.Groups[g].At
		if at < 0 {
			continue
		}
		if c.originOf[at] < 0 {
			c.originOf[at] = int32(len(c.origins))
			c.origins = append(c.origins, origin{at: at})
		}
		o := &c.origins[c.originOf[at]]
		o.ends = append(o.ends, int32(i))
	}
}

func (c *counter) listTargets() {
	for _, l := range c.ends.LIDs {
		c.todo = append(c.todo, target{l, c.homeOf[l.End]})
	}
	slices.SortFunc(c.todo, func(a, b target) int {
		return cmp.Or(cmp.Compare(a.home, b.home), cmp.Compare(a.LID.LID, b.LID.LID))
	})
}

// place is the place where packets end without arriving. at is a switch, or -1 - g for the sources of group g, which
// are attached to no switch.
type place struct {
	verdict walk.Verdict
	at      int32
}

// worker holds the counts of one goroutine and its scratch memory.
type worker struct {
	*counter
	Result
	judge    *reach.Classifier
	failures map[place]Failure
	// passed is indexed by switch: a hash of the switches that packets pass from this switch on. stops is the switch
	// where these packets end.
	passed []uint64
	stops  []int32
	runs   []run
	// trail and there are indexed by switch: a hash of the nodes and ports that packets pass from this switch on. trail
	// is for the counted tables, there for the other tables.
	trail, there []uint64
}

func (c *counter) worker(n int) *worker {
	if c.workers[n] == nil {
		switches := len(c.ends.Tables.Fabric.Switches)
		c.workers[n] = &worker{
			counter: c, judge: reach.NewClassifier(c.ends), failures: map[place]Failure{},
			passed: make([]uint64, switches), stops: make([]int32, switches),
		}
	}
	return c.workers[n]
}

// column counts the paths to one LID. It stores in the slice cells a hash of the path from each origin, or to 0 where
// packets do not arrive.
func (w *worker) column(t *trees.Tree, cells []uint64) {
	w.judge.Tree(t)
	w.follow(t)
	if w.other != nil {
		w.compareOther(t)
	}
	clear(cells[:len(w.origins)])
	for g := range w.ends.Groups {
		n := int64(w.ends.Sources(g, t.End))
		if n == 0 {
			continue
		}
		group := &w.ends.Groups[g]
		v, links := w.judge.Group(group, t)
		w.Verdicts[v] += n
		if o := w.judge.Pairs(g, t, v); t.Last {
			w.countPairs(o, n)
		}
		if !v.Arrives() {
			w.fail(g, v, n, t)
			continue
		}
		w.arrive(links, n)
		if group.At >= 0 {
			cells[w.originOf[group.At]] = w.passed[group.At]
		}
	}
}

// countPairs adds n pairs with the outcome o. The outcome covers all LIDs of the destination.
func (r *Result) countPairs(o reach.Outcome, n int64) {
	switch o {
	case reach.Lost:
		r.LostPairs += n
	case reach.Unknown:
		r.UnknownPairs += n
	}
}

// follow fills in passed and stops for the switches of a tree.
func (w *worker) follow(t *trees.Tree) {
	for _, sw := range t.Order {
		w.stops[sw] = -1
	}
	for _, sw := range t.Order {
		next := t.Next(sw)
		switch {
		case next < 0:
			w.passed[sw], w.stops[sw] = mix(uint64(sw)), int32(sw)
		case w.stops[next] < 0: // closes a loop; all its packets count as ending at its lowest switch
			low := sw
			for x := next; x != sw; x = t.Next(x) {
				low = min(low, x)
			}
			w.stops[sw] = int32(low)
		default:
			w.passed[sw], w.stops[sw] = mix(w.passed[next]+uint64(sw)), w.stops[next]
		}
	}
}

// mix spreads the bits of a number, as splitmix64 does. It never returns 0.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31 | 1
}

func (w *worker) fail(group int, v walk.Verdict, n int64, t *trees.Tree) {
	at := place{v, -1 - int32(group)}
	if sw := w.ends.Groups[group].At; sw >= 0 {
		at.at = w.stops[sw]
	}
	f := Failure{Verdict: v, Paths: n, LID: t.LID.LID, Src: w.source(w.ends.Groups[group].Ends, t.End)}
	w.failures[at] = f.and(w.failures[at])
}

// source returns the port of the first end in the list that is not dst.
func (w *worker) source(ends []int32, dst int32) fabric.PortIndex {
	for _, e := range ends {
		if e != dst {
			return w.ends.Ports[e]
		}
	}
	return fabric.None
}

// run is one of the paths to compare, or several equal paths.
type run struct {
	passed uint64
	paths  int64
	at     int // the index of the LID
}

// compare groups the paths to the LIDs of one destination switch by the switches that they pass.
func (w *worker) compare(some []target, s span) {
	if some[s.from].home < 0 {
		return
	}
	for o := range w.origins {
		w.runs = w.runs[:0]
		for i := s.from; i < s.to; i++ {
			if h := w.cells[i*len(w.origins)+o]; h != 0 {
				n := int64(len(w.origins[o].ends))
				if end := some[i].End; w.ends.Groups[w.ends.GroupOf[end]].At == w.origins[o].at {
					n--
				}
				w.runs = append(w.runs, run{h, n, i})
			}
		}
		if len(w.runs) > 0 {
			w.add(w.alike(some, o))
		}
	}
}

// alike summarizes the paths of one origin.
func (w *worker) alike(some []target, o int) SwitchPair {
	slices.SortFunc(w.runs, func(a, b run) int {
		if a.passed == b.passed {
			return a.at - b.at
		}
		return cmp.Compare(a.passed, b.passed)
	})
	var most run
	a := SwitchPair{From: w.origins[o].at, origin: int32(o)}
	for i := 0; i < len(w.runs); {
		all := w.runs[i]
		for i++; i < len(w.runs) && w.runs[i].passed == all.passed; i++ {
			all.paths += w.runs[i].paths
		}
		a.Sequences++
		a.Paths += all.paths
		if all.paths > most.paths || all.paths == most.paths && all.at < most.at {
			most = all
		}
	}
	to := &some[most.at]
	a.home, a.To = to.home, w.homes[to.home]
	a.LID, a.Src = to.LID.LID, w.source(w.origins[o].ends, to.End)
	return a
}

// add counts a switch pair and adds it to TopPairs. It sometimes drops pairs with few paths from TopPairs.
func (w *worker) add(a SwitchPair) {
	w.SwitchPairs++
	w.Sequences += int64(a.Sequences)
	w.TopPairs = append(w.TopPairs, a)
	if len(w.TopPairs) >= 2*w.opt.List+64 {
		slices.SortFunc(w.TopPairs, func(a, b SwitchPair) int { return a.order(&b) })
		w.TopPairs = w.TopPairs[:w.opt.List]
	}
}
