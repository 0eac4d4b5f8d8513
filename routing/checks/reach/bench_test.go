// SPDX-License-Identifier: Apache-2.0

package reach

import (
	"context"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/engines/minhop"
)

func BenchmarkCheckFatTree11664(b *testing.B) {
	t := routed(b, "fattree:3,36")
	for b.Loop() {
		r, err := Check(context.Background(), t, Options{})
		if err != nil || r.Delivered != 11664*11663 || r.NotMinimal != 0 {
			b.Fatal(r, err)
		}
	}
}

func routed(t testing.TB, spec string) *fabric.Tables {
	t.Helper()
	f, err := gen.ParseSpec(spec)
	if err != nil {
		t.Fatal(err)
	}
	if f, err = fabric.AssignLIDs(f); err != nil {
		t.Fatal(err)
	}
	r, err := minhop.Engine{}.Route(context.Background(), f, routing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r.Tables
}
