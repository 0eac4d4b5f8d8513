// SPDX-License-Identifier: Apache-2.0

package sssp

import (
	"testing"

	"example.org/ibconsole/fabric/gen/gentest"
	"example.org/ibconsole/routing"
)

// BenchmarkDeadlocks measures the assignment of VLs alone, on fabrics with as many VLs as needed.
func BenchmarkDeadlocks(b *testing.B) {
	for _, spec := range []string{"torus:8x8x8", "torus:6x5x4", "fattree:2,36", "fattree:3,16", "dragonfly:4,2,2"} {
		b.Run(spec, func(b *testing.B) {
			f := gentest.WithLIDs(b, spec)
			r, err := newRouter(f, &routing.Options{}, "dfsssp", 2)
			if err != nil {
				b.Fatal(err)
			}
			if err := r.route(b.Context()); err != nil {
				b.Fatal(err)
			}
			needed := 0
			for b.Loop() {
				d := newDeadlocks(r, false)
				d.vls, d.upTo = routing.MostDataVLs+1, routing.MostDataVLs
				if err := d.remove(b.Context()); err != nil {
					b.Fatal(err)
				}
				needed = d.needed
			}
			b.ReportMetric(float64(needed), "VLs")
		})
	}
}

// BenchmarkTables measures the tables.
func BenchmarkTables(b *testing.B) {
	for _, spec := range []string{"torus:8x8x8", "fattree:2,36", "fattree:3,24"} {
		b.Run(spec, func(b *testing.B) {
			f := gentest.WithLIDs(b, spec)
			for b.Loop() {
				if _, err := (Engine{}).Route(b.Context(), f, routing.Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
