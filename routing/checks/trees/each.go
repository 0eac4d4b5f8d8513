// SPDX-License-Identifier: Apache-2.0

package trees

import (
	"context"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/checks/walk"
)

// lot is how many LIDs one piece of work has: as many as share the cache lines of a table.
const lot = fabric.BlockSize

// Tree are the paths of all groups to one LID.
type Tree struct {
	*walk.Tree
	LID
	// At is the place of the LID in the list that [Ends.Each] was given.
	At int
	// Fates are where the packets of each group end. They are [walk.Unvisited] for a
	// group that has no source but the destination itself.
	Fates []walk.Fate
}

// Each calls visit for each of the LIDs with the tree of their paths, spread over all processors. The worker
// number, below routing.Workers(), names scratch memory. Neither tree nor what it refers to may be kept. It
// stops early with ctx's error. progress, where set, is told of lots of 64 LIDs. O(LIDs x switches).
func (e *Ends) Each(ctx context.Context, lids []LID, progress func(done, total int), visit func(worker int, t *Tree)) error {
	workers := make([]*worker, routing.Workers())
	return routing.ForEach(ctx, (len(lids)+lot-1)/lot, progress, func(n, i int) {
		if workers[n] == nil {
			workers[n] = e.newWorker()
		}
		w := workers[n]
		first := i * lot
		some := lids[first:min(first+lot, len(lids))]
		w.lids = w.lids[:0]
		for _, l := range some {
			w.lids = append(w.lids, l.LID)
		}
		walk.Columns(e.Tables, w.lids, w.columns)
		for j, l := range some {
			e.start(&w.tree, l, w.columns[j])
			w.tree.At = first + j
			visit(n, &w.tree)
		}
	})
}

// worker is the scratch memory of one goroutine.
type worker struct {
	tree    Tree
	lids    []uint16
	columns [][]uint8
}

func (e *Ends) newWorker() *worker {
	w := &worker{tree: e.newTree(), columns: make([][]uint8, lot)}
	for i := range w.columns {
		w.columns[i] = make([]uint8, len(e.Tables.Fabric.Switches))
	}
	return w
}

func (e *Ends) newTree() Tree {
	return Tree{Tree: walk.NewTree(e.wires), Fates: make([]walk.Fate, len(e.Groups))}
}

func (e *Ends) start(t *Tree, l LID, column []uint8) {
	t.LID = l
	t.Start(walk.ToPort(e.Ports[l.End]), column)
	for g := range e.Groups {
		t.Fates[g] = walk.Unvisited
		if e.Sources(g, l.End) > 0 {
			t.Fates[g] = t.Fate(e.Groups[g].At)
		}
	}
}

// To is the tree of one LID, which some end must own. O(switches).
func (e *Ends) To(l LID) *Tree {
	t := e.newTree()
	column := make([]uint8, len(e.Tables.Fabric.Switches))
	walk.Columns(e.Tables, []uint16{l.LID}, [][]uint8{column})
	e.start(&t, l, column)
	return &t
}
