// SPDX-License-Identifier: Apache-2.0

package reach

import (
	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/checks/trees"
	"example.org/ibconsole/routing/checks/walk"
)

// worker is the scratch memory of one goroutine.
type worker struct {
	*checker
	// verdicts and links are, by switch, how packets from there end and over how many links.
	verdicts []walk.Verdict
	links    []int32
	// groups are the verdicts on the groups of ends.
	groups []walk.Verdict
}

func newWorker(c *checker) *worker {
	n := len(c.ends.Tables.Fabric.Switches)
	return &worker{checker: c, verdicts: make([]walk.Verdict, n), links: make([]int32, n), groups: make([]walk.Verdict, len(c.ends.Groups))}
}

// column judges the paths to one LID.
func (w *worker) column(col *column, t *trees.Tree) {
	w.judge(t)
	dst, local := w.ends.Tables.Fabric.AttachedSwitch(w.ends.Ports[t.End])
	var least []uint8
	last := 0
	if dst != fabric.None {
		least = w.distances.From(dst)
	}
	if local != 0 {
		last = 1
	}
	for g := range w.ends.Groups {
		group := &w.ends.Groups[g]
		v, links := w.group(group, t)
		w.groups[g] = v
		n := int32(w.ends.Sources(g, t.End))
		if n == 0 {
			continue
		}
		if v == walk.Delivered && links > walk.MaxHops {
			v = walk.TooLong
			w.groups[g] = v
		}
		col.verdicts[v] += n
		if !v.Arrives() {
			continue
		}
		for len(col.links) <= links {
			col.links = append(col.links, 0)
		}
		col.links[links] += n
		if group.At >= 0 && least != nil && least[group.At] != routing.NoHops && links > group.Links+int(least[group.At])+last {
			col.longer += n
		}
	}
	w.troubles(col, t)
}

// judge fills verdicts and links of the switches of a tree.
func (w *worker) judge(t *trees.Tree) {
	clear(w.verdicts)
	for _, sw := range t.Order {
		next := t.Next(sw)
		if next < 0 {
			w.verdicts[sw] = w.end(next, t)
			w.links[sw] = 1
			if t.Entry(sw) == 0 {
				w.links[sw] = 0
			}
			continue
		}
		// A switch whose successor has not come yet closes a loop.
		w.verdicts[sw] = walk.Loop
		if v := w.verdicts[next]; v != 0 {
			w.verdicts[sw] = v
		}
		w.links[sw] = w.links[next] + 1
	}
}

// end judges a packet that meets no further switch.
func (w *worker) end(x walk.Target, t *trees.Tree) walk.Verdict {
	switch x {
	case walk.ToPort(w.ends.Ports[t.End]):
		return walk.Delivered
	case walk.Nowhere:
		return walk.DeadEnd
	case walk.Unread:
		return walk.Unknown
	}
	return walk.Misdelivered
}

func (w *worker) group(g *trees.Group, t *trees.Tree) (v walk.Verdict, links int) {
	if g.At < 0 {
		return w.end(g.At, t), g.Links
	}
	return w.verdicts[g.At], g.Links + int(w.links[g.At])
}

// troubles lists the first paths of each kind that does not arrive.
func (w *worker) troubles(col *column, t *trees.Tree) {
	var free [walk.TooLong + 1]int
	left := 0
	for v, n := range col.verdicts {
		if walk.Verdict(v) != walk.Delivered {
			free[v] = min(int(n), w.opt.Examples)
			left += free[v]
		}
	}
	for end := 0; left > 0; end++ {
		v := w.groups[w.ends.GroupOf[end]]
		if int32(end) == t.End || free[v] == 0 {
			continue
		}
		free[v]--
		left--
		col.troubles = append(col.troubles, Path{Src: w.ends.Ports[end], Dst: w.ends.Ports[t.End], LID: t.LID.LID, Verdict: v})
	}
}
