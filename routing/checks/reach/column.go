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
	judge *Classifier
	// groups holds the verdict on the paths of each group of ends.
	groups []walk.Verdict
}

func newWorker(c *checker) *worker {
	return &worker{checker: c, judge: NewClassifier(c.ends), groups: make([]walk.Verdict, len(c.ends.Groups))}
}

// column counts the paths to one LID by verdict.
func (w *worker) column(col *column, t *trees.Tree) {
	w.judge.Tree(t)
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
		v, links := w.judge.Group(group, t)
		w.groups[g] = v
		n := int32(w.ends.Sources(g, t.End))
		if n == 0 {
			continue
		}
		col.verdicts[v] += n
		if o := w.judge.Pairs(g, t, v); t.Last {
			col.pairs[o] += int64(n)
		}
		if !v.Arrives() {
			continue
		}
		for len(col.links) <= links {
			col.links = append(col.links, 0)
		}
		col.links[links] += n
		if group.At >= 0 && least != nil && least[group.At] != routing.NoHops && links > group.Links+
			int(least[group.At])+last {
			col.longer += n
		}
	}
	w.troubles(col, t)
}

// troubles lists the first paths of each kind that fail or are too long.
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
		col.troubles = append(col.troubles, Path{Src: w.ends.Ports[end], Dst: w.ends.Ports[t.End], LID: t.LID.LID,
			Verdict: v})
	}
}
