// SPDX-License-Identifier: Apache-2.0

package updn

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen/gentest"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/routing"
)

// The walker without counts of ports finds the same as the one with all counts, with any turns.
func TestWalkersAgree(t *testing.T) {
	r := testenv.Rand(t)
	for i := range 60 {
		m := randomTurns(t, r, 8+r.IntN(80), i)
		fast, full := newWalker(m), newFullWalker(m)
		for d := range fabric.SwitchIndex(m.n) {
			fast.search(d)
			fast.findPorts()
			full.search(d)
			if !bytes.Equal(fast.counts.least, full.counts.least) || !slices.Equal(fast.counts.sets, full.counts.sets) {
				t.Fatalf("fabric %d, towards %d: least counts %d or %d, of ports %x or %x",
					i, d, fast.counts.least, full.counts.least, fast.counts.sets, full.counts.sets)
			}
		}
		if fast.longest != full.longest {
			t.Fatalf("fabric %d: the highest count is %d or %d", i, fast.longest, full.longest)
		}
	}
}

// randomTurns returns a matrix on a random fabric with random turns.
func randomTurns(t *testing.T, r *rand.Rand, switches, seed int) *matrix {
	t.Helper()
	f := gentest.Fabric(t, fmt.Sprintf("random:%d,%d,20,seed=%d", switches, 3+r.IntN(4), seed))
	turns := make([]turn, len(f.Switches)*len(f.Switches))
	for i := range turns {
		turns[i] = turn(r.IntN(3))
	}
	return newMatrix(f, routing.NewGraph(f), func(from, to fabric.SwitchIndex) turn {
		return turns[int(from)*len(f.Switches)+int(to)]
	})
}
