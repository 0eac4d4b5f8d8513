// SPDX-License-Identifier: Apache-2.0

package transition_test

import (
	"testing"

	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/changes/transition"
	"example.org/ibconsole/routing/checks/trees/treestest"
)

// BenchmarkMake plans a change of all routes of 1,620 switches, which a closed form decides.
func BenchmarkMake(b *testing.B) {
	f := treestest.Made(b, "fattree:3,36")
	p := &pair{before: route(b, f, "minhop", routing.Options{}), after: route(b, f, "ftree", routing.Options{})}
	for b.Loop() {
		plan, err := transition.Make(b.Context(), p.before, p.after, transition.Options{})
		if err != nil || plan.Order != transition.Found {
			b.Fatal(plan, err)
		}
		b.ReportMetric(float64(plan.Method), "method")
	}
}
