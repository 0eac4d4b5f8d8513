// SPDX-License-Identifier: Apache-2.0

package ftree

import (
	"cmp"
	"math"
	"slices"

	"example.org/ibconsole/fabric"
)

const (
	// digits is the number of digits of a tuple. The first digit is the rank, followed by one digit for each rank below
	// the roots.
	digits  = 8
	noDigit = 0xff // an absent digit
	noTuple = math.MaxUint64
	// adapterTuple stands for the tuple of an adapter. It sorts adapters after switches that have a tuple.
	adapterTuple = 1 << 63
)

func firstDigit(tuple uint64) uint8 { return uint8(tuple >> (8 * (digits - 1))) }

// withDigit returns a tuple with digit i changed to d. It returns the tuple unchanged if the tuple has no digit i.
func withDigit(tuple uint64, i int, d uint8) uint64 {
	if i >= digits {
		return tuple
	}
	shift := 8 * (digits - 1 - i)
	return tuple&^(0xff<<shift) | uint64(d)<<shift
}

func hasTuple(tuple uint64) bool { return firstDigit(tuple) != noDigit }

// indexer assigns tuples to switches.
type indexer struct {
	*tree
	taken map[uint64]bool
}

// assignTuples numbers the switches and orders their groups. It searches breadth-first from the first leaf, or with
// quasi_ftree_indexing from every root.
func (t *tree) assignTuples() {
	t.tuple = make([]uint64, len(t.f.Switches))
	for s := range t.tuple {
		t.tuple[s] = noTuple
	}
	x := indexer{tree: t, taken: make(map[uint64]bool, len(t.tuple))}
	subtree := uint8(0)
	for s := range fabric.SwitchIndex(len(t.tuple)) {
		begins := t.isLeaf[s]
		if t.opt.QuasiFtreeIndexing {
			begins = t.rank[s] == 0
		}
		if !begins {
			continue
		}
		if !hasTuple(t.tuple[s]) {
			x.assignFirst(s, subtree)
			subtree++
		}
		x.spread(s)
		if !t.opt.QuasiFtreeIndexing {
			break
		}
	}
	if t.opt.QuasiFtreeIndexing {
		for s := range t.up {
			if t.isLeaf[s] {
				t.orderByTuple(t.up[s])
			}
		}
	}
	t.setPlaces()
}

func (x *indexer) assign(s fabric.SwitchIndex, tuple uint64) {
	x.tuple[s] = tuple
	x.taken[tuple] = true
}

// assignFirst assigns a tuple to the first switch of a breadth-first search.
func (x *indexer) assignFirst(s fabric.SwitchIndex, subtree uint8) {
	tuple := withDigit(noTuple, 0, uint8(x.rank[s]))
	for i := 1; i <= int(x.leafRank); i++ {
		tuple = withDigit(tuple, i, 0)
	}
	if x.rank[s] == 0 {
		if x.leafRank > 1 {
			tuple = withDigit(tuple, int(x.leafRank), subtree)
		}
		var ok bool
		if tuple, ok = x.free(tuple, 1); !ok {
			return
		}
	}
	x.assign(s, tuple)
}

// free finds the lowest digit at a place of a tuple for which no switch has the tuple. It returns the tuple with this
// digit.
func (x *indexer) free(tuple uint64, place int) (uint64, bool) {
	for d := range noDigit {
		if tuple = withDigit(tuple, place, uint8(d)); !x.taken[tuple] {
			return tuple, true
		}
	}
	return noTuple, false
}

// below returns a free tuple for a lower neighbour of the switch with a tuple. The method named above does so for an
// upper neighbour. At the ends, numbers overflow as in OpenSM.
func (x *indexer) below(from uint64) uint64 {
	tuple, _ := x.free(withDigit(from, 0, firstDigit(from)+1), int(firstDigit(from)+1))
	return tuple
}

func (x *indexer) above(from uint64) uint64 {
	tuple, _ := x.free(withDigit(from, 0, firstDigit(from)-1), int(firstDigit(from)))
	return tuple
}

// spread numbers all switches that it finds by going down and up from a switch (argument first), and orders the groups
// of each switch by tuple. If this switch is a root, spread does not go up from leaves.
func (x *indexer) spread(first fabric.SwitchIndex) {
	queue := []fabric.SwitchIndex{first}
	meet := func(list []group, next func(uint64) uint64, from fabric.SwitchIndex) {
		for i := range list {
			r := list[i].remote
			if r == fabric.None || hasTuple(x.tuple[r]) {
				continue
			}
			x.assign(r, next(x.tuple[from]))
			queue = append(queue, r)
		}
		x.orderByTuple(list)
	}
	for k := 0; k < len(queue); k++ {
		s := queue[k]
		if x.rank[s] < uint32(x.leafRank) {
			meet(x.down[s], x.below, s)
		}
		if x.rank[s] != 0 && (x.rank[first] != 0 || !x.isLeaf[s]) {
			meet(x.up[s], x.above, s)
		}
	}
}

// tupleOf returns the tuple of the neighbour to which a group leads.
func (t *tree) tupleOf(g *group) uint64 {
	if g.remote == fabric.None {
		return adapterTuple
	}
	return t.tuple[g.remote]
}

// addressOf returns a number that orders the neighbours of groups with the same tuple.
func (t *tree) addressOf(g *group) uint32 {
	if g.remote == fabric.None {
		return t.adapters[g.first].address
	}
	return 0
}

func (t *tree) orderByTuple(list []group) {
	slices.SortStableFunc(list, func(a, b group) int {
		return cmp.Or(cmp.Compare(t.tupleOf(&a), t.tupleOf(&b)), cmp.Compare(t.addressOf(&a), t.addressOf(&b)))
	})
}

// setPlaces sets the key of each group to the place of its neighbour among all neighbours, sorted by tuple and address.
func (t *tree) setPlaces() {
	all := append(slices.Clone(t.tuple), adapterTuple)
	slices.Sort(all)
	all = slices.Compact(all)
	place := make(map[uint64]uint64, len(all))
	next := uint64(0)
	for _, tuple := range all {
		place[tuple] = next
		next++
		if tuple == adapterTuple {
			next += uint64(t.addresses)
		}
	}
	for _, lists := range [][][]group{t.down, t.side, t.up} {
		for _, list := range lists {
			for i := range list {
				list[i].key = place[t.tupleOf(&list[i])] + uint64(t.addressOf(&list[i]))
			}
		}
	}
}

// setAddresses sets the address of each adapter to the place of its port GUID in a list. Adapters that are not in the
// list share the lowest address.
func (t *tree) setAddresses(guids []uint64) {
	if len(guids) == 0 {
		return
	}
	t.addresses = uint32(len(guids))
	at := make(map[uint64]uint32, len(guids))
	for i, g := range guids {
		at[g] = uint32(i) + 1
	}
	for i := range t.adapters {
		t.adapters[i].address = at[t.f.Ports[t.adapters[i].end].GUID]
	}
}
