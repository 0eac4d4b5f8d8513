// SPDX-License-Identifier: Apache-2.0

package sssp

import (
	"math/rand/v2"
	"slices"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/routing"
)

func graphOf(t *testing.T, spec string) *graph {
	t.Helper()
	f, err := gen.ParseSpec(spec)
	if err != nil {
		t.Fatal(err)
	}
	if f, err = fabric.AssignLIDs(f); err != nil {
		t.Fatal(err)
	}
	return newGraph(f, &routing.Options{})
}

func TestLeastOf4(t *testing.T) {
	for range 10000 {
		var e [branches]uint64
		want := 0
		for i := range e {
			e[i] = element(rand.Uint64N(3), fabric.SwitchIndex(rand.Int32()))
			if e[i]>>32 <= e[want]>>32 {
				want = i
			}
		}
		if got := leastOf4(&e); got != want {
			t.Fatalf("%x: %d, want %d", e, got, want)
		}
	}
}

// What is done at once for an adapter is what comes of putting it in and taking it
// out.
func TestPassAdapter(t *testing.T) {
	for n := range 100 {
		quick := heap{place: make([]int32, n+1), elements: make([]uint64, n)}
		for i := range n {
			quick.put(i, element(infinity, fabric.SwitchIndex(i)))
		}
		slow := heap{place: make([]int32, n+1), elements: append(slices.Clone(quick.elements), element(infinity, fabric.SwitchIndex(n)))}
		slow.raise(n, element(0, fabric.SwitchIndex(n)))
		if sw := uint32(slow.take()); int(sw) != n {
			t.Fatalf("%d came out, want the adapter, %d", sw, n)
		}
		quick.passAdapter()
		if !slices.Equal(quick.elements, slow.elements) {
			t.Fatalf("of %d: %x, want %x", n, quick.elements, slow.elements)
		}
	}
}

// tree is a binary search tree that is never balanced.
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
			l.add([]int32{int32(c)}, 0, 1)
			root = root.insert(int32(c), key)
		}
		if got, want := l.starts(), root.walk(nil); !slices.Equal(got, want) {
			t.Fatalf("%d came as %d, start as %d, want %d", len(l.seen), l.seen, got, want)
		}
	}
}
