// SPDX-License-Identifier: Apache-2.0

package minhop

import (
	"context"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/routing"
)

func BenchmarkRoute(b *testing.B) {
	for _, spec := range []string{"fattree:2,36", "fattree:3,36", "torus:12x12x12"} {
		b.Run(spec, func(b *testing.B) {
			f, err := gen.ParseSpec(spec)
			if err != nil {
				b.Fatal(err)
			}
			if f, err = fabric.AssignLIDs(f); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := (Engine{}).Route(context.Background(), f, routing.Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
