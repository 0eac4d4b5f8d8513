// SPDX-License-Identifier: Apache-2.0

package choices

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/checks/trees"
)

// Failover classifies paths at the moment when links fail and the switches still have their old tables. The groups of
// the switches repair some paths at once. The other paths wait for the subnet manager. Paths is the sum of the other
// counts.
type Failover struct {
	Paths int64
	// Untouched counts paths with the same choices as before. Over counts paths with fewer or other choices, all of
	// which arrive.
	Untouched int64
	Over      int64
	// Luck counts paths that now lose packets with some choices. Stuck counts paths that now lose packets with all
	// choices.
	Luck  int64
	Stuck int64
	// Unreachable counts paths from or to an end port that has lost all links to the subnet manager. Bad counts paths
	// that did not arrive for sure before the failure.
	Unreachable int64
	Bad         int64
	// Examples lists the first pairs that Luck and Stuck count, by LID and source.
	Examples []Pair
}

// ErrOtherNodes means that tables are for fabrics with different nodes or LIDs.
var ErrOtherNodes = errors.New("the nodes or their LIDs differ")

// FailOver compares the paths of packets before and after some links fail, with the same tables. The argument after
// holds the tables on the remaining fabric. It returns [ErrOtherNodes] if the nodes or LIDs of the two fabrics differ.
// It takes three times as long as [Check].
func FailOver(ctx context.Context, before, after *fabric.Tables, opt Options) (*Failover, error) {
	if !fabric.SameNodes(before.Fabric, after.Fabric) || !fabric.KeepsLIDs(before.Fabric, after.Fabric) {
		return nil, ErrOtherNodes
	}
	if opt.Examples == 0 {
		opt.Examples = defaultExamples
	}
	c := newChecker(before, opt)
	left := NewNet(after)
	columns := make([]Failover, len(c.ends.LIDs))
	_, err := each(ctx, c, func() *transition { return newTransition(c, left) }, func(w *transition, places []int32) {
		w.after.begin(places)
		i := 0
		w.before.lot(places, func(at int32) {
			w.after.turn(i)
			clear(w.looked)
			w.count(&columns[at], c.ends.LIDs[at])
			i++
		})
	})
	if err != nil {
		return nil, fmt.Errorf("follow all choices of %s: %w", before.Origin, err)
	}
	r := &Failover{}
	for i := range columns {
		r.add(&columns[i], opt.Examples)
	}
	_, lost := c.ends.Lost()
	r.Paths, r.Bad = r.Paths+lost, r.Bad+lost
	return r, nil
}

func (r *Failover) add(o *Failover, examples int) {
	r.Paths += o.Paths
	r.Untouched += o.Untouched
	r.Over += o.Over
	r.Luck += o.Luck
	r.Stuck += o.Stuck
	r.Unreachable += o.Unreachable
	r.Bad += o.Bad
	r.Examples = append(r.Examples, o.Examples[:min(len(o.Examples), examples-len(r.Examples))]...)
}

// transition compares the paths to each LID before and after the failure. Both states use the same ends.
type transition struct {
	*checker
	before, after *columns
	// touched marks, for each class of SLs and each place, whether packets from there can use other paths than before.
	// looked marks the classes for which touched is filled in.
	touched [][]bool
	looked  []bool
}

func newTransition(c *checker, left *Net) *transition {
	w := &transition{checker: c, before: newColumns(c.net, c.ends), after: newColumns(left, c.ends)}
	w.after.enter = c.net // some ends no longer have a link
	w.touched, w.looked = make([][]bool, len(c.net.classes)), make([]bool, len(c.net.classes))
	for i := range w.touched {
		w.touched[i] = make([]bool, len(c.net.Tables.Fabric.Switches)*c.net.tables)
	}
	return w
}

func (w *transition) count(r *Failover, l trees.LID) {
	f := w.after.net.Tables.Fabric
	there := func(end int32) bool {
		p := w.ends.Ports[end]
		return f.PortByLID(f.Ports[p].LID) == p
	}
	home := there(l.End)
	w.before.each(l, func(s *source, was *Outcome) {
		var now Outcome
		known := false
		for _, end := range s.ends {
			if end == l.End {
				continue
			}
			r.Paths++
			switch {
			case was.Endings.Reach() != Sure:
				r.Bad++
				continue
			case !home || !there(end):
				r.Unreachable++
				continue
			}
			if !known {
				now, known = w.after.outcome(l, s), true
			}
			r.become(&now, s.group.At >= 0 && w.touches(s))
			if now.Endings.Reach() != Sure && len(r.Examples) < w.opt.Examples {
				r.Examples = append(r.Examples, Pair{Src: w.ends.Ports[end], Dst: w.ends.Ports[l.End], LID: l.LID,
					Outcome: now})
			}
		}
	})
}

// touches reports whether the packets of a source can now use other paths. Before the failure they must have arrived
// for sure.
func (w *transition) touches(s *source) bool {
	g, touched := w.before.graphs[s.class], w.touched[s.class]
	if !w.looked[s.class] {
		w.looked[s.class] = true
		var own [1]Exit
		for _, at := range g.order {
			sw, table := g.net.Switch(at)
			out, _ := w.after.net.leaves(sw, table, w.after.at, g.sl, &own)
			touched[at] = !slices.Equal(out, g.out[at])
			for i := 0; i < len(out) && !touched[at]; i++ {
				touched[at] = out[i].To >= 0 && touched[g.net.place(out[i], g.sl)]
			}
		}
	}
	return touched[s.at]
}

func (r *Failover) become(now *Outcome, touched bool) {
	switch now.Endings.Reach() {
	case Sure:
		if touched {
			r.Over++
		} else {
			r.Untouched++
		}
	case Never:
		r.Stuck++
	default:
		r.Luck++
	}
}
