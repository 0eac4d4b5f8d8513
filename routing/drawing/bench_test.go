// SPDX-License-Identifier: Apache-2.0

package drawing

import (
	"testing"

	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/routing/classify"
)

// BenchmarkOf computes the layout of 2,502 switches with 45,504 hosts, folded and not.
func BenchmarkOf(b *testing.B) {
	f, err := gen.ParseSpec("xgft:3,24,24,79,1,6,22")
	if err != nil {
		b.Fatal(err)
	}
	s := classify.Recognise(f, nil)
	for name, all := range map[string]bool{"folded": false, "unfolded": true} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				Of(s, Options{All: all})
			}
		})
	}
}
