// SPDX-License-Identifier: Apache-2.0

package choices

import (
	"context"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/adaptive"
	"example.org/ibconsole/routing/checks/reach"
	"example.org/ibconsole/routing/checks/trees/treestest"
	"example.org/ibconsole/routing/engines/updn"
)

// grouped returns a fat tree of 11,664 hosts, each LID with a group of all ports on shortest up/down paths.
func grouped(b *testing.B) *fabric.Tables {
	b.Helper()
	res, err := updn.Engine{}.Route(context.Background(), treestest.Made(b, "fattree:3,36"), routing.Options{})
	if err != nil {
		b.Fatal(err)
	}
	t, err := adaptive.Grouped(context.Background(), res.Tables, res.Hops, adaptive.Always)
	if err != nil {
		b.Fatal(err)
	}
	return t
}

func BenchmarkCheckFatTree11664(b *testing.B) {
	t := grouped(b)
	b.Run("static", func(b *testing.B) {
		for b.Loop() {
			if _, err := reach.Check(context.Background(), t, reach.Options{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("adaptive", func(b *testing.B) {
		for b.Loop() {
			r, err := Check(context.Background(), t, Options{})
			if err != nil || r.Sure != 11664*11663 {
				b.Fatal(r, err)
			}
		}
	})
}
