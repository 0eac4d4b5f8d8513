// SPDX-License-Identifier: Apache-2.0

package lash

import (
	"slices"
	"testing"

	"example.org/ibconsole/fabric/gen/gentest"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/routing"
)

// VLs with a closure accept the same paths as VLs with an order, also after others have left.
func TestClosureAgreesWithOrder(t *testing.T) {
	r := testenv.Rand(t)
	joined, refused := 0, 0
	for _, spec := range []string{"random:12,4,12", "torus:4x4", "torus:3x3x3", "mesh:4x4"} {
		f := gentest.WithLIDs(t, spec)
		p, err := newPaths(t.Context(), newNetwork(f, &routing.Options{}))
		if err != nil {
			t.Fatal(err)
		}
		c := newChannels(p)
		closed, ordered := newLayer(c), newLayer(c)
		ordered.closure = nil
		l := &layers{channels: c}
		in := map[[2]int32]bool{}
		for range 4000 {
			s, d := r.Int32N(int32(p.n)), r.Int32N(int32(p.n))
			if s == d {
				continue
			}
			s, d = min(s, d), max(s, d)
			l.pair(s, d)
			if in[[2]int32{s, d}] {
				closed.leave(l.there, l.back)
				ordered.leave(l.there, l.back)
				delete(in, [2]int32{s, d})
				continue
			}
			a, b := closed.join(l.there, l.back), ordered.join(l.there, l.back)
			if a != b || !slices.Equal(closed.count, ordered.count) {
				t.Fatalf("%s: the pair %d-%d joins with a closure: %v, with an order: %v", spec, s, d, a, b)
			}
			if a {
				in[[2]int32{s, d}] = true
				joined++
			} else {
				refused++
			}
		}
	}
	if joined < 100 || refused < 100 {
		t.Errorf("%d pairs joined, %d were refused", joined, refused)
	}
}
