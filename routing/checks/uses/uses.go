// SPDX-License-Identifier: Apache-2.0

// Package uses finds the paths that use a link or a switch. These paths are affected if the link or switch fails.
//
// Only paths that arrive count. They are the paths of all ordered pairs of distinct end ports, one path for each LID of
// the destination. A link counts in both directions.
package uses

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/checks/trees"
	"example.org/ibconsole/routing/checks/walk"
)

// Target is a set of links and switches, given by index. A path uses the target if it uses at least one of these links
// or switches.
type Target struct {
	Links    []fabric.Link
	Switches []fabric.SwitchIndex
}

// Options controls a search.
type Options struct {
	// Switches includes port 0 of each switch in the end ports.
	Switches bool
	// Examples is the maximum number of paths to list (default 20).
	Examples int
	// Progress, if set, is called from time to time with the number of destinations done, in batches of 64, and their
	// total. It may be called from several goroutines.
	Progress func(done, total int)
}

const defaultExamples = 20

// Result lists the users of a target.
type Result struct {
	// Paths counts the paths that use the target. All counts all paths that arrive. Unknown counts the paths that use
	// an unread table; they may use the target as well.
	Paths, All, Unknown int64
	// Sources and Destinations list the end ports of the paths that use the target. End ports with most paths come
	// first, then the order is by LID. Aggregation nodes come after all other end ports.
	Sources, Destinations []Use
	// Examples lists the first paths that use the target, by LID of the destination and then of the source.
	Examples []Path
	// Unreachable lists, by LID, the end ports that leave the subnet if the whole target fails. No routing can reach
	// them. If the subnet is split, the part with the SM's port remains the subnet. If that part has no switch, the
	// largest part remains.
	Unreachable []fabric.PortIndex
}

// Use is an end port, with the number of paths from it or to it that use the target.
type Use struct {
	Port  fabric.PortIndex
	Paths int64
}

// Path is a path to a LID of Dst.
type Path struct {
	Src, Dst fabric.PortIndex
	LID      uint16
}

// Find returns the users of a target. It returns the error of ctx if ctx ends first. O(LIDs x switches) on all
// processors.
func Find(ctx context.Context, t *fabric.Tables, what Target, opt Options) (*Result, error) {
	if opt.Examples == 0 {
		opt.Examples = defaultExamples
	}
	q := newQuestion(t, what, opt)
	workers := make([]*worker, routing.Workers())
	err := q.ends.Each(ctx, q.ends.LIDs, opt.Progress, func(n int, tree *trees.Tree) {
		if workers[n] == nil {
			workers[n] = newWorker(q)
		}
		workers[n].tree(tree)
	})
	if err != nil {
		return nil, fmt.Errorf("find the users in %s: %w", t.Origin, err)
	}
	return q.result(workers, what), nil
}

type question struct {
	opt  Options
	f    *fabric.Fabric
	ends *trees.Ends
	// ports and switches mark the target.
	ports, switches []bool
	// direct lists ends whose own link belongs to the target.
	direct []int32
	// to counts the paths to each LID that use the target, by index of the LID. examples lists some of these paths.
	to       []int32
	examples [][]Path
}

func newQuestion(t *fabric.Tables, what Target, opt Options) *question {
	q := &question{opt: opt, f: t.Fabric, ends: trees.NewEnds(t, opt.Switches)}
	q.ports, q.switches = make([]bool, len(q.f.Ports)), make([]bool, len(q.f.Switches))
	for _, l := range what.Links {
		q.ports[l.A], q.ports[l.B] = true, true
	}
	for _, s := range what.Switches {
		q.switches[s] = true
	}
	for end, p := range q.ends.Ports {
		if q.ports[p] {
			q.direct = append(q.direct, int32(end))
		}
	}
	q.to = make([]int32, len(q.ends.LIDs))
	q.examples = make([][]Path, len(q.ends.LIDs))
	return q
}

// worker is the scratch memory of one goroutine.
type worker struct {
	*question
	// uses marks the switches whose packets to the current LID use the target. users marks the groups whose packets do.
	uses  []bool
	users []bool
	// sent counts, for each group, the LIDs to which its ends send through the target. own counts, for each end, its
	// own LIDs among these LIDs; an end does not send to itself. alone counts, for each end, the LIDs to which it uses
	// the target only by its own link.
	sent       []int64
	own, alone []int64
	// all and unknown are this worker's parts of [Result.All] and [Result.Unknown].
	all, unknown int64
}

func newWorker(q *question) *worker {
	return &worker{
		question: q, uses: make([]bool, len(q.f.Switches)), users: make([]bool, len(q.ends.Groups)),
		sent: make([]int64, len(q.ends.Groups)), own: make([]int64, len(q.ends.Ports)),
		alone: make([]int64, len(q.ends.Ports)),
	}
}

func (w *worker) tree(t *trees.Tree) {
	for _, sw := range t.Order {
		next := t.Next(sw)
		entry := fabric.PortIndex(t.Entry(sw))
		w.uses[sw] = t.Tree.Fates[sw] == walk.Reaches &&
			(w.switches[sw] || entry != 0 && w.ports[w.f.SwitchNode(sw).FirstPort+entry] || next >= 0 && w.uses[next])
	}
	count := int32(0)
	for g := range w.ends.Groups {
		n := int32(w.ends.Sources(g, t.End))
		w.users[g] = false
		if t.Fates[g] == walk.UnreadTable {
			w.unknown += int64(n)
		}
		if n == 0 || t.Fates[g] != walk.Reaches {
			continue
		}
		w.all += int64(n)
		at := w.ends.Groups[g].At
		if at < 0 || !w.uses[at] {
			continue
		}
		w.users[g] = true
		w.sent[g]++
		count += n
		if w.ends.GroupOf[t.End] == int32(g) {
			w.own[t.End]++
		}
	}
	for _, end := range w.direct {
		if g := w.ends.GroupOf[end]; end != t.End && !w.users[g] && t.Fates[g] == walk.Reaches {
			w.alone[end]++
			count++
		}
	}
	w.to[t.At] = count
	w.list(t, min(int(count), w.opt.Examples))
}

// list lists the first paths to a LID.
func (w *worker) list(t *trees.Tree, free int) {
	for end := int32(0); free > 0; end++ {
		g := w.ends.GroupOf[end]
		alone := t.Fates[g] == walk.Reaches && w.ports[w.ends.Ports[end]]
		if end != t.End && (w.users[g] || alone) {
			w.examples[t.At] = append(w.examples[t.At], Path{w.ends.Ports[end], w.ends.Ports[t.End], t.LID.LID})
			free--
		}
	}
}

func (q *question) result(workers []*worker, what Target) *Result {
	r := &Result{Unreachable: q.unreachable(what)}
	from, to := make([]int64, len(q.ends.Ports)), make([]int64, len(q.ends.Ports))
	for _, w := range workers {
		if w == nil {
			continue
		}
		r.All += w.all
		r.Unknown += w.unknown
		for end := range from {
			from[end] += w.sent[q.ends.GroupOf[end]] - w.own[end] + w.alone[end]
		}
	}
	for i, n := range q.to {
		r.Paths += int64(n)
		to[q.ends.LIDs[i].End] += int64(n)
		if free := q.opt.Examples - len(r.Examples); free > 0 {
			r.Examples = append(r.Examples, q.examples[i][:min(free, len(q.examples[i]))]...)
		}
	}
	r.Sources, r.Destinations = q.users(from), q.users(to)
	return r
}

func (q *question) users(counts []int64) []Use {
	var list []Use
	for end, n := range counts {
		if n > 0 {
			list = append(list, Use{q.ends.Ports[end], n})
		}
	}
	last := func(u Use) int { return prose.When(q.f.IsAggregation(q.f.Ports[u.Port].Node), 1, 0) }
	slices.SortStableFunc(list, func(a, b Use) int {
		return cmp.Or(cmp.Compare(last(a), last(b)), cmp.Compare(b.Paths, a.Paths))
	})
	return list
}

// unreachable returns the ends that leave the subnet if the whole target fails.
func (q *question) unreachable(what Target) []fabric.PortIndex {
	dead := slices.Clone(what.Links)
	for _, s := range what.Switches {
		n := q.f.SwitchNode(s)
		for p := range n.Ports() {
			if l, ok := q.f.LinkOf(p); ok {
				dead = append(dead, l)
			}
		}
	}
	left := q.f.Without(dead)
	stays := map[fabric.PortIndex]bool{}
	for _, p := range left.EndPorts {
		stays[p] = true
	}
	var out []fabric.PortIndex
	for _, p := range slices.Concat(q.ends.Unassigned, q.ends.Ports) {
		if !stays[p] {
			out = append(out, p)
		}
	}
	return out
}
