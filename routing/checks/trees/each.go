// SPDX-License-Identifier: Apache-2.0

package trees

import (
	"context"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/checks/walk"
)

// lot is the minimum number of LIDs in a batch. The entries of a switch for these LIDs share cache lines.
const lot = fabric.BlockSize

// Tree holds the paths of all groups to one LID.
type Tree struct {
	*walk.Tree
	LID
	// At is the index of the LID in the list that was passed to [Ends.Each].
	At int
	// Fates holds the fate of the packets of each group. It is [walk.Unvisited] for a group whose only end is the
	// destination.
	Fates []walk.Fate
	// First and Last are set if the LID is the first or the last LID of its end in the list.
	First, Last bool
}

// Each calls the function visit for each of the LIDs with the tree of paths to the LID, on all processors. The argument
// worker, a number below routing.Workers(), identifies scratch memory. The function visit must not keep the tree or
// anything that the tree refers to. If LIDs of one end follow each other in the list, the same worker visits them in
// this order. Each stops and returns the error of ctx when ctx ends. progress, if set, is called for batches of at
// least 64 LIDs. O(LIDs x switches).
func (e *Ends) Each(ctx context.Context, lids []LID, progress func(done, total int),
	visit func(worker int, t *Tree)) error {
	workers := make([]*worker, routing.Workers())
	starts := Batches(lids)
	return routing.ForEach(ctx, len(starts)-1, progress, func(n, i int) {
		if workers[n] == nil {
			workers[n] = &worker{tree: e.newTree()}
		}
		w := workers[n]
		first := starts[i]
		some := lids[first:starts[i+1]]
		w.lids = w.lids[:0]
		for _, l := range some {
			w.lids = append(w.lids, l.LID)
		}
		for len(w.columns) < len(some) {
			w.columns = append(w.columns, make([]uint8, len(e.Tables.Fabric.Switches)))
		}
		walk.Columns(e.Tables, w.lids, w.columns)
		for j, l := range some {
			e.start(&w.tree, l, w.columns[j])
			w.tree.At = first + j
			w.tree.First = j == 0 || some[j-1].End != l.End
			w.tree.Last = j == len(some)-1 || some[j+1].End != l.End
			visit(n, &w.tree)
		}
	})
}

// Batches divides a list of LIDs into batches of at least 64 LIDs. It returns the index of the first LID of each batch,
// followed by len(lids). Successive LIDs of one end are in one batch.
func Batches(lids []LID) []int {
	starts := []int{0}
	for i := range lids {
		if i-starts[len(starts)-1] >= lot && lids[i].End != lids[i-1].End {
			starts = append(starts, i)
		}
	}
	if len(lids) > 0 {
		starts = append(starts, len(lids))
	}
	return starts
}

// worker is the scratch memory of one goroutine.
type worker struct {
	tree    Tree
	lids    []uint16
	columns [][]uint8
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

// To returns the tree of one LID. The LID must be in e.LIDs. O(switches).
func (e *Ends) To(l LID) *Tree {
	t := e.newTree()
	column := make([]uint8, len(e.Tables.Fabric.Switches))
	walk.Columns(e.Tables, []uint16{l.LID}, [][]uint8{column})
	t.First, t.Last = true, true
	e.start(&t, l, column)
	return &t
}
