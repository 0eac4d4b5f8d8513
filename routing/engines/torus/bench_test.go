// SPDX-License-Identifier: Apache-2.0

package torus_test

import (
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/engines/torus"
)

// BenchmarkLargest routes a torus with nearly as many LIDs as there are, with a
// configuration and recognising it.
func BenchmarkLargest(b *testing.B) {
	f, err := gen.ParseSpec("torus:14x14x15,hosts=15")
	if err != nil {
		b.Fatal(err)
	}
	if f, err = fabric.AssignLIDs(f); err != nil {
		b.Fatal(err)
	}
	conf, err := torus.Recognise(b.Context(), f)
	if err != nil {
		b.Fatal(err)
	}
	for name, e := range map[string]torus.Engine{"configured": {Conf: conf}, "recognised": {}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := e.Route(b.Context(), f, routing.Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
