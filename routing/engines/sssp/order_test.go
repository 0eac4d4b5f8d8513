// SPDX-License-Identifier: Apache-2.0

package sssp

import (
	"math/rand/v2"
	"slices"
	"testing"

	"example.org/ibconsole/fabric/gen/gentest"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/engines/heap4"
)

func graphOf(t *testing.T, spec string) *graph {
	t.Helper()
	return newGraph(gentest.WithLIDs(t, spec), &routing.Options{})
}

// TestPassAdapter compares passAdapter with inserting and removing an adapter.
func TestPassAdapter(t *testing.T) {
	for n := range 100 {
		quick := heap4.Heap{Place: make([]int32, n+1), Elements: make([]uint64, n)}
		for i := range n {
			quick.Put(i, heap4.Element(infinity, int32(i)))
		}
		slow := heap4.Heap{Place: make([]int32, n+1), Elements: slices.Clone(quick.Elements)}
		slow.Insert(int32(n), 0)
		if sw := uint32(slow.Take()); int(sw) != n {
			t.Fatalf("%d came out, want the adapter, %d", sw, n)
		}
		passAdapter(&quick)
		if !slices.Equal(quick.Elements, slow.Elements) {
			t.Fatalf("of %d: %x, want %x", n, quick.Elements, slow.Elements)
		}
	}
}

// tree is an unbalanced binary search tree.
type tree struct {
	channel     int32
	left, right *tree
}

func (n *tree) insert(c int32, key func(int32) uint32) *tree {
	switch {
	case n == nil:
		return &tree{channel: c}
	case key(c) < key(n.channel):
		n.left = n.left.insert(c, key)
	default:
		n.right = n.right.insert(c, key)
	}
	return n
}

func (n *tree) walk(list []int32) []int32 {
	if n == nil {
		return list
	}
	return n.right.walk(n.left.walk(append(list, n.channel)))
}

func TestStartsAreThoseOfASearchTree(t *testing.T) {
	g := graphOf(t, "torus:4x3x3")
	key := func(c int32) uint32 { return uint32(g.f.SwitchLID(g.from[c]))<<8 | uint32(g.port[c]) }
	for range 100 {
		l := newLayer(g)
		var root *tree
		for _, c := range rand.Perm(len(g.to))[:rand.IntN(len(g.to)+1)] {
			l.see(int32(c))
			root = root.insert(int32(c), key)
		}
		if got, want := l.starts(), root.walk(nil); !slices.Equal(got, want) {
			t.Fatalf("%d came as %d, start as %d, want %d", len(l.seen), l.seen, got, want)
		}
	}
}
