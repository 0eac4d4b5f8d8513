// SPDX-License-Identifier: Apache-2.0

package credits

import (
	"context"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/checks/trees/treestest"
)

func benchmark(b *testing.B, t *fabric.Tables, ring bool) {
	b.Helper()
	for b.Loop() {
		r, err := Check(context.Background(), t, Options{})
		if err != nil || (r.Ring != nil) != ring {
			b.Fatal(r, err)
		}
	}
}

func BenchmarkCheckFatTree11664(b *testing.B) {
	benchmark(b, treestest.Minhop(b, treestest.Made(b, "fattree:3,36")), false)
}

// BenchmarkCheckVLsFatTree11664 has 8 VLs and an SL for each pair.
func BenchmarkCheckVLsFatTree11664(b *testing.B) {
	t := treestest.Minhop(b, treestest.Made(b, "fattree:3,36"))
	t.SL2VL, t.SLs = routing.VLPerSL(t.Fabric, 8), spread{}
	benchmark(b, t, false)
}

func BenchmarkCheckTorus12x12x12(b *testing.B) {
	benchmark(b, treestest.Minhop(b, treestest.Made(b, "torus:12x12x12,hosts=4")), true)
}

// spread assigns different SLs to pairs.
type spread struct{}

func (spread) SL(src, dst uint16) uint8 { return uint8((src ^ dst*7) & 7) }
