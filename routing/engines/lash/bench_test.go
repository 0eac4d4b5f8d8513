// SPDX-License-Identifier: Apache-2.0

package lash

import (
	"testing"

	"example.org/ibconsole/fabric/gen/gentest"
	"example.org/ibconsole/routing"
)

// BenchmarkLayers measures lash with its mesh analysis, and without a limit of VLs.
func BenchmarkLayers(b *testing.B) {
	for _, spec := range []string{"torus:8x8x8", "torus:16x16", "mesh:8x8x8", "fattree:2,36", "fattree:3,16",
		"random:200,8,200"} {
		b.Run(spec, func(b *testing.B) {
			f := gentest.WithLIDs(b, spec)
			opt := &routing.Options{MeshAnalysis: true}
			vls := 0
			for b.Loop() {
				net := newNetwork(f, opt)
				if err := net.analyse(b.Context()); err != nil {
					b.Fatal(err)
				}
				p, err := newPaths(b.Context(), net)
				if err != nil {
					b.Fatal(err)
				}
				l, err := newLayers(b.Context(), p, func(int) {})
				if err != nil {
					b.Fatal(err)
				}
				if err := l.balance(b.Context(), opt); err != nil {
					b.Fatal(err)
				}
				vls = len(l.list)
			}
			b.ReportMetric(float64(vls), "VLs")
		})
	}
}
