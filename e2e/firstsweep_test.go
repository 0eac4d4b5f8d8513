// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"
)

// TestFirstSweepReadsOnce checks that a script that begins with a sweep reads the subnet once, and one with two sweeps
// twice.
func TestFirstSweepReadsOnce(t *testing.T) {
	sent := func(script string) string {
		return between(ibconsole(t, "-s", "sim:fattree:2,4", "--json", "-c", script+"show targets"), `"sent":`, ",")
	}
	for _, c := range []struct {
		script, like string
		same         bool
	}{
		{"sweep; ", "", true}, {"sweep full; ", "", true}, {"sweep; sweep; ", "", false},
		{"summary; sweep; ", "", false}, {"sweep full sl2vl; ", "summary; sweep full sl2vl; ", false},
	} {
		if a, b := sent(c.script), sent(c.like); (a == b) != c.same {
			t.Errorf("%q sends %s packets and %q %s; the same: want %t", c.script, a, c.like, b, c.same)
		}
	}
}
